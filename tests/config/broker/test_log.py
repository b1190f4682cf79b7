from __future__ import annotations

import pytest

from quire.config.broker import BrokerSettings
from quire.config.broker.log import FLUSH, JITTER, RETENTION, ROLL, LogSection
from quire.config.values import ConfigError


def test_every_synonym_is_a_setting_of_the_log() -> None:
    names = [one.name for one in (*RETENTION, *ROLL, *JITTER, *FLUSH)]
    assert [name for name in names if name not in LogSection.declared] == []


def test_a_segment_is_at_least_one_mebibyte() -> None:
    assert LogSection.of({"log.segment.bytes": "1048576"}).log_segment_bytes == 1 << 20
    with pytest.raises(ConfigError, match=r"log.segment.bytes is '1048575', but must be at least"):
        LogSection.of({"log.segment.bytes": "1048575"})


def test_an_empty_policy_is_a_policy() -> None:
    assert LogSection.of({"log.cleanup.policy": ""}).log_cleanup_policy == ()


@pytest.mark.parametrize(("text", "cordoned"), [("", []), ("/b", ["/b"]), ("*", ["/a", "/b"])])
def test_a_directory_is_cordoned_by_its_name_or_with_all(text: str, cordoned: list[str]) -> None:
    required = {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C"}
    settings = BrokerSettings.of({**required, "log.dirs": "/a,/b", "cordoned.log.dirs": text})
    assert [path for path in settings.log_directories if settings.is_cordoned(path)] == cordoned
