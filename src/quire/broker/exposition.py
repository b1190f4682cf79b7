"""A broker's figures as Prometheus reads them, under the names that users of Kafka's exporters know.

Kafka's own name (`kafka.server:type=ReplicaManager,name=IsrShrinksPerSec`) is written in small letters with `_` between
its parts; what Kafka counts per second is a counter that ends in `_total`, a histogram is a summary with quantiles.

Invariants
  I1  A family's lines stand together, after its HELP and TYPE; the same figures give the same text.
  I2  Whatever comes from clients (topic names, listener names) is escaped.
  I3  Families come one by one, so that whoever writes them may let others work in between.
Not here   counting (metrics, and the rooms whose state is shown), who asks (node.pages).
See        docs/guides/metrics.md
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from quire.broker.broker import Broker
from quire.broker.internal_topics import OFFSETS, TRANSACTIONS
from quire.broker.metrics import ListenerFigures, RequestFigures, Times, TopicFigures
from quire.broker.replica import Replica
from quire.errors import ErrorCode
from quire.groups.coordinator import GroupCoordinator
from quire.metadata.image import NO_LEADER, Image
from quire.protocol.apis import API_NAMES
from quire.storage.cleaner.schedule import CleanerFigures
from quire.transactions.machine import TransactionCoordinator

QUANTILES: Final = (0.5, 0.75, 0.95, 0.99, 0.999)
NS_PER_MS: Final = 1_000_000
COUNTER, GAUGE, SUMMARY = "counter", "gauge", "summary"

Labels: TypeAlias = tuple[tuple[str, str], ...]
Sample: TypeAlias = tuple[str, Labels, float]
"""What is put behind the family's name, the labels, the value."""


class Family(NamedTuple):
    """One name, and everything that is measured under it."""

    name: str
    kind: str
    help: str
    samples: list[Sample]

    def text(self) -> str:
        """The family as it is read (I1)."""
        lines = [f"# HELP {self.name} {self.help}", f"# TYPE {self.name} {self.kind}"]
        lines += [
            f"{self.name}{ending}{_labels(labels)} {_number(value)}"
            for ending, labels, value in self.samples
        ]
        return "\n".join(lines) + "\n"


class Quorum(NamedTuple):
    """What the metadata quorum says of itself."""

    epoch: int
    leader_id: int
    high_watermark: int
    end_offset: int
    voters: int
    published_offset: int
    """How far the broker has taken in what the quorum committed."""


class Cleaning(NamedTuple):
    """What the cleaner says of itself."""

    figures: CleanerFigures
    now_ms: int


def families(broker: Broker, quorum: Quorum, cleaning: Cleaning | None) -> Iterator[Family]:
    """Everything, one family after the other (I3)."""
    yield _gauge("server_kafkaserver_brokerstate", "Where the broker is in its life.", broker.state)
    yield from _topics(broker)
    yield from _requests(broker)
    yield from _listeners(broker)
    replicas = list(broker.replicas)
    yield from _replica_manager(broker, replicas)
    yield from _waiting(broker)
    yield from _partitions(replicas)
    yield from _logs(broker, replicas)
    yield from _coordinators(broker)
    yield from _controller(broker.image, quorum, broker.node_id)
    yield from _raft(quorum)
    if cleaning is not None:
        yield from _cleaner(cleaning)


# --- what was counted ----------------------------------------------------------------------------

