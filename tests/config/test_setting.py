from __future__ import annotations

import pytest

from quire.config.setting import (
    CLUSTER,
    HIGH,
    ON,
    READ_ONLY,
    REQUIRED,
    Importance,
    Settings,
    boolean,
    integer,
    long,
    password,
    string,
    string_list,
)
from quire.config.values import ConfigError, Kind


class Example(Settings):
    """A few settings."""

    some_size = integer(7, HIGH, CLUSTER, at_least=5, doc="A size.")
    some_time_ms = long(None, doc="A time.")
    some_switch = boolean(ON)
    some_words = string_list(("a",), one_of=("a", "b"))
    some_secret = password(None)
    under_score = string("x", name="under_score")


class Larger(Example):
    """The same, and one that must be there."""

    node_id = integer(REQUIRED)


def test_on_its_class_a_setting_is_its_declaration() -> None:
    setting = Example.some_size
    assert (setting.name, setting.attribute) == ("some.size", "some_size")
    assert (setting.kind, setting.default, setting.doc) == (Kind.INT, 7, "A size.")
    assert (setting.importance, setting.dynamic) == (HIGH, CLUSTER)
    assert (setting.default_text, setting.allowed_text) == ("7", "at least 5")
    assert Example.some_time_ms.importance is Importance.MEDIUM
    assert Example.some_time_ms.dynamic is READ_ONLY
    assert repr(setting) == "<Setting some.size>"


def test_a_name_with_an_underscore_is_given() -> None:
    assert Example.under_score.name == "under_score"


def test_on_an_instance_a_setting_is_its_value() -> None:
    settings = Example.of({"some.size": " 9 ", "some.words": "b, a"})
    assert (settings.some_size, settings.some_time_ms) == (9, None)
    assert settings.some_words == ("b", "a")
    assert (settings.value("some.size"), settings.value("some.switch")) == (9, True)


def test_settings_are_never_changed() -> None:
    settings = Example.of({})
    with pytest.raises(AttributeError, match=r"some.size is read-only"):
        settings.some_size = 5


def test_a_class_knows_what_its_parents_declared() -> None:
    assert [*Larger.declared] == [*Example.declared, "node.id"]


def test_unknown_names_are_kept_apart_and_stop_nothing() -> None:
    assert Example.of({"made.up": "1", "some.size": "6"}).unknown == ("made.up",)


def test_a_required_setting_must_be_given() -> None:
    with pytest.raises(ConfigError, match=r"node.id must be set") as failure:
        Larger.of({})
    assert failure.value.setting == "node.id"
    assert Larger.of({"node.id": "3"}).node_id == 3


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("some.size", "4", "some.size is '4', but must be at least 5"),
        ("some.size", "x", "some.size is 'x', but must be a whole number of 32 bits"),
        ("some.words", "c", "some.words is 'c', but must be a list of a, b, without blank items"),
        ("some.words", "", "some.words is '', but must be a list of a, b"),
        ("some.switch", "on", "some.switch is 'on', but must be true or false"),
    ],
)
def test_a_refusal_names_the_setting_the_value_and_what_is_allowed(
    name: str, text: str, sentence: str
) -> None:
    with pytest.raises(ConfigError) as failure:
        Example.of({name: text})
    assert failure.value.message.startswith(sentence)
    assert failure.value.setting == name


def test_a_long_refused_value_is_shown_in_part_and_a_secret_not_at_all() -> None:
    assert len(Example.some_size.refusal("9" * 10_000, "less").message) < 200
    assert Example.some_secret.sensitive
    assert "hunter2" not in Example.some_secret.refusal("hunter2", "longer").message


def test_an_item_that_stands_twice_in_a_list_counts_once() -> None:
    assert Example.of({"some.words": "b,a,b"}).some_words == ("b", "a")
