"""Feature levels: which there are, which a cluster agreed on, and what each level needs.

A feature's level is finalized by a FeatureLevel record; a node announces the range it supports.
One table says for each feature its range, the level of a new cluster, and what a level asks of
other features.

Invariants
  I1  A level that `refusal` accepts lies in our own range, and what it needs is at its level.
  I2  A new cluster's levels (`default_levels`) need nothing that they do not hold themselves.
Not here   changing levels (controller.features), the level of kraft.version (raft).
See        KIP-584, KIP-778, KIP-1022, KIP-966
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

METADATA_VERSION: Final = "metadata.version"
KRAFT_VERSION: Final = "kraft.version"
TRANSACTION_VERSION: Final = "transaction.version"
GROUP_VERSION: Final = "group.version"
ELR_VERSION: Final = "eligible.leader.replicas.version"
SHARE_VERSION: Final = "share.version"
STREAMS_VERSION: Final = "streams.version"

SCRAM_LEVEL: Final = 11
NO_EPOCH_BUMP_ON_SHRINK_LEVEL: Final = 12
TRANSACTIONS_LEVEL: Final = 13
TOKENS_LEVEL: Final = 14
CONTROLLER_REGISTRATION_LEVEL: Final = 15
DIRECTORIES_LEVEL: Final = 17
ELR_LEVEL: Final = 23

METADATA_VERSIONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        7: "3.3-IV3", 8: "3.4-IV0", 9: "3.5-IV0", 10: "3.5-IV1", 11: "3.5-IV2", 12: "3.6-IV0",
        13: "3.6-IV1", 14: "3.6-IV2", 15: "3.7-IV0", 16: "3.7-IV1", 17: "3.7-IV2", 18: "3.7-IV3",
        19: "3.7-IV4", 20: "3.8-IV0", 21: "3.9-IV0", 22: "4.0-IV0", 23: "4.0-IV1", 24: "4.0-IV2",
        25: "4.0-IV3", 26: "4.1-IV0", 27: "4.1-IV1", 28: "4.2-IV0", 29: "4.2-IV1", 30: "4.3-IV0",
    }
)  # fmt: skip
"""Every level of metadata.version, with the release and iteration it stands for."""

NOT_IMAGE_CHANGING: Final = frozenset({9, 10, 12, 16, 19, 20, 21, 22, 25, 26, 27, 28, 29})
"""Levels that changed no metadata record: going back over them loses nothing."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature: its name, the levels this software supports, and what levels need."""

    name: str
    lowest: int
    highest: int
    needs: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    """Level -> the feature and level without which it cannot be."""
    since: int = 0
    """The metadata.version from which on a new cluster begins with the highest level."""


FEATURES: Final[tuple[Feature, ...]] = (
    Feature(METADATA_VERSION, 7, 30),
    Feature(ELR_VERSION, 0, 1, {1: (METADATA_VERSION, ELR_LEVEL)}, since=26),
    Feature(GROUP_VERSION, 0, 1, since=22),
    Feature(KRAFT_VERSION, 0, 1),
    Feature(SHARE_VERSION, 0, 1, since=28),
    Feature(STREAMS_VERSION, 0, 1, since=29),
    Feature(TRANSACTION_VERSION, 0, 2, since=24),
)

SUPPORTED: Final[Mapping[str, Feature]] = MappingProxyType({one.name: one for one in FEATURES})


NEWEST: Final = SUPPORTED[METADATA_VERSION].highest


def default_levels(metadata_version: int = NEWEST) -> dict[str, int]:
    """What a fresh cluster starts with, in the order its bootstrap records have."""
    return {METADATA_VERSION: metadata_version} | {
        one.name: one.highest
        for one in FEATURES[1:]
        if one.name != KRAFT_VERSION and one.since <= metadata_version
    }


def metadata_version_of(release: str) -> int | None:
    """The level of a release (`4.2`: its last) or of an iteration (`4.2-IV0`); None for others."""
    found = [
        level
        for level, name in METADATA_VERSIONS.items()
        if release in (name, name.partition("-")[0])
    ]
    return max(found, default=None)


def refusal(name: str, level: int, finalized: Mapping[str, int]) -> str | None:
    """Why this level cannot be finalized beside the others; None when it can."""
    feature = SUPPORTED.get(name)
    if feature is None:
        return f"Feature {name} is not supported."
    if level != 0 and not feature.lowest <= level <= feature.highest:
        return f"Feature {name} supports levels {feature.lowest} to {feature.highest}, not {level}."
    if level == 0 and feature.lowest > 0:
        return f"Feature {name} cannot be switched off."
    return _unmet_need({**finalized, name: level})


def _unmet_need(levels: Mapping[str, int]) -> str | None:
    for name, level in sorted(levels.items()):
        feature = SUPPORTED.get(name)
        for reached, (other, needed) in sorted(feature.needs.items() if feature else ()):
            if reached <= level and levels.get(other, 0) < needed:
                return f"{name} at level {level} needs {other} at level {needed} or above."
    return None


def is_lossy(level_before: int, level_after: int) -> bool:
    """Whether going back from one metadata.version to another forgets something in the image."""
    passed = range(level_after + 1, level_before + 1)
    return any(level not in NOT_IMAGE_CHANGING for level in passed)
