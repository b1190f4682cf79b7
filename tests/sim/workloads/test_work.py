"""How clients of a workload ask: a topic that is there, an answer or none, a line that is opened again."""

from __future__ import annotations

import asyncio

from tests.sim.scene import Scene, living

from quire.errors import ErrorCode
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.sim.nemesis import WEIGHTS
from quire.sim.workloads.work import FAULTS_WITHOUT_LOSS, Line, create_topic

ONE = {
    "transaction_state_log_replication_factor": "1",
    "transaction_state_log_min_isr": "1",
    "transaction_state_log_num_partitions": "1",
}


async def begun(line: Line) -> int:
    """Ask until there is a producer id."""
    request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=9000)
    while True:
        answer = await line.ask(request)
        if answer is not None and answer.error_code == ErrorCode.NONE:
            return int(answer.producer_epoch)
        await asyncio.sleep(0.2)


def test_a_topic_is_created_however_often_the_node_dies_meanwhile() -> None:
    async def main(scene: Scene) -> None:
        scene.life.strike(after_operations=30, loses_power=False)
        await create_topic(scene.world(), "topic", 3, {"max.message.bytes": "70000"})
        await create_topic(scene.world(), "topic", 3)
        await scene.until_serving()
        async with scene.cluster() as cluster:
            assert len((await cluster.topic("topic")).partitions) == 3

    living(main)


def test_a_line_finds_its_coordinator_and_is_opened_again_after_every_end() -> None:
    async def main(scene: Scene) -> None:
        line = Line(scene.world(), "client", "t", 1)
        assert await begun(line) == 0
        scene.life.kill(loses_power=False)
        await asyncio.sleep(0.1)
        assert await begun(line) == 1
        line.hang_up()
        assert await begun(line) == 2

    living(main, **ONE)


def test_a_question_without_an_answer_is_none_and_may_have_been_carried_out() -> None:
    async def main(scene: Scene) -> None:
        line = Line(scene.world(), "client", "t", 1)
        assert await begun(line) == 0
        scene.network.mute("b1", "clients")
        request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=9000)
        assert await line.ask(request) is None
        scene.network.unmute("b1", "clients")
        assert await begun(line) == 2

    living(main, **ONE)


def test_a_world_that_may_lose_nothing_loses_no_power_and_everything_else_may_break() -> None:
    assert set(WEIGHTS) - set(FAULTS_WITHOUT_LOSS) == {"power loss"}
