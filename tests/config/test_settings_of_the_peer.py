"""Our declarations against those inside Apache Kafka's jars: every name, every fact but the sentences.

A small Java program, compiled here, tells what Kafka has declared, how it reads texts, and which
nodes it would start.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import peer
from tests.config.nodes import nodes

from quire.config.allowed import (
    GZIP_LEVEL,
    NOT_BLANK,
    OFFSET_RESET,
    SERVERS,
    THROTTLED,
    VOTERS,
    Between,
    Items,
    OneOf,
)
from quire.config.broker import BrokerSettings
from quire.config.broker.quotas import DYNAMIC_ONLY
from quire.config.broker.ssl import STORES
from quire.config.client_metrics import ClientMetricsSettings
from quire.config.group import GroupSettings
from quire.config.quota import AddressQuotas, ClientQuotas
from quire.config.setting import READ_ONLY, Setting
from quire.config.topic import TopicSettings
from quire.config.values import Kind, format_value, parse

pytestmark = pytest.mark.peer

HERE = Path(__file__).parent
TEXTS = [
    "", " ", "true", " TRUE ", "yes", "1", " 12 ", "+5", "-5", "--5", "0x1F", "1_000", "2147483648",
    "9223372036854775807", "9223372036854775808", "32768", "-32768", "1e3", "1.5", "0.5f", "1d", ".5",
    "5.", ".", "e5", "NaN", "-Infinity", "inf", "0x1p3", "0x.8p1d", "1e400", "1e-400", " a , b ,c ",
    "a,,b", ",", "a,", " x y ", "\u0661", "1L", "- 5", "1e7", "12345678.9", "0.001", "0.0001",
    "123456.789", "1.7976931348623157E308", "\u00a0 1", "a\u2003,b", "1e-5", "100", "1e22", "4.35e-7",
]  # fmt: skip
KINDS = [kind for kind in Kind if kind not in (Kind.UNKNOWN, Kind.CLASS, Kind.PASSWORD)]
PARSED = [(kind, text) for kind in KINDS for text in TEXTS]

NODES = nodes()
FORMS = {
    GZIP_LEVEL: "LambdaValidator",
    THROTTLED: "ThrottledReplicaListValidator",
    VOTERS: "ControllerQuorumVotersValidator",
    SERVERS: "ControllerQuorumBootstrapServersValidator",
    NOT_BLANK: "NonEmptyString",
    OFFSET_RESET: "Validator",
}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    jars = peer.require_jars()
    if shutil.which("javac") is None or shutil.which("java") is None:
        pytest.skip("NOT CHECKED against Apache Kafka: javac or java is not installed")
    folder = tmp_path_factory.mktemp("peer-settings")
    questions, answers = folder / "questions.json", folder / "answers.json"
    asked = {
        "parse": [(kind.name, text) for kind, text in PARSED],
        "start": [one.texts for one in NODES],
    }
    questions.write_text(json.dumps(asked))
    source = HERE / "PeerSettings.java"
    for command in (
        ["javac", "-proc:none", "-cp", f"{jars}/*", "-d", str(folder), str(source)],
        ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*:{folder}", "PeerSettings",
         str(questions), str(answers)],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(answers.read_text())
    return told


def rule_of(row: dict[str, Any]) -> object:
    """Their rule in our terms."""
    name, text = row["validator"], row["rule"]
    words = frozenset(text[text.find("[") + 1 : text.rfind("]")].split(", ")) - {""}
    if name in (None, "NonNullValidator"):
        return None
    if name == "Range":
        low, _, *high = text.strip("[]").split(",")
        return ("between", float(low), float(high[0]) if high and high[0] else None)
    if name == "ValidList":
        return ("items", words, row["may be empty"])
    if name == "ValidString":
        return ("one of", words)
    if name == "CaseInsensitiveValidString":
        return ("any case", words)
    return ("form", name)


def our_rule(setting: Setting[Any]) -> object:
    rule = setting.allowed
    if rule is None:
        return None
    if isinstance(rule, Between):
        assert rule.low is not None
        return ("between", float(rule.low), None if rule.high is None else float(rule.high))
    if isinstance(rule, Items):
        return ("items", frozenset(rule.words), rule.may_be_empty)
    if isinstance(rule, OneOf):
        return ("any case" if rule.any_case else "one of", frozenset(rule.words))
    return ("form", FORMS[rule])  # type: ignore[index]


def our_row(setting: Setting[Any]) -> dict[str, Any]:
    return {
        "type": setting.kind.name,
        "required": setting.required,
        "default": setting.default_text,
        "internal": setting.internal,
        "rule": our_rule(setting),
    }


def their_row(row: dict[str, Any]) -> dict[str, Any]:
    same = {key: row[key] for key in ("type", "required", "default", "internal")}
    return same | {"rule": rule_of(row)}


BROKER = {
    name: one
    for name, one in BrokerSettings.declared.items()
    if not name.startswith("quire.") and name not in DYNAMIC_ONLY
}


@pytest.mark.parametrize(
    ("table", "ours"),
    [
        ("broker", BROKER),
        ("topic", TopicSettings.declared),
        ("group", GroupSettings.declared),
        ("client metrics", ClientMetricsSettings.declared),
        ("client quotas", ClientQuotas.declared),
        ("address quotas", AddressQuotas.declared),
    ],
)
def test_every_setting_is_declared_as_theirs(
    theirs: dict[str, Any], table: str, ours: dict[str, Setting[Any]]
) -> None:
    expected = {name: their_row(row) for name, row in theirs[table].items()}
    assert {name: our_row(one) for name, one in ours.items()} == expected


def test_throttles_are_declared_as_theirs(theirs: dict[str, Any]) -> None:
    ours = {name: our_row(BrokerSettings.declared[name]) for name in DYNAMIC_ONLY}
    expected = {name: their_row(row) for name, row in theirs["throttles"].items()}
    assert ours == {name: row | {"internal": True} for name, row in expected.items()}


def test_settings_matter_as_much_as_theirs(theirs: dict[str, Any]) -> None:
    assert {name: one.importance.name for name, one in BROKER.items()} == {
        name: row["importance"] for name, row in theirs["broker"].items()
    }


def test_the_same_settings_are_dynamic_in_the_same_way(theirs: dict[str, Any]) -> None:
    ours = {
        name: one.dynamic.value
        for name, one in BrokerSettings.declared.items()
        if one.dynamic is not READ_ONLY
    }
    assert ours == theirs["dynamic"]
    assert sorted(STORES) == theirs["stores"]


def test_synonyms_stand_in_the_same_order_with_the_same_units(theirs: dict[str, Any]) -> None:
    broker = {
        name: [synonym.name for synonym in one.synonyms] or [name] for name, one in BROKER.items()
    }
    assert broker == theirs["broker synonyms"]
    topic = {
        name: [[synonym.name, str(synonym.factor)] for synonym in one.synonyms]
        for name, one in TopicSettings.declared.items()
        if one.synonyms
    }
    assert topic == theirs["topic synonyms"]
    group = {
        name: one.synonyms[0].name if one.synonyms else None
        for name, one in GroupSettings.declared.items()
    }
    assert {name: theirs["group synonyms"][name] for name in group} == group


def test_texts_are_read_and_written_as_theirs(theirs: dict[str, Any]) -> None:
    def ours(kind: Kind, text: str) -> str | None:
        try:
            return format_value(kind, parse(kind, text))
        except ValueError:
            return None

    assert [(kind, text, ours(kind, text)) for kind, text in PARSED] == [
        (kind, text, told) for (kind, text), told in zip(PARSED, theirs["parsed"], strict=True)
    ]


def test_nodes_start_and_stop_as_written(theirs: dict[str, Any]) -> None:
    told = zip(NODES, theirs["started"], strict=True)
    assert [one.line for one, started in told if one.starts != started] == []
