from __future__ import annotations

from tests.clients.test_offsets import answering as offsets
from tests.tools.config.test_describe import configs, entry
from tests.tools.scene import asked

from quire.clients.offsets import EARLIEST, LATEST
from quire.config.describe import Source
from quire.protocol.apis import ApiKey
from quire.tools.topic.describe import describe

SCRIPTS = {
    ApiKey.LIST_OFFSETS: offsets({EARLIEST: 10, LATEST: 100}),
    ApiKey.DESCRIBE_CONFIGS: configs(
        [
            entry("cleanup.policy", "compact", Source.TOPIC),
            entry("retention.ms", "1", Source.DEFAULT),
        ]
    ),
}


def test_a_topic_shows_its_own_settings_and_where_each_log_begins_and_ends() -> None:
    found, _ = asked(lambda cluster: describe(cluster, "t"), SCRIPTS, {"t": {0: 1, 1: 1}})
    assert found["topic"] == "t"
    assert found["settings"] == {"cleanup.policy": "compact"}
    assert [(p["partition"], p["start"], p["end"]) for p in found["partitions"]] == [
        (0, 10, 100),
        (1, 11, 101),
    ]
    assert found["partitions"][0]["leader"] == 1
