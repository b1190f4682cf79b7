from __future__ import annotations

from quire.config.broker import BrokerSettings
from quire.config.group import GroupSettings


def test_a_group_and_its_broker_agree_on_type_and_default() -> None:
    for setting in GroupSettings.declared.values():
        for synonym in setting.synonyms:
            broker = BrokerSettings.declared[synonym.name]
            assert (broker.kind, broker.default) == (setting.kind, setting.default), setting


def test_three_settings_of_share_groups_have_no_broker_behind_them() -> None:
    alone = {name for name, one in GroupSettings.declared.items() if not one.synonyms}
    assert alone == {
        "share.auto.offset.reset",
        "share.isolation.level",
        "share.renew.acknowledge.enable",
    }
