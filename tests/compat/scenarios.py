"""What every client is put through. A client's test class inherits these, and says what the client cannot do.

Whatever is written by the client is read back by the client, and, where the bytes matter, from the wire.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from tests.compat import wire
from tests.compat.client import Client, Member, Sent, StepFailed, eventually, new_name

from quire.errors import ErrorCode
from quire.records.batch import Compression

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LARGE_BYTES = 900_000
FENCED_CODES = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED, -144)
"""-144 is librdkafka's own."""
START_MS = 1_700_000_000_000
DEATH_SECONDS = 70
"""Longer than a consumer of the new protocol may be silent; no member says how long."""
KEPT = {"retention.ms": "-1"}
"""For tests that take longer than it takes a broker to let records of long ago go."""
NEW: dict[str, Any] = {"topic": "new", "partitions": 1, "configs": {}}


def some_of_everything() -> list[Sent]:
    """Keys and none, values and none, headers and none, empty, tiny, words of another script, and more than a few."""
    return [
        Sent(b"key", b"value"),
        Sent(None, b"without a key"),
        Sent(b"without a value", None),
        Sent(b"", b""),
        Sent(b"k", b"v", (("one", b"1"),)),
        Sent(
            b"headers", b"two of one name", (("h", b"first"), ("h", b"second"), ("", b"\x00\xff"))
        ),
        Sent("ключ".encode(), "значение ☃".encode(), (("имя", b""),)),
        Sent(bytes(range(256)), bytes(range(255, -1, -1))),
        *(
            Sent(b"%d" % n, b"a line that repeats itself " * 20, timestamp=START_MS + n)
            for n in range(200)
        ),
    ]


