from __future__ import annotations

from typing import Any

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import update_features as features


@pytest.mark.parametrize("version", range(3))
def test_the_controller_changes_levels(version: int) -> None:
    scene = Scene()
    how: dict[str, Any] = {"upgrade_type": 2} if version >= 1 else {"allow_downgrade": True}
    one = features.FeatureUpdateKey(feature="group.version", max_version_level=0, **how)
    response = scene.ask(features.UpdateFeaturesRequest(feature_updates=[one]), version)
    assert response.error_code == ErrorCode.NONE
    assert "group.version" not in scene.broker.image.features
    assert [one.feature for one in response.results] == (["group.version"] if version < 2 else [])


def test_a_level_that_cannot_be() -> None:
    one = features.FeatureUpdateKey(feature="group.version", max_version_level=9)
    response = Scene().ask(features.UpdateFeaturesRequest(feature_updates=[one]))
    assert response.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert response.error_message
