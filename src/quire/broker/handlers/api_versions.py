"""ApiVersions: what do you speak?

Answered before anything else, on every listener. A version from the future is answered in version 0 with our range of
this API (the connection does it, for its body cannot be read).

Versions   3 the client's software, features · 4 features that begin at level 0 are listed too

Not here   which APIs there are (dispatch), which features (metadata.features), who finalized them (the image).
See        KIP-511, KIP-584
"""

from __future__ import annotations

import re
from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.dispatch import BROKER_TABLE, CONTROLLER_TABLE, NOT_ADVERTISED
from quire.config.broker.endpoints import controller_listeners
from quire.errors import ErrorCode
from quire.metadata.features import FEATURES, KRAFT_VERSION, METADATA_VERSION
from quire.protocol.apis import APIS, PRODUCE_ADVERTISED_LOWEST, ApiKey
from quire.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

NAMES_ITSELF_SINCE: Final = 3
LISTS_LEVEL_0_SINCE: Final = 4
_NAME: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?", re.ASCII)


def handle(broker: Broker, call: Call) -> ApiVersionsResponse:
    """Answer; see the module."""
    request: ApiVersionsRequest = call.request
    if call.version >= NAMES_ITSELF_SINCE:
        name, version = request.client_software_name, request.client_software_version
        if not (_NAME.fullmatch(name) and _NAME.fullmatch(version)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
        call.client.software_name, call.client.software_version = name, version
    is_controller = call.client.listener in controller_listeners(broker.layers.settings)
    image = broker.image
    levels = {
        METADATA_VERSION: image.metadata_version,
        **image.features,
        KRAFT_VERSION: broker.quorum.kraft_version,
    }
    return ApiVersionsResponse(
        error_code=ErrorCode.NONE,
        api_keys=_api_keys(is_controller=is_controller),
        supported_features=[
            SupportedFeatureKey(name=one.name, min_version=one.lowest, max_version=one.highest)
            for one in FEATURES
            if one.lowest > 0 or call.version >= LISTS_LEVEL_0_SINCE
        ],
        finalized_features_epoch=image.offset,
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in levels.items()
            if level > 0
        ],
    )


def _api_keys(*, is_controller: bool) -> list[ApiVersion]:
    table = CONTROLLER_TABLE if is_controller else BROKER_TABLE
    return [
        ApiVersion(
            api_key=key,
            min_version=PRODUCE_ADVERTISED_LOWEST if key == ApiKey.PRODUCE else APIS[key].lowest,
            max_version=APIS[key].highest_stable,
        )
        for key in sorted(table)
        if key not in NOT_ADVERTISED
    ]
