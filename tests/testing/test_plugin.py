"""testing.plugin: a project that has Quire installed has its fixtures, alone and under pytest-xdist."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

PROJECT = """
    import asyncio
    import pytest
    from quire.clients.cluster import Cluster
    from quire.ports.network import Address
    from quire.runtime.network import RealNetwork

    SEEN = set()

    def leaders(cluster, name):
        async def ask():
            address = Address("127.0.0.1", cluster.port)
            async with Cluster(RealNetwork(), [address]) as asked:
                topic = await asked.topic(name)
                return [one.leader_id for one in topic.partitions]
        return asyncio.run(ask())

    @pytest.mark.parametrize("number", range(6))
    def test_every_test_has_a_topic_of_its_own(quire_cluster, quire_topic, number):
        assert quire_topic not in SEEN
        SEEN.add(quire_topic)
        assert quire_cluster.topics() == [quire_topic]
        assert leaders(quire_cluster, quire_topic) == [1]

    def test_a_test_may_delete_its_topic(quire_cluster, quire_topic):
        quire_cluster.delete_topic(quire_topic)
"""


def test_the_fixtures_are_just_there(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PROJECT)
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=7)


def test_workers_have_clusters_of_their_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PROJECT)
    pytester.runpytest_subprocess("-q", "-n", "2").assert_outcomes(passed=7)


def test_a_project_may_give_settings(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def quire_settings():
            return {"num.partitions": "4"}
        """
    )
    pytester.makepyfile(
        """
        def test_partitions(quire_cluster):
            quire_cluster.create_topic("t", partitions=-1)
            assert quire_cluster.topics() == ["t"]
        """
    )
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_nothing_is_imported_for_a_project_that_does_not_ask(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing():
            assert not [one for one in sys.modules if one.startswith(("quire.node", "quire.broker"))]
        """
    )
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=1)
