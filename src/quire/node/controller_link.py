"""The broker's way to a controller in the same process, and what the node's settings tell that controller.

Invariants
  I1  Who asks for a client sees the answer's effect afterwards: it is published on this node before the answer is
      given. The broker's own questions do not wait for that, for publishing itself may ask them.
Not here   deciding and committing (controller_host).
"""

from __future__ import annotations

from typing import Any

from quire.broker.call import Client
from quire.config.broker import BrokerSettings
from quire.controller.decision import Settings
from quire.node.controller_host import ControllerHost
from quire.node.feed import Feed

MS = 1_000


class LocalController:
    """See the module; a broker.controller_link.ControllerLink."""

    def __init__(self, host: ControllerHost, feed: Feed) -> None:
        self._host = host
        self._feed = feed

    async def ask(self, request: Any, *, version: int, client: Client | None = None) -> Any:
        """The controller's answer, once it is safe and, for a client, published here (I1)."""
        answer = await self._host.ask(request, version=version, client=client)
        if client is not None:
            await self._feed.until(self._feed.image.offset)
        return answer


def controller_settings(settings: BrokerSettings, cluster_id: str) -> Settings:
    """What the controller goes by."""
    return Settings(
        cluster_id=cluster_id,
        num_partitions=settings.num_partitions,
        default_replication_factor=settings.default_replication_factor,
        min_insync_replicas=settings.min_insync_replicas,
        unclean_leader_election_enable=settings.unclean_leader_election_enable,
        delete_topic_enable=settings.delete_topic_enable,
        broker_session_timeout_ms=settings.broker_session_timeout_ms,
        metadata_max_idle_interval_ms=settings.metadata_max_idle_interval_ms,
        auto_leader_rebalance_enable=settings.auto_leader_rebalance_enable,
        leader_imbalance_check_interval_ms=settings.leader_imbalance_check_interval_seconds * MS,
        unclean_leader_election_interval_ms=settings.unclean_leader_election_interval_ms,
    )
