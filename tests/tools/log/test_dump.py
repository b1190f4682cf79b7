"""Our dump says what Apache Kafka's own dump said of the same files: compared fact by fact."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from quire.tools.log.dump import dump

GOLDEN = Path(__file__).parents[2] / "golden"
DUMPS = GOLDEN / "dumps"
CLEAN = GOLDEN / "data-clean"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(dump, [str(a) for a in arguments])


def facts(*arguments: str | Path, code: int = 0) -> list[dict[str, Any]]:
    result = run("--format", "json", *arguments)
    assert result.exit_code == code, result.output
    return [json.loads(line) for line in result.output.splitlines()]


def of_kind(kind: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [fact for fact in found if fact["kind"] == kind]


# --- what kafka-dump-log printed, read back ---------------------------------------------------

WORDS = re.compile(r"(\w+): (\[[^\]]*\]|\S+)")


def number_or_none(text: str) -> int | None:
    inner = re.fullmatch(r"OptionalLong\[(-?\d+)\]", text)
    if text == "OptionalLong.empty":
        return None
    return int(inner.group(1) if inner else text)


def peer_batches(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("baseOffset:"):
            words = dict(WORDS.findall(line))
            kind = "CreateTime" if "CreateTime" in words else "LogAppendTime"
            whole = ("baseOffset", "lastOffset", "count", "baseSequence", "lastSequence", "producerId",
                     "producerEpoch", "partitionLeaderEpoch", "position", "size", "magic", "crc")  # fmt: skip
            yield {
                **{name: int(words[name]) for name in whole},
                "isTransactional": words["isTransactional"] == "true",
                "isControl": words["isControl"] == "true",
                "deleteHorizonMs": number_or_none(words["deleteHorizonMs"]),
                "timestampType": kind,
                "maxTimestamp": int(words[kind]),
                "compression": words["compresscodec"],
                "isValid": words["isvalid"] == "true",
            }


def json_or_text(text: str) -> Any:
    if not text.startswith(("{", "[")):
        return text
    found = json.loads(text)
    return numbers(found)


def numbers(found: dict[str, Any]) -> dict[str, Any]:
    """The peer prints types and versions of internal records as text, ours are numbers."""
    for name in ("type", "version"):
        if isinstance(found.get(name), str) and found[name].isdigit():
            found[name] = int(found[name])
    return found


def peer_records(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if not line.startswith("| offset:"):
            continue
        head, _, rest = line.partition("headerKeys: ")
        words = dict(WORDS.findall(head))
        keys, _, rest = rest.partition("]")
        record: dict[str, Any] = {
            "offset": int(words["offset"]),
            "timestamp": int(words["CreateTime"]),
            "keySize": int(words["keySize"]),
            "valueSize": int(words["valueSize"]),
            "sequence": int(words["sequence"]),
            "headerKeys": [key for key in keys.strip("[").split(",") if key],
        }
        rest = rest.strip()
        marker = re.fullmatch(r"endTxnMarker: (\w+) coordinatorEpoch: (-?\d+)", rest)
        control = re.fullmatch(r"(\w+) (\{.*\})", rest)
        if marker:
            record["control"] = {"type": marker.group(1), "coordinatorEpoch": int(marker.group(2))}
        elif control:
            content = json.loads(control.group(2))
            record["control"] = {"version": content["version"], "data": content}
        else:
            key, _, value = rest.removeprefix("payload: ").partition(" payload: ")
            if rest.startswith("payload: "):
                key, value = "", rest.removeprefix("payload: ")
            record["key"] = json_or_text(key.removeprefix("key: ")) if key else None
            record["payload"] = json_or_text(value) if value and value != "<DELETE>" else None
        yield record


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """Our record, in the words in which the peer's can be said."""
    shown = {k: v for k, v in record.items() if k not in ("kind", "headers")}
    if "control" not in shown:
        shown.setdefault("key", None)
    elif "data" in shown["control"]:
        control = shown["control"]
        shown["control"] = {"version": control["version"], "data": control["data"]}
        shown["control"]["data"].setdefault("version", control["version"])
    return shown


CASES = {
    "g-plain-0": "data-clean/g-plain-0/00000000000000000000.log",
    "g-txn-0": "data-clean/g-txn-0/00000000000000000000.log",
    "g-compact-0": "data-clean/g-compact-0/*.log",
    "g-compact-tombstone": "g-compact-tombstone/*.log",
    "__consumer_offsets-0": "data-clean/__consumer_offsets-0/00000000000000000000.log",
    "__consumer_offsets-1": "data-clean/__consumer_offsets-1/00000000000000000000.log",
    "__consumer_offsets-2": "data-clean/__consumer_offsets-2/00000000000000000000.log",
    "__transaction_state-1": "data-clean/__transaction_state-1/00000000000000000000.log",
    "__share_group_state-1": "data-clean/__share_group_state-1/00000000000000000000.log",
    "cluster_metadata_snapshot": "data-clean/__cluster_metadata-0/00000000000000001594-0000000001.checkpoint",
    "bootstrap": "data-clean/bootstrap.checkpoint",
}


@pytest.mark.parametrize("name", CASES)
def test_batches_and_records_are_those_that_the_peer_printed(name: str) -> None:
    expected = (DUMPS / f"{name}.txt").read_text()
    printed = re.findall(r"^Dumping (?:\S*/)?(\S+)", expected, flags=re.MULTILINE)
    paths = sorted(GOLDEN.glob(CASES[name]))
    found = facts("--payloads", *(path for path in paths if path.name in printed))
    batches = list(peer_batches(expected))
    assert batches
    ours = [{k: v for k, v in fact.items() if k != "kind"} for fact in of_kind("batch", found)]
    assert ours == batches
    records = list(peer_records(expected))
    assert records
    assert [plain(record) for record in of_kind("record", found)] == records