_OF_TOPICS: Final[tuple[tuple[str, str, Callable[[TopicFigures], int]], ...]] = (
    ("messagesin", "Records taken in.", lambda one: one.messages_in),
    ("bytesin", "Bytes taken in from producers.", lambda one: one.bytes_in),
    ("bytesout", "Bytes given to consumers.", lambda one: one.bytes_out),
    ("bytesrejected", "Bytes of batches that were refused.", lambda one: one.bytes_rejected),
    ("totalproducerequests", "Produces, each partition counted.", lambda one: one.produces),
    ("totalfetchrequests", "Fetches, each partition counted.", lambda one: one.fetches),
    ("failedproducerequests", "Produces that failed.", lambda one: one.failed_produces),
    ("failedfetchrequests", "Fetches that failed.", lambda one: one.failed_fetches),
    ("replicationbytesin", "Bytes taken in from leaders.", lambda one: one.replication_bytes_in),
    ("replicationbytesout", "Bytes given to followers.", lambda one: one.replication_bytes_out),
    ("producemessageconversions", "Batches compressed anew.", lambda one: one.recompressions),
    ("nokeycompactedtopicrecords", "Refused for a missing key.", lambda one: one.no_key_in_compacted),
    ("invalidmagicnumberrecords", "Refused for an old format.", lambda one: one.invalid_magic),
    ("invalidmessagecrcrecords", "Refused for a wrong checksum.", lambda one: one.invalid_checksums),
    (
        "invalidoffsetorsequencerecords",
        "Refused for a wrong sequence.",
        lambda one: one.invalid_offsets_or_sequences,
    ),
)  # fmt: skip


def _topics(broker: Broker) -> Iterator[Family]:
    figures: list[tuple[Labels, TopicFigures]] = [((), broker.metrics.all_topics)]
    figures += [((("topic", name),), one) for name, one in broker.metrics.topics()]
    for name, words, value in _OF_TOPICS:
        samples = [("", labels, float(value(one))) for labels, one in figures]
        yield Family(f"kafka_server_brokertopicmetrics_{name}_total", COUNTER, words, samples)


_OF_REQUESTS: Final[tuple[tuple[str, str, Callable[[RequestFigures], Times]], ...]] = (
    ("requestqueuetimems", "From a request's arrival to its turn.", lambda one: one.queue),
    ("localtimems", "What the handler worked.", lambda one: one.local),
    ("remotetimems", "How long the answer waited for others.", lambda one: one.remote),
    ("throttletimems", "How long quotas held the client back.", lambda one: one.throttle),
    ("totaltimems", "From a request's arrival to its answer.", lambda one: one.total),
)


def _requests(broker: Broker) -> Iterator[Family]:
    name = "kafka_network_requestmetrics"
    counted: list[Sample] = []
    sizes: dict[str, int] = {}
    by_api: dict[str, list[RequestFigures]] = {}
    for key, version, one in broker.metrics.requests():
        api = API_NAMES.get(key, str(key))
        counted.append(("", (("request", api), ("version", str(version))), one.count))
        sizes[api] = sizes.get(api, 0) + one.bytes
        by_api.setdefault(api, []).append(one)
    yield Family(f"{name}_requests_total", COUNTER, "Requests.", counted)
    errors: list[Sample] = [
        ("", (("request", API_NAMES.get(key, str(key))), ("error", ErrorCode.of(code).name)), count)
        for (key, code), count in sorted(broker.metrics.errors.items())
    ]
    yield Family(f"{name}_errors_total", COUNTER, "Errors in answers.", errors)
    told: list[Sample] = [("", (("request", api),), size) for api, size in sizes.items()]
    yield Family(f"{name}_requestbytes_total", COUNTER, "Bytes of requests.", told)
    for kind, words, times in _OF_REQUESTS:
        samples: list[Sample] = []
        for api, ones in by_api.items():
            samples += _summary((("request", api),), Times.together(times(one) for one in ones))
        yield Family(f"{name}_{kind}", SUMMARY, words, samples)
    unreadable = broker.metrics.unreadable_requests
    yield _counter("network_requestmetrics_unreadable", "Connections that spoke badly.", unreadable)


_OF_LISTENERS: Final[tuple[tuple[str, str, str, Callable[[ListenerFigures], int]], ...]] = (
    ("connection_count", GAUGE, "Open connections.", lambda one: one.open),
    ("connection_creation_total", COUNTER, "Connections taken.", lambda one: one.accepted),
    ("connection_close_total", COUNTER, "Connections ended.", lambda one: one.closed),
    ("connection_refused_total", COUNTER, "Closed at once by a limit.", lambda one: one.refused),
    ("expired_connections_killed_count", COUNTER, "Closed for idleness.", lambda one: one.expired),
    ("incoming_byte_total", COUNTER, "Bytes that came in.", lambda one: one.bytes_in),
    ("outgoing_byte_total", COUNTER, "Bytes that went out.", lambda one: one.bytes_out),
)


