"""A committed image reaches the rooms of a broker: in this order, which is written nowhere else.

    1  layers     the settings that the image gives this broker, judged and complained about once
    2  quotas     limits of clients
    3  replicas   logs are made, opened, set aside; roles and topics' settings change
    4  groups     coordinators of the partitions that are led now are loaded, others are left
    5  image      handlers see it: what it promises is there by now

Invariants
  I1  One publication runs at a time (feed I2), and each step sees the results of those before it.
  I2  What is refused of stored settings never stops a broker: it is told once, and the next layer counts.
Not here   when images come (feed), what the rooms make of them.
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.config.layers import BrokerLayers
from quire.metadata.delta import Touched
from quire.metadata.image import BROKER, Image
from quire.node.feed import everything
from quire.node.world import Journal

NOTHING = Touched()


class Publisher:
    """See the module."""

    def __init__(self, broker: Broker, journal: Journal) -> None:
        self._broker = broker
        self._journal = journal
        self._complained: set[str] = set()
        self._is_first = True

    async def publish(self, image: Image, touched: Touched) -> None:
        """Take the broker to `image`; `touched` is what has changed since the last one, if there was one."""
        broker = self._broker
        if self._is_first:
            self._is_first = False
            touched = everything(image)
        if touched == NOTHING:
            broker.image = image
            return
        layers = (
            layers_of(broker.layers, image, broker.node_id) if touched.configs else broker.layers
        )
        if layers is not broker.layers:
            self._complain(layers)
            broker.layers = layers
        if touched.configs or touched.quotas:
            broker.quotas.apply(image, layers)
        await broker.replicas.apply(image, touched, layers, broker.broker_epoch)
        broker.groups.apply(image, touched)
        broker.image = image

    def _complain(self, layers: BrokerLayers) -> None:
        """I2."""
        for problem in layers.problems:
            if problem.message not in self._complained:
                self._complained.add(problem.message)
                self._journal.say("config", problem.setting or "", f"ignored: {problem.message}")


def layers_of(before: BrokerLayers, image: Image, node_id: int) -> BrokerLayers:
    """The broker's layers under an image; the same object when nothing of them has changed."""
    cluster, own = image.config(BROKER, ""), image.config(BROKER, str(node_id))
    if (before.cluster, before.broker) == (cluster, own):
        return before
    return before.with_dynamic(cluster=cluster, broker=own)