class Conversation:
    """Produce and consume, for any client."""

    codecs: ClassVar[tuple[str, ...]] = CODECS
    cannot: ClassVar[dict[str, str]] = {}
    """What the client has no way to ask for, and why: `null_value`, `idempotent`, or a step's name."""

    @pytest.fixture
    def client(self, bootstrap: str) -> Client:
        raise NotImplementedError

    def unless_it_cannot(self, *things: str) -> None:
        for thing in things:
            if thing in self.cannot:
                pytest.skip(f"NOT CHECKED: {self.cannot[thing]}")

    def sendable(self) -> list[Sent]:
        return some_of_everything()

    @pytest.mark.parametrize("codec", CODECS)
    def test_records_come_back_as_they_were(
        self, client: Client, topic: Callable[..., str], codec: str
    ) -> None:
        if codec not in self.codecs:
            pytest.skip(f"NOT CHECKED: this client has no {codec}")
        name = topic()
        sent = self.sendable()
        offsets = client.produce(name, sent, codec=codec)
        assert offsets == list(range(len(sent)))
        got = client.consume(name, len(sent))
        assert [one.offset for one in got] == offsets
        assert [one for one, mine in zip(got, sent, strict=True) if not one.same(mine)] == []
        found = list(wire.batches(client.bootstrap, name))
        used = {Compression(batch.header.attributes & 7).name.lower() for batch in found}
        assert used == {codec}

    def test_tiny_and_large_records_travel(self, client: Client, topic: Callable[..., str]) -> None:
        name = topic()
        noise = os.urandom(LARGE_BYTES)
        sent = [
            Sent(b"l", noise),
            Sent(None, b"x"),
            Sent(b"l", b"a" * LARGE_BYTES),
            Sent(b"y", b""),
        ]
        client.produce(name, sent, codec="none")
        if "gzip" in self.codecs:
            client.produce(name, sent[2:], codec="gzip")
            sent += sent[2:]
        got = client.consume(name, len(sent))
        assert [one.same(mine) for one, mine in zip(got, sent, strict=True)] == [True] * len(sent)

    def test_reading_begins_anywhere(self, client: Client, topic: Callable[..., str]) -> None:
        name = topic(partitions=3)
        sent = [Sent(None, b"%d" % n, partition=2, timestamp=START_MS + n) for n in range(3000)]
        client.produce(name, sent, codec="none")
        got = client.consume(name, 1000, offset=1234, partition=2)
        assert [one.offset for one in got] == list(range(1234, 2234))
        assert [one.value for one in got] == [b"%d" % n for n in range(1234, 2234)]

    def test_an_idempotent_producer_numbers_its_batches(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        self.unless_it_cannot("idempotent")
        name = topic()
        sent = [Sent(b"k", b"%d" % n, timestamp=START_MS) for n in range(2000)]
        client.produce(name, sent, codec="none", idempotent=True)
        expected = 0
        for batch in wire.batches(client.bootstrap, name):
            assert batch.header.producer_id >= 0
            assert batch.header.base_sequence == expected
            expected += batch.header.record_count
        assert expected == len(sent)

    def test_a_message_that_is_too_large_is_refused(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        self.unless_it_cannot("largest")
        name = topic(**{"max.message.bytes": "100000"})
        with pytest.raises(StepFailed) as failed:
            client.produce(name, [Sent(None, os.urandom(200_000))], codec="none", largest=2_000_000)
        assert failed.value.code == ErrorCode.MESSAGE_TOO_LARGE
        assert list(wire.batches(client.bootstrap, name)) == []


class Administration:
    """The life of a topic, for clients that can administrate."""

    cannot: ClassVar[dict[str, str]] = {}

    def unless_it_cannot(self, *things: str) -> None:
        for thing in things:
            if thing in self.cannot:
                pytest.skip(f"NOT CHECKED: {self.cannot[thing]}")

    def test_the_life_of_a_topic(self, client: Client) -> None:
        name = new_name("life")
        client.do("create_topic", topic=name, partitions=2, configs={"retention.ms": "123456789"})
        assert eventually(lambda: name in client.do("topics"))
        assert client.do("partitions", topic=name) == 2
        client.do("add_partitions", topic=name, count=5)
        assert eventually(lambda: client.do("partitions", topic=name) == 5)
        client.do("delete_topic", topic=name)
        assert eventually(lambda: name not in client.do("topics"))

    def test_settings_of_a_topic_are_told_and_changed(self, client: Client) -> None:
        self.unless_it_cannot("config")
        name = new_name("settings")
        client.do("create_topic", topic=name, partitions=1, configs={"retention.ms": "123456789"})
        assert eventually(lambda: name in client.do("topics"))
        assert client.do("config", topic=name, name="retention.ms") == "123456789"
        assert client.do("config", topic=name, name="cleanup.policy") == "delete"
        self.unless_it_cannot("set_config")
        client.do("set_config", topic=name, name="cleanup.policy", value="compact")
        changed = {"retention.ms": "123456789", "cleanup.policy": "compact"}
        assert eventually(
            lambda: {one: client.do("config", topic=name, name=one) for one in changed} == changed
        )

    def test_offsets_are_found_by_place_and_time_and_records_deleted(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        self.unless_it_cannot("offset")
        name = topic()
        client.produce(
            name, [Sent(None, b"%d" % n, timestamp=START_MS + 1000 * n) for n in range(20)]
        )

        def offset(at: Any) -> int:
            found: int = client.do("offset", topic=name, partition=0, at=at)
            return found

        assert [offset("earliest"), offset("latest")] == [0, 20]
        if "by_time" not in self.cannot:
            moments = [START_MS, START_MS + 7000, START_MS + 7001, START_MS + 19_001]
            assert [offset(moment) for moment in moments] == [0, 7, 8, -1]
        self.unless_it_cannot("delete_records")
        assert client.do("delete_records", topic=name, partition=0, offset=5) == 5
        assert offset("earliest") == 5
        assert [one.offset for one in client.consume(name, 15, offset=5)] == list(range(5, 20))

    def test_the_cluster_is_described(self, client: Client) -> None:
        self.unless_it_cannot("cluster")
        told = client.do("cluster")
        assert told["nodes"] == [1]
        assert len(told["id"]) == 22

    @pytest.mark.parametrize(
        ("step", "given", "code"),
        [
            ("create_topic", NEW | {"topic": "exists"}, ErrorCode.TOPIC_ALREADY_EXISTS),
            ("create_topic", NEW | {"topic": "bad name!"}, ErrorCode.INVALID_TOPIC_EXCEPTION),
            ("create_topic", NEW | {"partitions": 0}, ErrorCode.INVALID_PARTITIONS),
            ("create_topic", NEW | {"configs": {"no.such": "1"}}, ErrorCode.INVALID_CONFIG),
            ("delete_topic", {"topic": "never-made"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            ("add_partitions", {"topic": "exists", "count": 1}, ErrorCode.INVALID_PARTITIONS),
        ],
    )
    def test_a_refusal_has_kafkas_code(
        self,
        client: Client,
        topic: Callable[..., str],
        step: str,
        given: dict[str, Any],
        code: ErrorCode,
    ) -> None:
        self.unless_it_cannot(f"{step} {given['topic']}")
        asked = given | {"topic": topic(partitions=2)} if given["topic"] == "exists" else given
        with pytest.raises(StepFailed) as failed:
            client.do(step, **asked)
        assert failed.value.code == code


class Transactions:
    """All or nothing, for clients that have transactional producers."""

    def of(self, *values: str, partition: int = 0) -> list[dict[str, Any]]:
        return [Sent(b"k", value.encode(), partition=partition).told() for value in values]

    def values(
        self, client: Client, topic: str, count: int, *, committed: bool, partition: int = 0
    ) -> list[str]:
        got = client.consume(topic, count, partition=partition, committed=committed)
        return [(one.value or b"").decode() for one in got]

    def test_what_is_committed_is_seen_and_what_is_aborted_is_not(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        name = topic(2)
        given = {"do": "transact", "producer": "a", "topic": name}
        client.run(
            {"do": "begin", "producer": "a", "name": new_name("transactional")},
            {**given, "records": self.of("1", "2") + self.of("x", partition=1), "end": "commit"},
            {**given, "records": self.of("3") + self.of("y", partition=1), "end": "abort"},
            {**given, "records": self.of("4") + self.of("z", partition=1), "end": "commit"},
        )
        assert self.values(client, name, 3, committed=True) == ["1", "2", "4"]
        assert self.values(client, name, 2, committed=True, partition=1) == ["x", "z"]
        assert self.values(client, name, 4, committed=False) == ["1", "2", "3", "4"]

    def test_an_open_transaction_hides_what_comes_after_it_until_it_runs_out_of_time(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        name = topic()
        client.run(
            {"do": "begin", "producer": "slow", "name": new_name("slow"), "timeout": 1500},
            {"do": "begin", "producer": "quick", "name": new_name("quick")},
            {
                "do": "transact", "producer": "slow", "topic": name,
                "records": self.of("late"), "end": "leave",
            },
            {
                "do": "transact", "producer": "quick", "topic": name,
                "records": self.of("1"), "end": "commit",
            },
        )  # fmt: skip
        assert wire.last_stable_offset(client.bootstrap, name) == 0
        assert eventually(lambda: wire.last_stable_offset(client.bootstrap, name) == 4)
        assert self.values(client, name, 1, committed=True) == ["1"]

    def test_a_second_producer_of_the_same_id_fences_the_first(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        name, same = topic(), new_name("same")
        given = {"do": "transact", "topic": name}
        with pytest.raises(StepFailed) as fenced:
            client.run(
                {"do": "begin", "producer": "first", "name": same},
                {**given, "producer": "first", "records": self.of("1"), "end": "leave"},
                {"do": "begin", "producer": "second", "name": same},
                {**given, "producer": "second", "records": self.of("2"), "end": "commit"},
                {"do": "end", "producer": "first", "end": "commit"},
            )
        assert fenced.value.code in FENCED_CODES
        assert self.values(client, name, 1, committed=True) == ["2"]


class Groups:
    """Members of a group share a topic while they come, leave and die."""

    def test_members_share_a_topic_while_they_come_leave_and_die(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        name, group = topic(partitions=4, **KEPT), new_name("group")
        produced = 0

        def produce() -> set[tuple[int, int]]:
            nonlocal produced
            records = [Sent(None, b"%d" % n, partition=n % 4) for n in range(40)]
            client.produce(name, records)
            produced += len(records) // 4
            return {(partition, offset) for partition in range(4) for offset in range(produced)}

        def shared(*members: Member) -> bool:
            held = [one.assigned or [] for one in members]
            return all(held) and sorted(itertools.chain(*held)) == [0, 1, 2, 3]

        def all_read(*members: Member) -> bool:
            return set().union(*(one.read for one in members)) >= wanted

        wanted = produce()
        first = client.join(name, group)
        running = [first]
        try:
            assert eventually(lambda: shared(first) and all_read(first))
            running.append(second := client.join(name, group))
            assert eventually(lambda: shared(first, second))
            wanted = produce()
            assert eventually(lambda: all_read(first, second))
            second.leave()
            running.remove(second)
            assert eventually(lambda: shared(first))
            running.append(third := client.join(name, group))
            assert eventually(lambda: shared(first, third))
            third.kill()
            running.remove(third)
            assert eventually(lambda: shared(first))
            wanted = produce()
            assert eventually(lambda: all_read(first, second, third))
            first.leave()
            running.remove(first)
        finally:
            for one in running:
                one.kill()
        committed = client.do("committed", topic=name, group=group, partitions=4)
        assert committed == [produced] * 4

    def test_a_member_that_freezes_loses_its_share_and_gets_one_when_it_thaws(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        name, group = topic(partitions=4, **KEPT), new_name("freezing")

        def shared(*members: Member) -> bool:
            held = [one.assigned or [] for one in members]
            return all(held) and sorted(itertools.chain(*held)) == [0, 1, 2, 3]

        members = [client.join(name, group), client.join(name, group)]
        first, second = members
        try:
            assert eventually(lambda: shared(first, second))
            second.freeze()
            assert eventually(lambda: shared(first))
            client.produce(name, [Sent(None, b"%d" % n, partition=n % 4) for n in range(40)])
            everything = {(partition, offset) for partition in range(4) for offset in range(10)}
            assert eventually(lambda: first.read >= everything)
            second.thaw()
            assert eventually(lambda: shared(first, second))
            for one in members:
                one.leave()
        finally:
            for one in members:
                one.discard()
        committed = client.do("committed", topic=name, group=group, partitions=4)
        assert committed == [10] * 4

    def test_a_group_that_never_committed_has_no_offsets(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        name = topic(partitions=2)
        found = client.do("committed", topic=name, group=new_name("nobody"), partitions=2)
        assert found == [-1, -1]


class ConsumerGroups:
    """The same with the protocol of KIP-848, in which the broker assigns; for clients that speak it."""

    cannot: ClassVar[dict[str, str]] = {}

    def test_members_of_the_new_protocol_come_leave_and_die(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        name, group = topic(partitions=6), new_name("consumers")
        running: list[Member] = []

        def join() -> Member:
            running.append(client.join(name, group, protocol="consumer"))
            return running[-1]

        def shared() -> bool:
            held = [one.assigned or [] for one in running]
            return all(held) and sorted(itertools.chain(*held)) == list(range(6))

        def evenly() -> list[int]:
            return [len(one.assigned or []) for one in running]

        client.produce(name, [Sent(None, b"%d" % n, partition=n % 6) for n in range(60)])
        everything = {(partition, offset) for partition in range(6) for offset in range(10)}
        try:
            first = join()
            assert eventually(lambda: shared() and first.read >= everything)
            second, third = join(), join()
            assert eventually(lambda: shared() and evenly() == [2, 2, 2], 40)
            second.leave()
            running.remove(second)
            assert eventually(shared, 40)
            third.kill()
            running.remove(third)
            assert eventually(shared, DEATH_SECONDS)
            first.leave()
            running.remove(first)
        finally:
            for one in running:
                one.kill()
        committed = client.do("committed", topic=name, group=group, partitions=6)
        assert committed == [10] * 6

    def test_a_static_member_comes_back_to_what_it_had(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        name, group = topic(partitions=4), new_name("static")

        def join(instance: str) -> Member:
            return client.join(name, group, protocol="consumer", instance=instance)

        running = [join("one"), join("two")]
        try:
            assert eventually(lambda: [len(one.assigned or []) for one in running] == [2, 2], 40)
            had, others = running[0].assigned, running[1].assigned
            running.pop(0).leave()
            running.insert(0, join("one"))
            assert eventually(lambda: bool(running[0].assigned), 40)
            assert (running[0].assigned, running[1].assigned) == (had, others)
        finally:
            for one in running:
                one.kill()

    def test_a_pattern_finds_topics_that_come_later(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        self.unless_it_cannot("pattern")
        first, group = topic(partitions=2), new_name("pattern")
        stem = new_name("stem")
        made = [f"{stem}-a", f"{stem}-b"]
        client.do("create_topic", topic=made[0], partitions=1, configs={})
        member = client.join(first, group, protocol="consumer", pattern=f"{stem}-.*")
        try:
            assert eventually(lambda: set(member.assigned or ()) == {0}, 40)
            client.do("create_topic", topic=made[1], partitions=3, configs={})
            assert eventually(lambda: set(member.assigned or ()) == {0, 1, 2}, 40)
        finally:
            member.kill()

    def unless_it_cannot(self, *things: str) -> None:
        for thing in things:
            if thing in self.cannot:
                pytest.skip(f"NOT CHECKED: {self.cannot[thing]}")


class Migration:
    """A group goes from the classic protocol to the new one and back, member by member."""

    def test_a_group_changes_its_protocol_while_it_reads(
        self, client: Client, topic: Callable[..., str]
    ) -> None:
        name, group = topic(partitions=4), new_name("migration")
        client.produce(name, [Sent(None, b"%d" % n, partition=n % 4) for n in range(40)])
        running: list[Member] = []

        def join(protocol: str) -> None:
            running.append(client.join(name, group, protocol=protocol))

        def shared() -> bool:
            held = [one.assigned or [] for one in running]
            return all(held) and sorted(itertools.chain(*held)) == list(range(4))

        try:
            for protocol in ("classic", "classic", "consumer"):
                join(protocol)
                assert eventually(shared, 40)
            running.pop(0).leave()
            assert eventually(shared, 40)
            join("classic")
            assert eventually(shared, 40)
            running.pop(1).leave()  # the only one of the new protocol
            assert eventually(shared, 40)
            while running:
                running.pop().leave()
        finally:
            for one in running:
                one.kill()
        committed = client.do("committed", topic=name, group=group, partitions=4)
        assert committed == [10] * 4
