"""The one table of the protocol's error codes, and the exceptions of this package.

Machines and handlers pass an `ErrorCode` around as a value; an exception is raised only where bytes
are broken, where a disk fails, or where a caller asked for something that cannot be.

Invariants
  I1  A code stands in the table once. `ErrorCode(number)` finds it, an unknown number is a
      ValueError; `ErrorCode.of(number)` gives UNKNOWN_SERVER_ERROR for what a newer peer may send.
  I2  Whether to try again follows from the remedy alone.
Not here   what a client does about each remedy.
See        KIP-4, KIP-98, KIP-516, KIP-848, KIP-853, KIP-932, KIP-1071 for the families of codes.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Self


class Remedy(Enum):
    """What the one who receives an error can do about it."""

    NONE = "none"
    """Nothing helps but a human, or there is nothing to help."""
    RETRY = "retry"
    """Send the same request again a little later."""
    REFRESH_METADATA = "refresh_metadata"
    """The picture of the cluster is old: fetch it anew, then send again."""
    FIND_COORDINATOR = "find_coordinator"
    """The coordinator is elsewhere or not there yet: look it up, then send again."""
    REJOIN = "rejoin"
    """Membership was lost or moved on: take part in the group, or open the session, anew."""
    ABORT_TRANSACTION = "abort_transaction"
    """The transaction cannot commit; abort it and the producer may go on."""
    FENCED = "fenced"
    """Somebody newer took over this identity; stop."""
    FIX_REQUEST = "fix_request"
    """The request, or the right to make it, must be corrected by its author."""


_RETRIABLE = frozenset({Remedy.RETRY, Remedy.REFRESH_METADATA, Remedy.FIND_COORDINATOR})

_NONE = Remedy.NONE
_RETRY = Remedy.RETRY
_METADATA = Remedy.REFRESH_METADATA
_COORDINATOR = Remedy.FIND_COORDINATOR
_REJOIN = Remedy.REJOIN
_ABORT = Remedy.ABORT_TRANSACTION
_FENCED = Remedy.FENCED
_FIX = Remedy.FIX_REQUEST


class ErrorCode(IntEnum):
    """One error code of the protocol: its number, its name, its remedy, one sentence."""

    remedy: Remedy
    text: str

    def __new__(cls, code: int, remedy: Remedy = Remedy.NONE, text: str = "") -> Self:
        member = int.__new__(cls, code)
        member._value_ = code
        member.remedy = remedy
        member.text = text
        return member

    @property
    def retriable(self) -> bool:
        """Whether the same request may succeed later without being changed."""
        return self.remedy in _RETRIABLE

    @classmethod
    def of(cls, number: int) -> ErrorCode:
        """The code with this number; UNKNOWN_SERVER_ERROR for a number newer than this table."""
        try:
            return cls(number)
        except ValueError:
            return cls.UNKNOWN_SERVER_ERROR

    # fmt: off
    UNKNOWN_SERVER_ERROR = -1, _NONE, "The server failed in a way it has no code for."
    NONE = 0, _NONE, "All is well."
    OFFSET_OUT_OF_RANGE = 1, _NONE, "The log does not reach from or to the offset asked for."
    CORRUPT_MESSAGE = 2, _RETRY, "Records arrived with a wrong checksum, size or form."
    UNKNOWN_TOPIC_OR_PARTITION = 3, _METADATA, "No such topic or partition is known here."
    INVALID_FETCH_SIZE = 4, _FIX, "A fetch asked for an impossible number of bytes."
    LEADER_NOT_AVAILABLE = 5, _METADATA, "The partition is without a leader for the moment."
    NOT_LEADER_OR_FOLLOWER = 6, _METADATA, "This broker does not hold the role asked of it."
    REQUEST_TIMED_OUT = 7, _RETRY, "The time allowed ran out before the work was done."
    BROKER_NOT_AVAILABLE = 8, _NONE, "The broker meant is not up."
    REPLICA_NOT_AVAILABLE = 9, _METADATA, "The replica meant is not served here now."
    MESSAGE_TOO_LARGE = 10, _FIX, "A batch is larger than the topic lets in."
    STALE_CONTROLLER_EPOCH = 11, _FENCED, "A controller spoke with an epoch that has passed."
    OFFSET_METADATA_TOO_LARGE = 12, _FIX, "The note beside a committed offset is too long."
    NETWORK_EXCEPTION = 13, _METADATA, "The connection broke before an answer came."
    COORDINATOR_LOAD_IN_PROGRESS = 14, _RETRY, "The coordinator is still reading its log."
    COORDINATOR_NOT_AVAILABLE = 15, _COORDINATOR, "No broker coordinates this key yet."
    NOT_COORDINATOR = 16, _COORDINATOR, "Another broker coordinates this key."
    INVALID_TOPIC_EXCEPTION = 17, _FIX, "The topic name is not allowed for this."
    RECORD_LIST_TOO_LARGE = 18, _FIX, "The batches together outgrow one segment."
    NOT_ENOUGH_REPLICAS = 19, _RETRY, "Fewer replicas are in sync than the topic demands."
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20, _RETRY, "Appended, then too few replicas were in sync."
    INVALID_REQUIRED_ACKS = 21, _FIX, "acks is none of -1, 0 and 1."
    ILLEGAL_GENERATION = 22, _REJOIN, "The group has moved past this generation."
    INCONSISTENT_GROUP_PROTOCOL = 23, _FIX, "The member shares no protocol with its group."
    INVALID_GROUP_ID = 24, _FIX, "The group id cannot be used."
    UNKNOWN_MEMBER_ID = 25, _REJOIN, "The group does not know this member."
    INVALID_SESSION_TIMEOUT = 26, _FIX, "The session timeout is outside the broker's bounds."
    REBALANCE_IN_PROGRESS = 27, _REJOIN, "The group is sharing out its partitions anew."
    INVALID_COMMIT_OFFSET_SIZE = 28, _FIX, "The commit does not fit into one batch."
    TOPIC_AUTHORIZATION_FAILED = 29, _FIX, "The principal may not do this to the topic."
    GROUP_AUTHORIZATION_FAILED = 30, _FIX, "The principal may not do this to the group."
    CLUSTER_AUTHORIZATION_FAILED = 31, _FIX, "The principal may not do this to the cluster."
    INVALID_TIMESTAMP = 32, _FIX, "A record's time is too far from the broker's."
    UNSUPPORTED_SASL_MECHANISM = 33, _FIX, "The broker does not offer this SASL mechanism."
    ILLEGAL_SASL_STATE = 34, _FIX, "The request is out of turn in the SASL exchange."
    UNSUPPORTED_VERSION = 35, _FIX, "This version of the API is not spoken here."
    TOPIC_ALREADY_EXISTS = 36, _FIX, "The name belongs to a topic already."
    INVALID_PARTITIONS = 37, _FIX, "The number of partitions makes no sense."
    INVALID_REPLICATION_FACTOR = 38, _FIX, "The replication factor cannot be met."
    INVALID_REPLICA_ASSIGNMENT = 39, _FIX, "The replicas named cannot hold the partition."
    INVALID_CONFIG = 40, _FIX, "A setting has an unknown name or a bad value."
    NOT_CONTROLLER = 41, _RETRY, "Another node is the active controller."
    INVALID_REQUEST = 42, _FIX, "The request contradicts itself or the protocol."
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, _FIX, "The stored record format cannot do this."
    POLICY_VIOLATION = 44, _FIX, "A policy of this cluster forbids it."
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, _NONE, "A producer's batches arrived with a gap."
    DUPLICATE_SEQUENCE_NUMBER = 46, _NONE, "The producer's batch was stored before."
    INVALID_PRODUCER_EPOCH = 47, _ABORT, "A newer epoch of this producer has written."
    INVALID_TXN_STATE = 48, _FIX, "The transaction is in no state for this."
    INVALID_PRODUCER_ID_MAPPING = 49, _ABORT, "Producer id and transactional id do not match."
    INVALID_TRANSACTION_TIMEOUT = 50, _FIX, "The transaction timeout exceeds the broker's bound."
    CONCURRENT_TRANSACTIONS = 51, _RETRY, "The transaction before this one is still ending."
    TRANSACTION_COORDINATOR_FENCED = 52, _FENCED, "A newer coordinator wrote the markers."
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, _FIX, "The principal may not use the id."
    SECURITY_DISABLED = 54, _FIX, "No authorizer is configured, so there is nothing to ask."
    OPERATION_NOT_ATTEMPTED = 55, _NONE, "An earlier failure in the batch stopped this part."
    KAFKA_STORAGE_ERROR = 56, _METADATA, "The disk under the partition failed."
    LOG_DIR_NOT_FOUND = 57, _FIX, "The broker has no such log directory."
    SASL_AUTHENTICATION_FAILED = 58, _FIX, "The credentials were refused."
    UNKNOWN_PRODUCER_ID = 59, _ABORT, "The broker has forgotten this producer."
    REASSIGNMENT_IN_PROGRESS = 60, _NONE, "The partition is already on the move."
    DELEGATION_TOKEN_AUTH_DISABLED = 61, _FIX, "Delegation tokens are switched off."
    DELEGATION_TOKEN_NOT_FOUND = 62, _FIX, "No such delegation token."
    DELEGATION_TOKEN_OWNER_MISMATCH = 63, _FIX, "The token belongs to someone else."
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64, _FIX, "Tokens cannot be asked for this way."
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, _FIX, "The principal may not use the token."
    DELEGATION_TOKEN_EXPIRED = 66, _FIX, "The token's time is over."
    INVALID_PRINCIPAL_TYPE = 67, _FIX, "This kind of principal is not supported."
    NON_EMPTY_GROUP = 68, _FIX, "The group still has members."
    GROUP_ID_NOT_FOUND = 69, _FIX, "There is no such group."
    FETCH_SESSION_ID_NOT_FOUND = 70, _RETRY, "The broker dropped this fetch session."
    INVALID_FETCH_SESSION_EPOCH = 71, _RETRY, "The fetch session's epoch is not the next one."
    LISTENER_NOT_FOUND = 72, _METADATA, "The leader has no listener of the asker's name."
    TOPIC_DELETION_DISABLED = 73, _FIX, "This cluster does not let topics be deleted."
    FENCED_LEADER_EPOCH = 74, _METADATA, "The asker's leader epoch is behind the broker's."
    UNKNOWN_LEADER_EPOCH = 75, _RETRY, "The asker's leader epoch is ahead of the broker's."
    UNSUPPORTED_COMPRESSION_TYPE = 76, _FIX, "This codec cannot be used at this version."
    STALE_BROKER_EPOCH = 77, _FENCED, "The broker has registered again since."
    OFFSET_NOT_AVAILABLE = 78, _RETRY, "The new leader does not know the offset yet."
    MEMBER_ID_REQUIRED = 79, _REJOIN, "Join again with the member id given."
    PREFERRED_LEADER_NOT_AVAILABLE = 80, _METADATA, "The preferred leader cannot lead now."
    GROUP_MAX_SIZE_REACHED = 81, _NONE, "The group is full."
    FENCED_INSTANCE_ID = 82, _FENCED, "Another member took this static instance id."
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, _METADATA, "No replica allowed to lead is up."
    ELECTION_NOT_NEEDED = 84, _METADATA, "The wanted leader leads already."
    NO_REASSIGNMENT_IN_PROGRESS = 85, _NONE, "The partition is not on the move."
    GROUP_SUBSCRIBED_TO_TOPIC = 86, _FIX, "The group still reads the topic."
    INVALID_RECORD = 87, _FIX, "A record breaks a rule of its topic or batch."
    UNSTABLE_OFFSET_COMMIT = 88, _RETRY, "A transaction over these offsets is undecided."
    THROTTLING_QUOTA_EXCEEDED = 89, _RETRY, "The quota is used up for now."
    PRODUCER_FENCED = 90, _FENCED, "A newer producer has this transactional id."
    RESOURCE_NOT_FOUND = 91, _FIX, "The thing named does not exist."
    DUPLICATE_RESOURCE = 92, _FIX, "The thing was named twice, or exists."
    UNACCEPTABLE_CREDENTIAL = 93, _FIX, "The credential breaks the rules for credentials."
    INCONSISTENT_VOTER_SET = 94, _NONE, "Asker and answerer see different voters."
    INVALID_UPDATE_VERSION = 95, _FIX, "The state moved on since it was read."
    FEATURE_UPDATE_FAILED = 96, _NONE, "The feature level could not be changed."
    PRINCIPAL_DESERIALIZATION_FAILURE = 97, _NONE, "A forwarded principal cannot be read."
    SNAPSHOT_NOT_FOUND = 98, _NONE, "That snapshot is not here."
    POSITION_OUT_OF_RANGE = 99, _FIX, "The snapshot does not reach that position."
    UNKNOWN_TOPIC_ID = 100, _METADATA, "No topic with this id is known here."
    DUPLICATE_BROKER_REGISTRATION = 101, _FIX, "A live broker holds this node id."
    BROKER_ID_NOT_REGISTERED = 102, _NONE, "No broker registered under this id."
    INCONSISTENT_TOPIC_ID = 103, _METADATA, "The log on disk carries another topic id."
    INCONSISTENT_CLUSTER_ID = 104, _FIX, "The asker belongs to another cluster."
    TRANSACTIONAL_ID_NOT_FOUND = 105, _FIX, "No such transactional id is kept here."
    FETCH_SESSION_TOPIC_ID_ERROR = 106, _RETRY, "A fetch session mixed topic names and ids."
    INELIGIBLE_REPLICA = 107, _NONE, "The replica may not be in sync: down or fenced."
    NEW_LEADER_ELECTED = 108, _NONE, "The change was made, and it moved the leader."
    OFFSET_MOVED_TO_TIERED_STORAGE = 109, _NONE, "The offset is in remote storage now."
    FENCED_MEMBER_EPOCH = 110, _REJOIN, "The member fell behind its group and must start anew."
    UNRELEASED_INSTANCE_ID = 111, _REJOIN, "The instance id is still held by a live member."
    UNSUPPORTED_ASSIGNOR = 112, _FIX, "The group's server has no such assignor."
    STALE_MEMBER_EPOCH = 113, _REJOIN, "Use the epoch of the last heartbeat's answer."
    MISMATCHED_ENDPOINT_TYPE = 114, _FIX, "Asked a broker for controllers, or the reverse."
    UNSUPPORTED_ENDPOINT_TYPE = 115, _FIX, "This kind of endpoint is not known."
    UNKNOWN_CONTROLLER_ID = 116, _NONE, "No controller with this id."
    UNKNOWN_SUBSCRIPTION_ID = 117, _NONE, "The telemetry subscription changed meanwhile."
    TELEMETRY_TOO_LARGE = 118, _FIX, "The pushed metrics exceed the bound."
    INVALID_REGISTRATION = 119, _FIX, "The controller cannot accept such a registration."
    TRANSACTION_ABORTABLE = 120, _ABORT, "The transaction must be aborted, then go on."
    INVALID_RECORD_STATE = 121, _FIX, "A record was acknowledged by who does not hold it."
    SHARE_SESSION_NOT_FOUND = 122, _RETRY, "The broker dropped this share session."
    INVALID_SHARE_SESSION_EPOCH = 123, _RETRY, "The share session's epoch is not the next one."
    FENCED_STATE_EPOCH = 124, _FENCED, "A newer share coordinator has written."
    INVALID_VOTER_KEY = 125, _FIX, "Id and directory id do not name this voter."
    DUPLICATE_VOTER = 126, _FIX, "The voter is in the set already."
    VOTER_NOT_FOUND = 127, _FIX, "The voter is not in the set."
    INVALID_REGULAR_EXPRESSION = 128, _FIX, "The pattern cannot be compiled."
    REBOOTSTRAP_REQUIRED = 129, _NONE, "Forget all brokers and start from the bootstrap list."
    STREAMS_INVALID_TOPOLOGY = 130, _FIX, "The topology sent makes no sense."
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131, _FIX, "The topology's epoch makes no sense."
    STREAMS_TOPOLOGY_FENCED = 132, _FENCED, "A newer topology is in use."
    SHARE_SESSION_LIMIT_REACHED = 133, _RETRY, "The broker holds all the share sessions it may."
    # fmt: on


Code = ErrorCode
"""The short name, for `errors.Code.CORRUPT_MESSAGE`."""


class QuireError(Exception):
    """The root of everything this package raises on purpose."""


class ProtocolError(QuireError):
    """Bytes from a peer or from a log that are not what the protocol says.

    `message` says what is wrong; `where` names the message and field; `position` is the byte.
    """

    def __init__(
        self, message: str, *, where: str | None = None, position: int | None = None
    ) -> None:
        self.message = message
        self.where = where
        self.position = position
        text = message if where is None else f"{where}: {message}"
        super().__init__(text if position is None else f"{text} (at byte {position})")


class FrameSizeError(ProtocolError):
    """A frame that claims a size below zero or above the bound; the connection cannot go on."""


class UnsupportedVersionError(ProtocolError):
    """An API, or a version of it, that is not spoken here; the connection is closed."""


class StorageError(QuireError):
    """The disk, or what is on it, does not let us go on."""


class CorruptFileError(StorageError):
    """A small file (checkpoint, properties, snapshot) that cannot be what we once wrote."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        self.message = message
        super().__init__(f"{path}: {message}")


class CorruptIndexError(CorruptFileError):
    """An index that contradicts itself or its log; it can be rebuilt from the log."""


class CorruptBatchError(StorageError):
    """A record batch whose size, form or checksum is wrong; `position` counts bytes in `path`."""

    def __init__(
        self, message: str, *, path: str | None = None, position: int | None = None
    ) -> None:
        self.message = message
        self.path = path
        self.position = position
        text = message if path is None else f"{path}: {message}"
        super().__init__(text if position is None else f"{text} (at byte {position})")


class InvalidBatchError(QuireError):
    """A well-formed batch that must be refused; `code` is the answer its producer gets."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code.name}: {message}")
