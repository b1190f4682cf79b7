"""Which brokers hold a new partition: replicas striped over racks and brokers from a random start.

Racks are taken in turn, and within a rack its brokers in turn, from starts that are drawn once per
topic. The first replica leads, so leaders go round the cluster; followers are shifted on every lap,
so that one broker's followers are not all on its neighbour. Brokers that are fenced are taken only
when nobody else is left, and never first.

Invariants
  I1  A partition's replicas are distinct, and the first is not fenced while anybody is not.
  I2  With at least as many racks as replicas, and no rack all fenced, a partition's replicas are in
      different racks.
  I3  In one rack, nobody fenced, the leaderships of a topic differ by at most one between brokers.
Not here   who may be used at all (controller.topics), moving what exists (controller.partitions).
See        KIP-36 (racks), KIP-631
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from quire.errors import QuireError
from quire.ports.entropy import Entropy


class UsableBroker(NamedTuple):
    """A broker that replicas may be placed on."""

    broker_id: int
    rack: str | None = None
    fenced: bool = False


class PlacementError(QuireError):
    """There are not the brokers that the placement asks for."""


class _Wheel:
    """Brokers in a ring, read from a drawn start; every full turn the reading slips by one, so that
    the same broker is not always followed by the same one.
    """

    def __init__(self, brokers: Sequence[int], start: int) -> None:
        self._brokers = sorted(brokers)
        self._start = start

    def __len__(self) -> int:
        return len(self._brokers)

    def at(self, lap: int, step: int) -> int:
        return self._brokers[(self._start + lap + step) % len(self._brokers)]


class _Rack:
    """One rack's brokers: those alive, and those fenced behind them."""

    def __init__(self, brokers: Sequence[UsableBroker], entropy: Entropy) -> None:
        alive = [one.broker_id for one in brokers if not one.fenced]
        fenced = [one.broker_id for one in brokers if one.fenced]
        self.alive = _Wheel(alive, entropy.below(len(alive)) if alive else 0)
        self.fenced = _Wheel(fenced, entropy.below(len(fenced)) if fenced else 0)


def place(
    brokers: Sequence[UsableBroker], partitions: int, replicas: int, entropy: Entropy
) -> list[list[int]]:
    """The replicas of each new partition, its preferred leader first."""
    if replicas < 1:
        raise PlacementError(f"a partition cannot have {replicas} replicas")
    alive = sum(not one.fenced for one in brokers)
    if alive == 0:
        raise PlacementError("All brokers are currently fenced.")
    if replicas > len(brokers):
        raise PlacementError(
            f"The target replication factor of {replicas} cannot be reached because only "
            f"{len(brokers)} broker(s) are registered."
        )
    names = sorted({one.rack for one in brokers}, key=lambda rack: (rack is not None, rack or ""))
    racks = [_Rack([one for one in brokers if one.rack == name], entropy) for name in names]
    leading = [rack for rack in racks if len(rack.alive)]
    first_rack = entropy.below(len(leading))
    return [_replicas(leading, racks, first_rack, index, replicas) for index in range(partitions)]


def _replicas(
    leading: Sequence[_Rack], racks: Sequence[_Rack], first_rack: int, index: int, wanted: int
) -> list[int]:
    """The leader by round robin, then one broker from each rack in turn, the living before the
    fenced, until there are enough.
    """
    leader_rack = leading[(first_rack + index) % len(leading)]
    lap = index // len(leading)
    leader = leader_rack.alive.at(lap, 0)
    start = racks.index(leader_rack)
    shift = lap // len(leader_rack.alive)
    ring = [racks[(start + step) % len(racks)] for step in range(len(racks))]
    others = ring[1:]
    if others:
        turn = shift % len(others)
        others = others[turn:] + others[:turn]
    queues = [_followers(rack, leader, lap, shift) for rack in (*others, leader_rack)]
    chosen = [leader]
    for kind in (0, 1):
        for depth in count():
            row = [queue[kind][depth] for queue in queues if depth < len(queue[kind])]
            if not row:
                break
            chosen.extend(row)
    return chosen[:wanted]


def _followers(rack: _Rack, leader: int, lap: int, shift: int) -> tuple[list[int], list[int]]:
    """A rack's brokers in the order in which they follow this leader: living, then fenced."""
    living = [rack.alive.at(lap, step) for step in range(len(rack.alive))]
    living = [one for one in living if one != leader]
    if living:
        turn = shift % len(living)
        living = living[turn:] + living[:turn]
    return living, [rack.fenced.at(lap, step) for step in range(len(rack.fenced))]
