"""Finalized feature levels: raised and lowered, all of a request or none of it.

Invariants
  I1  A level is finalized only when every registered broker and controller supports it.
  I2  Lowering a level needs to be asked for as such; metadata.version goes back only over levels
      that changed no record, or where losing something was asked for.
  I3  ELR is switched on together with a cluster-wide min.insync.replicas, and takes those of
      single brokers away; switched off, nobody stays eligible.
Not here   kraft.version, which the quorum changes in control records (raft).
See        KIP-584, KIP-778, KIP-966, KIP-1022
"""

from __future__ import annotations

from enum import IntEnum

from quire.controller.configs import MIN_INSYNC_REPLICAS
from quire.controller.decision import Decision, Refusal, Turn
from quire.errors import ErrorCode
from quire.metadata.features import (
    ELR_VERSION,
    KRAFT_VERSION,
    METADATA_VERSION,
    is_lossy,
    refusal,
)
from quire.metadata.image import BROKER, CLUSTER_DEFAULTS
from quire.metadata.records import Message
from quire.protocol.messages import update_features as features
from quire.protocol.messages.metadata_records import (
    ClearElrRecord,
    ConfigRecord,
    FeatureLevelRecord,
)


class UpgradeType(IntEnum):
    """What a request allows to happen to a level."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


def update(turn: Turn, request: features.UpdateFeaturesRequest) -> Decision:
    """Change levels. Of a feature that is named twice the last wish counts."""
    wanted = {METADATA_VERSION: turn.image.metadata_version, **turn.image.features}
    updates = {one.feature: one for one in request.feature_updates}
    for one in updates.values():
        wanted[one.feature] = one.max_version_level
    refused = next(
        (found for one in updates.values() if (found := _refusal(turn, one, wanted)) is not None),
        None,
    )
    code, reason = (ErrorCode.NONE, None) if refused is None else (refused.code, refused.message)
    response = features.UpdateFeaturesResponse(
        throttle_time_ms=0,
        error_code=code,
        error_message=reason,
        results=[] if refused is not None else _all_done(request),
    )
    if refused is not None or request.validate_only:
        return Decision(response=response)
    now = {METADATA_VERSION: turn.image.metadata_version, **turn.image.features}
    messages: list[Message] = [
        FeatureLevelRecord(name=one.feature, feature_level=one.max_version_level)
        for one in updates.values()
        if one.feature != KRAFT_VERSION and now.get(one.feature, 0) != one.max_version_level
    ]
    if wanted.get(ELR_VERSION, 0) and not turn.image.has_elr:
        messages += elr_settings(turn)
    if turn.image.has_elr and not wanted.get(ELR_VERSION, 0):
        messages.insert(0, ClearElrRecord(topic_name=""))
    return Decision(turn.records(messages), response)


def _all_done(request: features.UpdateFeaturesRequest) -> list[features.UpdatableFeatureResult]:
    """What answers to older versions say of each feature; a refusal says nothing of single ones."""
    done = ErrorCode.NONE
    return [
        features.UpdatableFeatureResult(
            feature=one.feature, error_code=done, error_message=done.name
        )
        for one in request.feature_updates
    ]


def elr_settings(turn: Turn) -> list[Message]:
    """Features I3."""
    messages: list[Message] = [
        ConfigRecord(
            resource_type=BROKER, resource_name=resource.name, name=MIN_INSYNC_REPLICAS, value=None
        )
        for resource, settings in turn.image.configs.items()
        if resource.resource_type == BROKER and resource.name and MIN_INSYNC_REPLICAS in settings
    ]
    if MIN_INSYNC_REPLICAS not in turn.image.configs.get(CLUSTER_DEFAULTS, {}):
        messages.append(
            ConfigRecord(
                resource_type=BROKER,
                resource_name="",
                name=MIN_INSYNC_REPLICAS,
                value=str(turn.settings.min_insync_replicas),
            )
        )
    return messages


def _refusal(turn: Turn, one: features.FeatureUpdateKey, wanted: dict[str, int]) -> Refusal | None:
    name, level = one.feature, one.max_version_level
    if name == KRAFT_VERSION:
        if level == turn.settings.kraft_version:
            return None
        return Refusal(
            ErrorCode.INVALID_UPDATE_VERSION, "kraft.version is changed by the quorum itself."
        )
    kind = UpgradeType.SAFE_DOWNGRADE if one.allow_downgrade else one.upgrade_type
    if kind not in list(UpgradeType):
        return Refusal(ErrorCode.INVALID_UPDATE_VERSION, f"Unknown upgrade type {kind}.")
    reason = (
        refusal(name, level, wanted)
        or _unsupported(turn, name, level)
        or _direction_refusal(turn, name, level, UpgradeType(kind))
    )
    return None if reason is None else Refusal(ErrorCode.INVALID_UPDATE_VERSION, reason)


def _unsupported(turn: Turn, name: str, level: int) -> str | None:
    """Features I1."""
    nodes = [("Broker", one.broker_id, one.features) for one in turn.image.brokers.values()]
    nodes += [
        ("Controller", one.controller_id, one.features) for one in turn.image.controllers.values()
    ]
    for kind, node_id, ranges in nodes:
        lowest, highest = ranges.get(name, (0, 0))
        if not lowest <= level <= highest and level:
            return f"{kind} {node_id} does not support level {level} of {name}."
    return None


def _direction_refusal(turn: Turn, name: str, level: int, kind: UpgradeType) -> str | None:
    """Features I2."""
    levels = {METADATA_VERSION: turn.image.metadata_version, **turn.image.features}
    now = levels.get(name, 0)
    if level < now and kind is UpgradeType.UPGRADE:
        return f"Can't downgrade the level of {name} from {now} to {level} without asking for it."
    if level > now and kind is not UpgradeType.UPGRADE:
        return f"Can't upgrade {name} to {level} while a downgrade was asked for."
    if name == METADATA_VERSION and level < now:
        if kind is UpgradeType.UNSAFE_DOWNGRADE:
            return "Unsafe metadata downgrade is not supported."
        if is_lossy(now, level):
            return f"Going back from metadata.version {now} to {level} would lose metadata."
    return None
