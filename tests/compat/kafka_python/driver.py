"""The steps of tests/compat/client.py, with kafka-python."""

from __future__ import annotations

import base64
import json
import sys
import threading
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import (
    AlterConfigOp,
    ConfigResource,
    ConfigResourceType,
    NewPartitions,
    NewTopic,
)
from kafka.errors import CommitFailedError, KafkaError


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
        self.bootstrap = bootstrap
        self._admin = None

    @property
    def admin(self):
        if self._admin is None:
            self._admin = KafkaAdminClient(bootstrap_servers=self.bootstrap)
        return self._admin

    def produce(self, topic, records, codec="none", idempotent=False, largest=1_000_000):
        producer = KafkaProducer(
            bootstrap_servers=self.bootstrap,
            compression_type=None if codec == "none" else codec,
            enable_idempotence=idempotent,
            max_request_size=largest,
            acks="all",
            linger_ms=20,
            retries=3,
        )
        sent = [
            producer.send(
                topic,
                key=raw(record["key"]),
                value=raw(record["value"]),
                partition=record["partition"],
                timestamp_ms=record["timestamp"],
                headers=[(name, raw(value)) for name, value in record["headers"]],
            )
            for record in records
        ]
        producer.flush(60)
        offsets = [future.get(60).offset for future in sent]
        producer.close()
        return offsets

    def consume(self, topic, partition, offset, count):
        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap,
            group_id=None,
            enable_auto_commit=False,
            check_crcs=True,
        )
        where = TopicPartition(topic, partition)
        consumer.assign([where])
        consumer.seek(where, offset)
        found = []
        deadline = time.monotonic() + 60
        while len(found) < count and time.monotonic() < deadline:
            polled = consumer.poll(500, max_records=count - len(found))
            found += [
                {
                    "offset": record.offset,
                    "timestamp": record.timestamp,
                    "key": told(record.key),
                    "value": told(record.value),
                    "headers": [[name, told(value)] for name, value in record.headers],
                }
                for record in polled.get(where, [])
            ]
        consumer.close()
        return found

    def committed(self, topic, group, partitions):
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap, group_id=group)
        found = [consumer.committed(TopicPartition(topic, one)) for one in range(partitions)]
        consumer.close(autocommit=False)
        return [-1 if one is None else one for one in found]

    def member(self, topic, group):
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=self.bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=6000,
            heartbeat_interval_ms=500,
        )
        ended, known = input_s_end(), None
        while not ended.is_set():
            polled = consumer.poll(100)
            assigned = sorted(one.partition for one in consumer.assignment())
            if assigned != known:
                known = assigned
                say(assigned=assigned)
            for where, records in polled.items():
                say(read=[where.partition, *(record.offset for record in records)])
            if polled:
                try:
                    consumer.commit()
                except CommitFailedError:
                    continue  # the group has moved on; who reads this next reads it again
        consumer.close(autocommit=False)

    def topics(self):
        return sorted(self.admin.list_topics())

    def partitions(self, topic):
        return len(self.admin.describe_topics([topic])[0]["partitions"])

    def cluster(self):
        found = self.admin.describe_cluster()
        nodes = sorted(broker["broker_id"] for broker in found["brokers"])
        return {"id": found["cluster_id"], "nodes": nodes}

    def create_topic(self, topic, partitions, configs):
        self.admin.create_topics([NewTopic(topic, partitions, 1, topic_configs=configs)])

    def delete_topic(self, topic):
        self.admin.delete_topics([topic])

    def add_partitions(self, topic, count):
        self.admin.create_partitions({topic: NewPartitions(count)})

    def config(self, topic, name):
        found = self.admin.describe_configs(
            [ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter="all"
        )
        return found["topic"][topic][name]["value"]

    def set_config(self, topic, name, value):
        change = {name: (AlterConfigOp.SET, value)}
        self.admin.alter_configs(
            [ConfigResource(ConfigResourceType.TOPIC, topic, change)], incremental=True
        )

    def offset(self, topic, partition, at):
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap, group_id=None)
        where = TopicPartition(topic, partition)
        try:
            if at == "earliest":
                return consumer.beginning_offsets([where])[where]
            if at == "latest":
                return consumer.end_offsets([where])[where]
            found = consumer.offsets_for_times({where: at})[where]
            return -1 if found is None else found.offset
        finally:
            consumer.close()

    def delete_records(self, topic, partition, offset):
        where = TopicPartition(topic, partition)
        return self.admin.delete_records({where: offset})[where]["low_watermark"]


def main():
    asked = json.loads(sys.stdin.readline())
    steps = Steps(asked["bootstrap"])
    results = []
    for step in asked["steps"]:
        try:
            results.append({"ok": getattr(steps, step.pop("do"))(**step)})
        except KafkaError as failure:
            results.append({"error": getattr(failure, "errno", None), "words": repr(failure)})
            break
    print(json.dumps(results))


main()
