"""All settings of a node, one page per theme; `BrokerSettings` is all pages in one."""

from __future__ import annotations

from typing import Final

from quire.config.broker.cleaner import CleanerSection
from quire.config.broker.coordinators import CoordinatorsSection
from quire.config.broker.log import LogSection
from quire.config.broker.network import NetworkSection
from quire.config.broker.node import NodeSection
from quire.config.broker.oauth import OauthSection
from quire.config.broker.own import OwnSection
from quire.config.broker.quorum import QuorumSection
from quire.config.broker.quotas import QuotasSection
from quire.config.broker.replication import ReplicationSection
from quire.config.broker.security import SecuritySection
from quire.config.broker.share import ShareSection
from quire.config.broker.ssl import SslSection
from quire.config.broker.tiered import TieredSection
from quire.config.setting import Settings

EVERYTHING: Final = "*"


class BrokerSettings(
    NodeSection,
    NetworkSection,
    LogSection,
    CleanerSection,
    ReplicationSection,
    QuorumSection,
    CoordinatorsSection,
    ShareSection,
    QuotasSection,
    TieredSection,
    SslSection,
    SecuritySection,
    OauthSection,
    OwnSection,
):
    """Every setting of Apache Kafka 4.3's nodes, and Quire's own."""

    @property
    def log_directories(self) -> tuple[str, ...]:
        return self.log_dir if self.log_dirs is None else self.log_dirs

    def is_cordoned(self, directory: str) -> bool:
        """Whether a directory gets no new replicas."""
        return directory in self.cordoned_log_dirs or EVERYTHING in self.cordoned_log_dirs

    @property
    def metadata_log_directory(self) -> str:
        return self.log_directories[0] if self.metadata_log_dir is None else self.metadata_log_dir


SECTIONS: tuple[type[Settings], ...] = (
    NodeSection,
    NetworkSection,
    LogSection,
    CleanerSection,
    ReplicationSection,
    QuorumSection,
    CoordinatorsSection,
    ShareSection,
    QuotasSection,
    TieredSection,
    SslSection,
    SecuritySection,
    OauthSection,
    OwnSection,
)
"""The pages, in the order in which people read them."""
