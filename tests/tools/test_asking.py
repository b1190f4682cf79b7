from __future__ import annotations

import click
import pytest

from quire.ports.network import Address
from quire.tools.asking import AddressesType, SettingError, pairs


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("localhost", (Address("localhost", 9092),)),
        ("a:1, b:2,", (Address("a", 1), Address("b", 2))),
        (":19092", (Address("127.0.0.1", 19092),)),
        ("[::1]:9093", (Address("::1", 9093),)),
        ("::1", (Address("::1", 9092),)),
    ],
)
def test_addresses_have_a_host_and_a_port_or_the_usual_one(text, addresses) -> None:
    assert AddressesType().convert(text, None, None) == addresses


@pytest.mark.parametrize("text", ["", ",", "a:b", "a:0", "a:65536"])
def test_what_is_no_address_is_refused(text) -> None:
    with pytest.raises(click.BadParameter):
        AddressesType().convert(text, None, None)


def test_settings_are_names_and_values() -> None:
    assert pairs(("a=1", "b=", "c=x=y")) == {"a": "1", "b": "", "c": "x=y"}
    with pytest.raises(SettingError, match="'retention'"):
        pairs(("retention",))
