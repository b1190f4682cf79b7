"""Copies records from one topic to another exactly once, with confluent-kafka (librdkafka).

  copier.py copy BOOTSTRAP SOURCE TARGET GROUP TRANSACTIONAL_ID   until its input ends; says {"copied": n} as it goes
  copier.py read BOOTSTRAP TOPIC ISOLATION                        says [[key, value], ...] of all there is

Every seventh transaction is aborted on purpose; its records have the key "aborted", those of all others "kept".
"""

import json
import os
import sys
import threading

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

FEW = 20
SHORT_SECONDS, LONG_SECONDS = 3, 30


def say(words):
    print(json.dumps(words), flush=True)


def input_s_end():
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    return ended


left_behind = []
"""Producers that are in a call still."""


class Fenced(Exception):  # noqa: N818 -- a state, not a mistake
    """The producer is of no use any more."""


class Copier:
    def __init__(self, bootstrap, source, target, group, transactional_id):
        self.bootstrap, self.target = bootstrap, target
        self.transactional_id = transactional_id
        self.consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "session.timeout.ms": 10_000,
                "heartbeat.interval.ms": 500,
                "reconnect.backoff.max.ms": 500,
            }
        )
        self.consumer.subscribe([source])
        self.producer = self.made()
        self.transactions = self.copied = 0

    def made(self):
        producer = Producer(
            {
                "bootstrap.servers": self.bootstrap,
                "transactional.id": self.transactional_id,
                "transaction.timeout.ms": 60_000,
                "reconnect.backoff.max.ms": 500,
                "linger.ms": 0,
            }
        )
        self.insist(lambda: producer.init_transactions(LONG_SECONDS))
        return producer

    def insist(self, call):
        """Again and again while the answer is that it may be tried again."""
        while True:
            try:
                return call()
            except KafkaException as failure:
                error = failure.args[0]
                if error.fatal():
                    raise Fenced(str(error)) from failure
                if not error.retriable():
                    raise
                say({"again": str(error)})

    def transact(self, messages):
        self.transactions += 1
        kept = self.transactions % 7 != 0
        self.producer.begin_transaction()
        for message in messages:
            self.producer.produce(self.target, message.value(), b"kept" if kept else b"aborted")
        places = self.consumer.position(self.consumer.assignment())
        group = self.consumer.consumer_group_metadata()
        reached = [place for place in places if place.offset >= 0]
        self.send(reached, group)
        if not kept:
            self.producer.flush(SHORT_SECONDS)
            self.give_up()
            return
        self.insist(lambda: self.producer.commit_transaction(LONG_SECONDS))
        self.copied += len(messages)
        say({"copied": self.copied})

    def send(self, reached, group):
        """librdkafka 2.16.1 may stay in this call for ever after its coordinators were away, against Apache Kafka as
        well: then it is left there, and another producer goes on.
        """
        failures = []

        def call(producer=self.producer):
            try:
                producer.send_offsets_to_transaction(reached, group, SHORT_SECONDS)
            except KafkaException as failure:
                failures.append(failure)

        caller = threading.Thread(target=call, daemon=True)
        caller.start()
        caller.join(2 * SHORT_SECONDS)
        if caller.is_alive():
            left_behind.append(self.producer)
            raise Fenced("it does not come back")
        if failures:
            if failures[0].args[0].retriable():
                raise Fenced(str(failures[0]))
            raise failures[0]

    def give_up(self):
        self.insist(lambda: self.producer.abort_transaction(LONG_SECONDS))
        self.go_back()

    def go_back(self):
        """To what is committed."""
        while True:
            try:
                places = self.consumer.committed(self.consumer.assignment(), SHORT_SECONDS)
                for place in places:
                    place.offset = max(place.offset, 0)
                    self.consumer.seek(place)
            except KafkaException as failure:
                say({"again": str(failure)})
                self.consumer.poll(0.1)
            else:
                return

    def once(self):
        messages = [one for one in self.consumer.consume(FEW, 0.2) if one.error() is None]
        if not messages:
            return
        try:
            self.transact(messages)
        except KafkaException as failure:
            say({"failed": str(failure)})
            try:
                self.give_up()
            except Fenced:
                self.start_anew()
        except Fenced as failure:
            say({"fenced": str(failure)})
            self.start_anew()

    def start_anew(self):
        self.producer = self.made()
        self.go_back()


def copy(*words):
    ended = input_s_end()
    copier = Copier(*words)
    while not ended.is_set():
        copier.once()
    copier.consumer.close()
    if left_behind:
        os._exit(0)


def read(bootstrap, topic, isolation):
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "enable.partition.eof": True,
        }
    )
    partitions = consumer.list_topics(topic, LONG_SECONDS).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
    found, ended = [], set()
    while len(ended) < len(partitions):
        message = consumer.poll(LONG_SECONDS)
        assert message is not None, "a partition does not end"
        if message.error() is None:
            found.append([(message.key() or b"").decode(), message.value().decode()])
        else:
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            ended.add(message.partition())
    consumer.close()
    say(found)


{"copy": copy, "read": read}[sys.argv[1]](*sys.argv[2:])