def test_the_metadata_log_reads_as_the_peer_reads_it() -> None:
    expected = [
        json.loads(line.removeprefix("| payload: "))
        for line in (DUMPS / "cluster_metadata.txt").read_text().splitlines()
        if line.startswith("| payload: ")
    ]
    found = facts("--payloads", CLEAN / "__cluster_metadata-0" / "00000000000000000000.log")
    ours = [r["payload"] for r in of_kind("record", found) if "payload" in r]
    assert [p for p in ours if p["type"] != "NO_OP_RECORD"] == expected
    assert len(ours) > len(expected)


def test_aborted_transactions_are_those_that_the_peer_printed() -> None:
    expected = [
        {name: int(value) for name, value in WORDS.findall(line)}
        for line in (DUMPS / "g-txn-0-txnindex.txt").read_text().splitlines()
        if line.startswith("version:")
    ]
    found = of_kind(
        "abortedTransaction", facts(CLEAN / "g-txn-0" / "00000000000000000000.txnindex")
    )
    assert [{k: v for k, v in fact.items() if k != "kind"} for fact in found] == expected


def test_producers_are_those_that_the_peer_printed() -> None:
    lines = (DUMPS / "g-txn-0-snapshot.txt").read_text().splitlines()[1:]
    found = of_kind("producer", facts(CLEAN / "g-txn-0" / "00000000000000000024.snapshot"))
    for line, ours in zip(lines, found, strict=True):
        words = dict(WORDS.findall(line))
        assert ours["producerId"] == int(words["producerId"])
        assert ours["producerEpoch"] == int(words["producerEpoch"])
        assert ours["coordinatorEpoch"] == int(words["coordinatorEpoch"])
        assert ours["currentTxnFirstOffset"] == -1
        assert ours["timestamp"] == int(words["lastTimestamp"])
        if "lastOffset" in words:
            assert ours["lastOffset"] == int(words["lastOffset"])
            assert ours["lastSequence"] == int(words["lastSequence"])


# --- whole directories, damage, and the words of the command ------------------------------------


def test_every_golden_directory_passes_the_check() -> None:
    result = run("--check", CLEAN, GOLDEN / "g-java-codecs", GOLDEN / "kraft-version-0")
    assert result.exit_code == 0, result.output
    assert re.search(
        r"checked \d+ files, \d{4} batches, \d+ index entries: 0 faults", result.output
    )


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CLEAN / "g-txn-0", tmp_path / "g-txn-0"))


def flip(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 0xFF
    path.write_bytes(content)


def test_a_wrong_checksum_is_named_with_file_and_position(damaged: Path) -> None:
    log = damaged / "00000000000000000000.log"
    flip(log, 196 + 70)
    (found,) = of_kind("fault", facts("--records", log, code=1))
    assert (found["file"], found["position"]) == (str(log), 196)
    assert "checksum" in found["message"]


def test_a_torn_tail_is_a_fault_and_everything_before_it_is_shown(damaged: Path) -> None:
    log = damaged / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:-5])
    found = facts(log, code=1)
    assert len(of_kind("batch", found)) == 17
    assert len(of_kind("fault", found)) == 1


def test_an_index_entry_that_points_between_batches_is_a_fault(damaged: Path) -> None:
    (damaged / "00000000000000000000.index").write_bytes(bytes.fromhex("00000005 000000c5"))
    result = run("--check", damaged)
    assert result.exit_code == 1
    assert "no batch starts at position 197" in result.output


def test_an_index_entry_with_a_wrong_offset_is_a_fault(damaged: Path) -> None:
    (damaged / "00000000000000000000.index").write_bytes(bytes.fromhex("00000004 000000c4"))
    assert "ends at offset 5, not 4" in run("--check", damaged).output


def test_a_time_index_entry_that_lies_is_a_fault(damaged: Path) -> None:
    path = damaged / "00000000000000000000.timeindex"
    flip(path, 7)
    assert "largest timestamp" in run("--check", damaged).output


def test_a_broken_snapshot_is_a_fault(damaged: Path) -> None:
    flip(damaged / "00000000000000000024.snapshot", 20)
    result = run("--check", damaged)
    assert result.exit_code == 1
    assert "checksum is wrong" in result.output


def test_a_file_that_is_no_log_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    result = run(tmp_path / "notes.txt")
    assert result.exit_code == 1
    assert "notes.txt" in result.output


def test_a_missing_path_is_the_users_error() -> None:
    result = run("/no/such/place")
    assert result.exit_code == 2
    assert "/no/such/place" in result.output


def test_text_shows_times_sizes_and_payloads() -> None:
    result = run("--payloads", CLEAN / "g-plain-0" / "00000000000000000000.log")
    assert "batch 3..5  records 3  position 187  bytes 126  gzip" in result.output
    assert 'key="k1"' in result.output
    assert "2026-" in result.output


def test_the_peers_names_for_options_work_too() -> None:
    log = CLEAN / "g-plain-0" / "00000000000000000000.log"
    assert run("--deep-iteration", "--print-data-log", log).output == run("--payloads", log).output


def test_a_decoder_that_does_not_fit_says_so_and_goes_on() -> None:
    log = CLEAN / "g-plain-0" / "00000000000000000000.log"
    found = facts("--payloads", "--decoder", "metadata", log, code=1)
    assert len(of_kind("record", found)) == 15
    assert of_kind("fault", found)