def _listeners(broker: Broker) -> Iterator[Family]:
    for name, kind, words, value in _OF_LISTENERS:
        samples: list[Sample] = [
            ("", (("listener", listener),), value(one))
            for listener, one in broker.metrics.listeners()
        ]
        yield Family(f"kafka_server_socket_server_metrics_{name}", kind, words, samples)


# --- what is now ---------------------------------------------------------------------------------


def _replica_manager(broker: Broker, replicas: list[Replica]) -> Iterator[Family]:
    led = [one.leader for one in replicas if one.leader is not None]
    image, metrics = broker.image, broker.metrics
    held = {(one.topic_id, one.topic_partition.partition) for one in replicas}
    moving = sum(
        partition.is_reassigning
        for topic in image.topics.values()
        for index, partition in topic.partitions.items()
        if (topic.topic_id, index) in held and partition.leader == broker.node_id
    )
    gauges: tuple[tuple[str, str, int], ...] = (
        ("partitioncount", "Partitions held.", len(replicas)),
        ("leadercount", "Partitions led.", len(led)),
        (
            "underreplicatedpartitions",
            "Led, and not all in sync.",
            sum(one.is_under_replicated for one in led),
        ),
        (
            "underminisrpartitioncount",
            "Led, with too few in sync.",
            sum(one.is_under_min_isr for one in led),
        ),
        (
            "atminisrpartitioncount",
            "Led, with just enough in sync.",
            sum(one.is_at_min_isr for one in led),
        ),
        ("offlinereplicacount", "Replicas whose directory failed.", _offline(broker, len(held))),
        ("reassigningpartitions", "Led, and on the move.", moving),
        ("produceridcount", "Producers known.", sum(len(one.log.producers) for one in replicas)),
    )
    for name, words, value in gauges:
        yield _gauge(f"server_replicamanager_{name}", words, value)
    yield _counter("server_replicamanager_isrshrinks", "Sets that shrank.", metrics.isr_shrinks)
    yield _counter("server_replicamanager_isrexpands", "Sets that grew.", metrics.isr_expands)
    failed = metrics.failed_isr_updates
    yield _counter("server_replicamanager_failedisrupdates", "Changes refused.", failed)


def _offline(broker: Broker, held: int) -> int:
    """How many replicas the metadata places here that are not open."""
    placed = sum(
        broker.node_id in partition.replicas
        for topic in broker.image.topics.values()
        for partition in topic.partitions.values()
    )
    return max(0, placed - held) if broker.is_ready else 0


def _waiting(broker: Broker) -> Iterator[Family]:
    samples: list[Sample] = [
        ("", (("delayedOperation", name),), len(purgatory))
        for name, purgatory in broker.waiting.all()
    ]
    name = "kafka_server_delayedoperationpurgatory_purgatorysize"
    yield Family(name, GAUGE, "Answers that wait.", samples)
    sessions = broker.fetch_sessions
    name = "server_fetchsessioncache_numincrementalfetch"
    yield _gauge(f"{name}sessions", "Fetch sessions.", len(sessions))
    yield _gauge(f"{name}partitionscached", "Partitions in them.", sessions.partitions)


_OF_PARTITIONS: Final[tuple[tuple[str, str, Callable[[Replica], int]], ...]] = (
    ("log_log_size", "Bytes of the log.", lambda one: one.log.segments.total_bytes()),
    ("log_log_logstartoffset", "The first offset.", lambda one: one.log.log_start_offset),
    ("log_log_logendoffset", "The next offset.", lambda one: one.log.log_end_offset),
    ("log_log_numlogsegments", "Segments.", lambda one: len(one.log.segments)),
    (
        "cluster_partition_laststableoffsetlag",
        "Records that await the end of a transaction.",
        lambda one: one.log.high_watermark - one.log.last_stable_offset,
    ),
)
_OF_LED: Final[tuple[tuple[str, str, Callable[[Replica], int]], ...]] = (
    ("insyncreplicascount", "Replicas in sync.", lambda one: len(one.leader.isr)),  # type: ignore[union-attr]
    ("replicascount", "Replicas.", lambda one: len(one.leader.followers) + 1),  # type: ignore[union-attr]
    ("underreplicated", "1: not all in sync.", lambda one: one.leader.is_under_replicated),  # type: ignore[union-attr]
    ("underminisr", "1: too few in sync.", lambda one: one.leader.is_under_min_isr),  # type: ignore[union-attr]
)


