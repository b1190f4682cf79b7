"""The reference page of all settings, written from their declarations.

See        docs/reference/configs.md, which is this page; `python -m quire.config` prints it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quire.config.broker import SECTIONS
from quire.config.client_metrics import ClientMetricsSettings
from quire.config.group import GroupSettings
from quire.config.quota import AddressQuotas, ClientQuotas
from quire.config.setting import Setting, Settings
from quire.config.topic import TopicSettings
from quire.config.values import MAX_INT, MAX_LONG

INTRODUCTION = """# Settings

Made from the declarations in `src/quire/config` by `python -m quire.config`; do not edit.

Names, types, defaults and bounds are those of Apache Kafka 4.3; names that begin with `quire.` are ours alone. A node
reads its settings from a properties file. *Changes* says when a broker's setting may be altered: read-only (by a
restart), per-broker, or cluster-wide (for one broker or for all). Settings of topics, groups and clients may always be.
"""

NUMBERS = {
    str(MAX_INT): "2^31 - 1",
    str(MAX_LONG): "2^63 - 1",
    "1.7976931348623157E308": "no limit",
}
OTHERS: tuple[tuple[str, type[Settings]], ...] = (
    ("Topics", TopicSettings),
    ("Groups", GroupSettings),
    ("Client metrics", ClientMetricsSettings),
    ("Quotas of users and client ids", ClientQuotas),
    ("Quotas of addresses", AddressQuotas),
)


def reference() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for section in SECTIONS:
        title = section.__name__.removesuffix("Section")
        parts += [
            _heading(f"Node: {title.lower()}", section.__doc__),
            *_broker_table(section.declared),
        ]
    for title, settings in OTHERS:
        parts += [_heading(title, settings.__doc__), *_table(settings.declared)]
    return "\n".join(parts) + "\n"


def _heading(title: str, doc: str | None) -> str:
    return f"\n## {title}\n\n{doc}\n"


def _broker_table(declared: Mapping[str, Setting[Any]]) -> Iterator[str]:
    yield "| setting | type | default | allowed | changes | meaning |"
    yield "|---|---|---|---|---|---|"
    for one in declared.values():
        yield f"{_start(one)} {one.dynamic.value} | {_meaning(one)} |"


def _table(declared: Mapping[str, Setting[Any]]) -> Iterator[str]:
    yield "| setting | type | default | allowed | stands in | meaning |"
    yield "|---|---|---|---|---|---|"
    for one in declared.values():
        synonyms = ", ".join(f"`{synonym.name}`" for synonym in one.synonyms)
        yield f"{_start(one)} {synonyms} | {_meaning(one)} |"


def _start(one: Setting[Any]) -> str:
    allowed = NUMBERS.get(one.allowed_text, one.allowed_text)
    return f"| `{one.name}` | {one.kind.name.lower()} | {_default(one)} | {allowed} |"


def _default(one: Setting[Any]) -> str:
    if one.required:
        return "*must be set*"
    text = one.default_text
    if text is None:
        return "*unset*"
    return f"`{text}`" if text and text not in NUMBERS else NUMBERS.get(text, "*empty*")


def _meaning(one: Setting[Any]) -> str:
    return one.doc + (" *(shown only where set)*" if one.internal else "")
