"""What is asked of both systems, in this order: every API and version, in good faith, oddly and with malice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.compat.differential.case import Case, Frames, case
from tests.compat.differential.corpus import (
    cluster,
    configs,
    consumer_groups,
    controllers,
    damage,
    data,
    frames,
    groups,
    reading,
    security,
    topics,
)

from quire.broker.dispatch import BROKER_TABLE, CONTROLLER_TABLE


class Part(NamedTuple):
    """Questions to one kind of listener."""

    name: str
    questions: Sequence[Case | Frames]
    by_controller: bool = False
    settles: bool = True
    """Whether an answer may change the metadata."""


GROUP_TOPIC = case(
    "a topic for groups", lambda _: topics.create(topics.topic(groups.TOPIC, 3)), since=7
)

EVERYTHING: tuple[Case, ...] = (
    *frames.CASES, *topics.BEFORE, *configs.CASES, *security.CASES, *cluster.CASES, *data.CASES,
    *reading.CASES, *groups.CASES, *consumer_groups.CASES, *controllers.CASES, *topics.AFTER,
)  # fmt: skip

PARTS: tuple[Part, ...] = (
    Part("versions", frames.CASES, settles=False),
    Part("topics", topics.BEFORE),
    Part("settings", configs.CASES),
    Part("security", security.CASES),
    Part("cluster", cluster.CASES),
    Part("data topics", data.TOPICS),
    Part("produce", data.CASES, settles=False),
    Part("read", reading.CASES, settles=False),
    Part("group topics", [GROUP_TOPIC]),
    Part("groups", groups.CASES, settles=False),
    Part("consumer groups", consumer_groups.CASES, settles=False),
    Part("versions of the controller", frames.CASES, by_controller=True, settles=False),
    Part("topics of the controller", [*topics.BEFORE, *topics.AFTER], by_controller=True),
    Part("settings of the controller", configs.CASES, by_controller=True),
    Part("security of the controller", security.CASES, by_controller=True),
    Part("cluster of the controller", cluster.CASES, by_controller=True),
    Part("controllers", controllers.CASES, by_controller=True),
    Part("deletion", topics.AFTER),
    Part("frames", frames.FRAMES, settles=False),
    Part("frames of the controller", frames.FRAMES, by_controller=True, settles=False),
    Part("damage", damage.damaged(EVERYTHING, BROKER_TABLE), settles=False),
    Part(
        "damage of the controller",
        damage.damaged(EVERYTHING, CONTROLLER_TABLE),
        by_controller=True,
        settles=False,
    ),
)