def _partitions(replicas: list[Replica]) -> Iterator[Family]:
    for name, words, value in _OF_PARTITIONS:
        yield Family(f"kafka_{name}", GAUGE, words, _of_each(replicas, value))
    led = [one for one in replicas if one.leader is not None]
    for name, words, value in _OF_LED:
        yield Family(f"kafka_cluster_partition_{name}", GAUGE, words, _of_each(led, value))


def _of_each(replicas: Iterable[Replica], value: Callable[[Replica], int]) -> list[Sample]:
    return [
        (
            "",
            (
                ("topic", one.topic_partition.topic),
                ("partition", str(one.topic_partition.partition)),
            ),
            value(one),
        )
        for one in replicas
    ]


def _logs(broker: Broker, replicas: list[Replica]) -> Iterator[Family]:
    metrics = broker.metrics
    words = "Flushes of logs."
    name = "kafka_log_logflushstats_logflushrateandtimems"
    yield Family(name, SUMMARY, words, _summary((), metrics.flushes))
    lost = metrics.offline_directories
    yield _gauge("log_logmanager_offlinelogdirectorycount", "Directories that failed.", lost)
    sizes = {one.path: 0 for one in broker.log_dirs.online}
    for one in replicas:
        sizes[one.hosted.log_dir.path] = (
            sizes.get(one.hosted.log_dir.path, 0) + one.log.segments.total_bytes()
        )
    samples: list[Sample] = [("", (("logDirectory", path),), size) for path, size in sizes.items()]
    yield Family("kafka_log_logmanager_directorysize", GAUGE, "Bytes of its logs.", samples)
    refused = metrics.refused_for_lack_of_space
    yield _counter(
        "log_logmanager_refusedforlackofspace", "Writes that a full disk refused.", refused
    )


def _coordinators(broker: Broker) -> Iterator[Family]:
    """Groups and transactions of the partitions that are coordinated here."""
    groups: Counter[tuple[str, str]] = Counter()
    offsets = 0
    host = broker.hosts.get(OFFSETS)
    for _, machine in host.machines() if host is not None else ():
        assert isinstance(machine, GroupCoordinator)
        of_groups = machine.stored.offsets.values()
        offsets += sum(len(one) for topics in of_groups for one in topics.values())
        groups.update((one.group_type, one.group_state) for one in machine.listed())
    samples: list[Sample] = [
        ("", (("protocol", kind), ("state", state)), count)
        for (kind, state), count in sorted(groups.items())
    ]
    name = "kafka_server_group_coordinator_metrics_group_count"
    yield Family(name, GAUGE, "Groups.", samples)
    yield _gauge("coordinator_group_groupmetadatamanager_numgroups", "Groups.", groups.total())
    yield _gauge("coordinator_group_groupmetadatamanager_numoffsets", "Kept offsets.", offsets)
    states: Counter[str] = Counter()
    host = broker.hosts.get(TRANSACTIONS)
    for _, machine in host.machines() if host is not None else ():
        assert isinstance(machine, TransactionCoordinator)
        states.update(one.state.name.lower() for one in machine.transactions.values())
    told: list[Sample] = [("", (("state", name),), count) for name, count in sorted(states.items())]
    name = "kafka_server_transaction_coordinator_metrics_transaction_count"
    yield Family(name, GAUGE, "Transactional ids.", told)


