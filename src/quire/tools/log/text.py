"""Facts as lines for people: one line each, times as dates, `-` for what is not there.

Not here   the machine's form: with --format json each fact is printed as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

from quire.tools.log.facts import Fact

MS_PER_SECOND = 1000


def time_text(timestamp_ms: int) -> str:
    """A timestamp as UTC, or the bare number when it is none."""
    try:
        moment = datetime.fromtimestamp(timestamp_ms / MS_PER_SECOND, UTC)
    except (OverflowError, ValueError, OSError):
        return str(timestamp_ms)
    return (
        moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if timestamp_ms >= 0
        else "-"
    )


def lines(fact: Fact) -> list[str]:
    """The lines of one fact."""
    return [_LINES[fact["kind"]](fact)] if fact["kind"] in _LINES else [json.dumps(fact)]


def _file(fact: Fact) -> str:
    return f"{fact['file']}"


def _batch(fact: Fact) -> str:
    marks = [
        name
        for name, is_so in (
            ("transactional", fact["isTransactional"]),
            ("control", fact["isControl"]),
            (
                f"horizon {time_text(fact['deleteHorizonMs'] or 0)}",
                fact["deleteHorizonMs"] is not None,
            ),
            ("WRONG CHECKSUM", not fact["isValid"]),
        )
        if is_so
    ]
    producer = ""
    if fact["producerId"] >= 0:
        sequences = f"{fact['baseSequence']}..{fact['lastSequence']}"
        producer = (
            f"  producer {fact['producerId']} epoch {fact['producerEpoch']} sequences {sequences}"
        )
    return (
        f"  batch {fact['baseOffset']}..{fact['lastOffset']}  records {fact['count']}"
        f"  position {fact['position']}  bytes {fact['size']}  {fact['compression']}"
        f"  {fact['timestampType']} {time_text(fact['maxTimestamp'])}"
        f"  leader epoch {fact['partitionLeaderEpoch']}{producer}"
        f"  crc {fact['crc']}{''.join(f'  {mark}' for mark in marks)}"
    )


def _record(fact: Fact) -> str:
    parts = [f"    record {fact['offset']}  {time_text(fact['timestamp'])}"]
    parts.append(f"key {_size(fact['keySize'])}  value {_size(fact['valueSize'])}")
    if fact["sequence"] >= 0:
        parts.append(f"sequence {fact['sequence']}")
    if fact["headerKeys"] and "headers" not in fact:
        parts.append(f"headers {','.join(fact['headerKeys'])}")
    parts += [
        f"{name}={json.dumps(fact[name], ensure_ascii=False, separators=(',', ':'))}"
        for name in ("headers", "control", "key", "payload", "undecodable")
        if name in fact
    ]
    return "  ".join(parts)


def _size(size: int) -> str:
    return "null" if size < 0 else f"{size} bytes"


def _fault(fact: Fact) -> str:
    where = "" if fact["position"] is None else f" at byte {fact['position']}"
    return f"  FAULT {fact['file']}{where}: {fact['message']}"


def _offset_entry(fact: Fact) -> str:
    return f"  entry {fact['number']}  offset {fact['offset']}  position {fact['position']}"


def _time_entry(fact: Fact) -> str:
    moment = time_text(fact["timestamp"])
    return f"  entry {fact['number']}  {moment} ({fact['timestamp']})  offset {fact['offset']}"


def _aborted(fact: Fact) -> str:
    return (
        f"  aborted  producer {fact['producerId']}  offsets {fact['firstOffset']}..{fact['lastOffset']}"
        f"  last stable offset {fact['lastStableOffset']}"
    )


def _producer(fact: Fact) -> str:
    first = fact["currentTxnFirstOffset"]
    transaction = "" if first < 0 else f"  transaction open since offset {first}"
    return (
        f"  producer {fact['producerId']}  epoch {fact['producerEpoch']}"
        f"  last sequence {fact['lastSequence']}  last offset {fact['lastOffset']}"
        f"  offset delta {fact['offsetDelta']}  {time_text(fact['timestamp'])}"
        f"  coordinator epoch {fact['coordinatorEpoch']}{transaction}"
    )


_LINES: dict[str, Callable[[Fact], str]] = {
    "file": _file,
    "batch": _batch,
    "record": _record,
    "fault": _fault,
    "offsetIndexEntry": _offset_entry,
    "timeIndexEntry": _time_entry,
    "abortedTransaction": _aborted,
    "producer": _producer,
    "leaderEpoch": lambda fact: (
        f"  leader epoch {fact['epoch']}  from offset {fact['startOffset']}"
    ),
    "checkpoint": lambda fact: f"  {fact['topic']}-{fact['partition']}  offset {fact['offset']}",
    "property": lambda fact: f"  {fact['name']} = {fact['value']}",
    "json": lambda fact: f"  {json.dumps(fact['content'], separators=(',', ':'))}",
    "checked": lambda fact: (
        f"checked {fact['files']} files, {fact['batches']} batches, {fact['entries']} index entries: "
        f"{fact['faults']} faults"
    ),
}
