"""The steps of tests/compat/client.py, with aiokafka."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import threading

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import CommitFailedError, KafkaError, for_code


def raw(value):
    return None if value is None else base64.b64decode(value)


def told(value):
    return None if value is None else base64.b64encode(value).decode()


def check(answer):
    """The admin client gives answers, not errors, to most questions."""
    for row in (
        answer.topic_error_codes if hasattr(answer, "topic_error_codes") else answer.topic_errors
    ):
        if row[1]:
            raise for_code(row[1])(*row[2:])


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

    async def produce(self, topic, records, codec="none", idempotent=False, largest=1_000_000):
        producer = AIOKafkaProducer(
            bootstrap_servers=self.bootstrap,
            compression_type=None if codec == "none" else codec,
            enable_idempotence=idempotent,
            max_request_size=largest,
            max_batch_size=16384,
            acks="all",
            linger_ms=20,
        )
        async with producer:
            sent = [
                await producer.send(
                    topic,
                    key=raw(record["key"]),
                    value=raw(record["value"]),
                    partition=record["partition"],
                    timestamp_ms=record["timestamp"],
                    headers=[(name, raw(value)) for name, value in record["headers"]],
                )
                for record in records
            ]
            return [(await future).offset for future in sent]

    async def consume(self, topic, partition, offset, count):
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap,
            group_id=None,
            enable_auto_commit=False,
            check_crcs=True,
        )
        where = TopicPartition(topic, partition)
        found = []
        async with consumer:
            consumer.assign([where])
            consumer.seek(where, offset)
            async with asyncio.timeout(60):
                while len(found) < count:
                    record = await consumer.getone()
                    found.append(
                        {
                            "offset": record.offset,
                            "timestamp": record.timestamp,
                            "key": told(record.key),
                            "value": told(record.value),
                            "headers": [[name, told(value)] for name, value in record.headers],
                        }
                    )
        return found

    async def asked(self, question):
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        try:
            return await question(admin)
        finally:
            await admin.close()

    async def committed(self, topic, group, partitions):
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap, group_id=group, enable_auto_commit=False
        )
        async with consumer:
            found = [
                await consumer.committed(TopicPartition(topic, one)) for one in range(partitions)
            ]
        return [-1 if one is None else one for one in found]

    async def member(self, topic, group):
        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=self.bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=6000,
            heartbeat_interval_ms=500,
            metadata_max_age_ms=1000,
        )
        ended, known = input_s_end(), None
        async with consumer:
            while not ended.is_set():
                polled = await consumer.getmany(timeout_ms=100)
                assigned = sorted(one.partition for one in consumer.assignment())
                if assigned != known:
                    known = assigned
                    say(assigned=assigned)
                for where, records in polled.items():
                    say(read=[where.partition, *(record.offset for record in records)])
                if polled:
                    try:
                        await consumer.commit()
                    except CommitFailedError:
                        continue  # the group has moved on; who reads this next reads it again

    async def topics(self):
        return sorted(await self.asked(lambda admin: admin.list_topics()))

    async def partitions(self, topic):
        found = await self.asked(lambda admin: admin.describe_topics([topic]))
        return len(found[0]["partitions"])

    async def cluster(self):
        found = await self.asked(lambda admin: admin.describe_cluster())
        return {
            "id": found["cluster_id"],
            "nodes": sorted(broker["node_id"] for broker in found["brokers"]),
        }

    async def create_topic(self, topic, partitions, configs):
        new = NewTopic(topic, partitions, 1, topic_configs=configs)
        check(await self.asked(lambda admin: admin.create_topics([new])))

    async def delete_topic(self, topic):
        check(await self.asked(lambda admin: admin.delete_topics([topic])))

    async def add_partitions(self, topic, count):
        wanted = {topic: NewPartitions(count)}
        check(await self.asked(lambda admin: admin.create_partitions(wanted)))

    async def config(self, topic, name):
        wanted = ConfigResource(ConfigResourceType.TOPIC, topic)
        for answer in await self.asked(lambda admin: admin.describe_configs([wanted])):
            for resource in answer.resources:
                for entry in resource[4]:
                    if entry[0] == name:
                        return entry[1]
        return None

    async def offset(self, topic, partition, at):
        where = TopicPartition(topic, partition)
        async with AIOKafkaConsumer(bootstrap_servers=self.bootstrap, group_id=None) as consumer:
            if at == "earliest":
                return (await consumer.beginning_offsets([where]))[where]
            if at == "latest":
                return (await consumer.end_offsets([where]))[where]
            found = (await consumer.offsets_for_times({where: at}))[where]
            return -1 if found is None else found.offset

    async def delete_records(self, topic, partition, offset):
        where = TopicPartition(topic, partition)
        wanted = {where: RecordsToDelete(before_offset=offset)}
        return (await self.asked(lambda admin: admin.delete_records(wanted)))[where]


async def main():
    asked = json.loads(sys.stdin.readline())
    steps = Steps(asked["bootstrap"])
    results = []
    for step in asked["steps"]:
        try:
            results.append({"ok": await getattr(steps, step.pop("do"))(**step)})
        except KafkaError as failure:
            results.append({"error": getattr(failure, "errno", None), "words": repr(failure)})
            break
    print(json.dumps(results))


asyncio.run(main())