def _controller(image: Image, quorum: Quorum, node_id: int) -> Iterator[Family]:
    partitions = [one for topic in image.topics.values() for one in topic.partitions.values()]
    gauges: tuple[tuple[str, str, int], ...] = (
        ("activecontrollercount", "1: this node leads.", quorum.leader_id == node_id),
        ("globaltopiccount", "Topics.", len(image.topics)),
        ("globalpartitioncount", "Partitions.", len(partitions)),
        (
            "offlinepartitionscount",
            "Partitions without a leader.",
            sum(one.leader == NO_LEADER for one in partitions),
        ),
        (
            "preferredreplicaimbalancecount",
            "Partitions led by another than the preferred.",
            sum(one.leader != one.preferred_leader for one in partitions),
        ),
        ("activebrokercount", "Brokers.", sum(not one.fenced for one in image.brokers.values())),
        ("fencedbrokercount", "Fenced ones.", sum(one.fenced for one in image.brokers.values())),
        ("lastcommittedrecordoffset", "Committed.", quorum.high_watermark - 1),
        ("lastappliedrecordoffset", "Taken in.", quorum.published_offset),
    )
    for name, words, value in gauges:
        yield _gauge(f"controller_kafkacontroller_{name}", words, value)


def _raft(quorum: Quorum) -> Iterator[Family]:
    gauges: tuple[tuple[str, str, int], ...] = (
        ("current_epoch", "The quorum's epoch.", quorum.epoch),
        ("current_leader", "Who leads; -1: nobody.", quorum.leader_id),
        ("high_watermark", "Committed up to here.", quorum.high_watermark),
        ("log_end_offset", "The next offset.", quorum.end_offset),
        ("number_of_voters", "Who votes.", quorum.voters),
    )
    for name, words, value in gauges:
        yield _gauge(f"server_raft_metrics_{name}", words, value)


def _cleaner(cleaning: Cleaning) -> Iterator[Family]:
    figures = cleaning.figures
    last = figures.time_of_last_run_ms
    managed: tuple[tuple[str, str, int], ...] = (
        ("max_dirty_percent", "Of the dirtiest log.", figures.max_dirty_percent),
        ("time_since_last_run_ms", "-1: never.", cleaning.now_ms - last if last >= 0 else -1),
        (
            "uncleanable_partitions_count",
            "Logs given up.",
            figures.uncleanable_partitions_count,
        ),
        ("uncleanable_bytes", "Their dirty bytes.", figures.uncleanable_bytes),
    )
    for name, words, value in managed:
        yield _gauge(f"log_logcleanermanager_{name}", words, value)
    cleaner: tuple[tuple[str, str, int], ...] = (
        ("max_clean_time_secs", "Of the last cleaning.", figures.max_clean_time_secs),
        (
            "max_compaction_delay_secs",
            "How late the latest is.",
            figures.max_compaction_delay_secs,
        ),
        (
            "max_buffer_utilization_percent",
            "How full the map was.",
            figures.max_buffer_utilization_percent,
        ),
        (
            "cleaner_recopy_percent",
            "What was written of what was read.",
            figures.cleaner_recopy_percent,
        ),
    )
    for name, words, value in cleaner:
        yield _gauge(f"log_logcleaner_{name}", words, value)
    yield _counter("log_logcleaner_cleanings", "Cleanings done.", figures.cleanings)


# --- text ----------------------------------------------------------------------------------------


def _gauge(name: str, words: str, value: float) -> Family:
    return Family(f"kafka_{name}", GAUGE, words, [("", (), value)])


def _counter(name: str, words: str, value: float) -> Family:
    return Family(f"kafka_{name}_total", COUNTER, words, [("", (), value)])


def _summary(labels: Labels, times: Times) -> list[Sample]:
    quantiles: list[Sample] = [
        ("", (*labels, ("quantile", str(one))), times.quantile_ns(one) / NS_PER_MS)
        for one in QUANTILES
    ]
    return [
        *quantiles,
        ("_sum", labels, times.sum_ns / NS_PER_MS),
        ("_count", labels, times.count),
    ]


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    """I2."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(round(value, 6))
