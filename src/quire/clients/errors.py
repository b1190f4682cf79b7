"""What can go wrong between a question and its answer.

Invariants
  I1  An answer's error code becomes an exception only where nobody can use the rest of the answer.
Not here   the codes (quire.errors): whoever retries asks `code.remedy`.
"""

from __future__ import annotations

from quire.errors import ErrorCode, QuireError


class ClientError(QuireError):
    """The cluster could not be asked."""


class DisconnectedError(ClientError):
    """The connection ended before the answer came; the request may have been carried out."""


class UnreachableError(ClientError):
    """None of the addresses answered."""


class NotSpokenError(ClientError):
    """The other side does not speak this request, or no version of it that we do."""


class AnswerError(ClientError):
    """The cluster answered with an error."""

    def __init__(self, code: int, what: str, message: str | None = None) -> None:
        self.code = ErrorCode.of(code)
        self.what = what
        detail = message or self.code.text
        super().__init__(f"{what}: {self.code.name}: {detail}")


def expect(code: int, what: str, message: str | None = None) -> None:
    """Raise AnswerError unless `code` is NONE; `what` says what was tried."""
    if code != ErrorCode.NONE:
        raise AnswerError(code, what, message)
