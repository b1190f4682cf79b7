"""The steps of tests/compat/client.py, with confluent-kafka (librdkafka)."""

from __future__ import annotations

import base64
import json
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

EARLIEST, LATEST = -2, -1


def raw(value):
    return None if value is None else base64.b64decode(value)


def told(value):
    return None if value is None else base64.b64encode(value).decode()


def say(**words):
    print(json.dumps(words), flush=True)


def input_s_end():
    """Set when nobody wants us any more."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    return ended


class Steps:
    def __init__(self, bootstrap):
        self.common = {"bootstrap.servers": bootstrap, "topic.metadata.refresh.interval.ms": 1000}
        self.admin = AdminClient(self.common)
        self.producers = {}

    def produce(self, topic, records, codec="none", idempotent=False, largest=1_000_000):
        producer = Producer(
            {
                **self.common,
                "compression.codec": codec,
                "enable.idempotence": idempotent,
                "message.max.bytes": largest,
                "acks": "all",
                "linger.ms": 20,
            }
        )
        offsets = [None] * len(records)
        failures = []

        def delivered(number):
            def note(error, message):
                if error is not None:
                    failures.append(error)
                else:
                    offsets[number] = message.offset()

            return note

        for number, record in enumerate(records):
            producer.produce(
                topic,
                key=raw(record["key"]),
                value=raw(record["value"]),
                partition=record["partition"],
                timestamp=record["timestamp"],
                headers=[(name, raw(value)) for name, value in record["headers"]],
                on_delivery=delivered(number),
            )
            producer.poll(0)
        assert producer.flush(60) == 0
        if failures:
            raise KafkaException(failures[0])
        return offsets

    def begin(self, producer, name, timeout=60_000):
        self.producers[producer] = Producer(
            {**self.common, "transactional.id": name, "transaction.timeout.ms": timeout}
        )
        self.producers[producer].init_transactions(60)

    def transact(self, producer, topic, records, end):
        one = self.producers[producer]
        offsets = [None] * len(records)
        one.begin_transaction()
        for number, record in enumerate(records):

            def delivered(error, message, number=number):
                offsets[number] = None if error else message.offset()

            one.produce(
                topic, raw(record["value"]), raw(record["key"]), record["partition"], delivered
            )
        one.flush(30)
        self.end(producer, end)
        return offsets

    def end(self, producer, end):
        if end == "commit":
            self.producers[producer].commit_transaction(60)
        elif end == "abort":
            self.producers[producer].abort_transaction(60)

    def consume(self, topic, partition, offset, count, committed=False):
        consumer = Consumer(
            {
                **self.common,
                "group.id": "not-used",
                "enable.auto.commit": False,
                "check.crcs": True,
                "fetch.message.max.bytes": 1 << 20,
                "isolation.level": "read_committed" if committed else "read_uncommitted",
            }
        )
        consumer.assign([TopicPartition(topic, partition, offset)])
        found = []
        deadline = time.monotonic() + 60
        while len(found) < count and time.monotonic() < deadline:
            for message in consumer.consume(count - len(found), 0.5):
                if message.error():
                    raise KafkaException(message.error())
                found.append(
                    {
                        "offset": message.offset(),
                        "timestamp": message.timestamp()[1],
                        "key": told(message.key()),
                        "value": told(message.value()),
                        "headers": [[n, told(v)] for n, v in message.headers() or []],
                    }
                )
        consumer.close()
        return found

    def committed(self, topic, group, partitions):
        consumer = Consumer({**self.common, "group.id": group})
        wanted = [TopicPartition(topic, one) for one in range(partitions)]
        found = [max(one.offset, -1) for one in consumer.committed(wanted, timeout=30)]
        consumer.close()
        return found

    def member(self, topic, group, protocol="classic", instance=None, pattern=None):
        settings = {
            **self.common,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "group.protocol": protocol,
        }
        if protocol == "classic":  # in the new one the broker says how long
            settings |= {"session.timeout.ms": 6000, "heartbeat.interval.ms": 500}
        if instance:
            settings["group.instance.id"] = instance
        consumer = Consumer(settings)
        consumer.subscribe(["^" + pattern if pattern else topic])
        ended, known = input_s_end(), None
        while not ended.is_set():
            messages = [one for one in consumer.consume(100, 0.1) if one.error() is None]
            assigned = sorted(one.partition for one in consumer.assignment())
            if assigned != known:
                known = assigned
                say(assigned=assigned)
            for message in messages:
                say(read=[message.partition(), message.offset()])
            if messages:
                try:
                    consumer.commit(asynchronous=False)
                except KafkaException:
                    continue  # the group has moved on; who reads this next reads it again
        consumer.close()

    def topics(self):
        return sorted(self.admin.list_topics(timeout=10).topics)

    def partitions(self, topic):
        return len(self.admin.list_topics(topic, timeout=10).topics[topic].partitions)

    def cluster(self):
        found = self.admin.describe_cluster().result(10)
        return {"id": found.cluster_id, "nodes": sorted(node.id for node in found.nodes)}

    def create_topic(self, topic, partitions, configs):
        new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=configs)
        self.admin.create_topics([new])[topic].result(30)

    def delete_topic(self, topic):
        self.admin.delete_topics([topic], operation_timeout=30)[topic].result(30)

    def add_partitions(self, topic, count):
        self.admin.create_partitions([NewPartitions(topic, count)])[topic].result(30)

    def config(self, topic, name):
        wanted = ConfigResource(ConfigResource.Type.TOPIC, topic)
        return self.admin.describe_configs([wanted])[wanted].result(30)[name].value

    def set_config(self, topic, name, value):
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        wanted = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        self.admin.incremental_alter_configs([wanted])[wanted].result(30)

    def offset(self, topic, partition, at):
        where = TopicPartition(topic, partition)
        spec = {"earliest": OffsetSpec.earliest, "latest": OffsetSpec.latest}.get(at)
        wanted = spec() if spec else OffsetSpec.for_timestamp(at)
        return self.admin.list_offsets({where: wanted})[where].result(30).offset

    def delete_records(self, topic, partition, offset):
        where = TopicPartition(topic, partition, offset)
        return self.admin.delete_records([where])[where].result(30).low_watermark


def main():
    asked = json.loads(sys.stdin.readline())
    steps = Steps(asked["bootstrap"])
    results = []
    for step in asked["steps"]:
        try:
            results.append({"ok": getattr(steps, step.pop("do"))(**step)})
        except KafkaException as failure:
            error = failure.args[0]
            results.append({"error": error.code(), "words": str(error)})
            break
    print(json.dumps(results))


main()
