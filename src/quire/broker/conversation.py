"""One connection of a client: bytes to requests, requests to handlers, answers back in their order.

Everything is done where the bytes arrive: a wake-up reads, decodes, handles and answers what is there, and what it
answers leaves together. Nothing is queued unless a handler says so.

    plain handler    answers now, says LATER (the next request may begin) or HOLD (it may not), or gives a coroutine
    coroutine        runs as a task; the connection holds until it returns

Invariants
  I1  Answers leave in the order of their requests, each once; a request without an answer (acks=0) leaves none.
  I2  Nothing is begun while the connection holds, is muted by a quota, has too much unsent or unanswered, or ends.
  I3  What cannot be read, or is not served here, ends the connection once all before it is answered; no other request
      is begun.
  I4  An exception of a handler is told and counted, and its client is answered: UNKNOWN_SERVER_ERROR where the response
      can say it, the end of the connection where it cannot.
  I5  What waits for a connection that has ended is expired at once.
Not here   sockets (ports.network), frames and headers (protocol.connection), who may connect (connection).
See        KIP-219 (muting), KIP-511 (versions from the future)
"""

from __future__ import annotations

import asyncio
from collections import deque
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from quire.broker.call import CLOSE, HOLD, LATER, NOTHING, Call, Client, Progress
from quire.broker.metrics import RequestFigures
from quire.broker.refusals import refused
from quire.broker.routes import Route
from quire.errors import ErrorCode, ProtocolError, UnsupportedVersionError
from quire.ports.disk import Bytes
from quire.ports.network import Stream
from quire.protocol.connection import Spoken, api_versions_refusal

if TYPE_CHECKING:
    from quire.broker.connection import Acceptor

UNSENT_BYTES_MAX: Final = 4 << 20
"""With more than this on its way out, nothing new is begun."""
UNANSWERED_MAX: Final = 500
"""As many requests may wait for their answers (`queued.max.requests` of one connection)."""
BACKLOG_MAX: Final = 64
"""With more requests than this waiting to begin, nothing more is read."""
CHOKED_SECONDS: Final = 0.05
"""How often a connection that has too much unsent is looked at."""

HELD: Final = 1
MUTED: Final = 2
CHOKED: Final = 4
ENDING: Final = 8
PARKED: Final = 16
"""Not admitted yet."""
FULL: Final = 32
"""Too many answers are waited for."""

_UNSET: Final = object()


class Turn(Call):
    """A call, and its place among the answers of its connection."""

    __slots__ = (
        "arrived_ns",
        "begun_ns",
        "connection",
        "correlation_id",
        "figures",
        "response",
        "returned_ns",
        "spoken",
        "waits",
    )

    arrived_ns: int
    begun_ns: int
    returned_ns: int
    figures: RequestFigures

    def __init__(  # the base's fields are set here: one call less on every request
        self, connection: Conversation, spoken: Spoken, correlation_id: int, client_id: str | None
    ) -> None:
        self.connection = connection
        self.client = connection.client
        self.spoken = spoken
        self.api = spoken.api
        self.version = spoken.version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.throttle_ms = 0
        self.response: Any = _UNSET
        self.waits = 0
        """HELD when its connection holds for it, FULL when it only waits."""

    def answer(self, response: Any) -> None:
        """See Call."""
        self.connection.answered(self, response)


class Conversation:
    """See the module. It is the owner of its stream."""

    __slots__ = (
        "_acceptor",
        "_backlog",
        "_framing",
        "_in_wake_up",
        "_is_paused",
        "_out",
        "_pending",
        "_stops",
        "_unmute",
        "active_ms",
        "buffer",
        "client",
        "is_dead",
        "stream",
    )

    def __init__(self, acceptor: Acceptor, stream: Stream, client: Client, active_ms: int) -> None:
        self._acceptor = acceptor
        self.stream = stream
        self.client = client
        self.active_ms = active_ms
        self._framing = acceptor.framing()
        self.buffer = self._framing.buffer
        self._backlog: deque[tuple[Bytes, int]] | None = None
        """Frames that could not be begun yet, and when they came; made when it is needed."""
        self._pending: deque[Turn] | None = None
        """Requests whose answers wait, for themselves or for those before them."""
        self._out: list[Any] = []
        self._stops = 0
        self._in_wake_up = False
        self._is_paused = False
        self._unmute: asyncio.TimerHandle | None = None
        self.is_dead = False

    def __repr__(self) -> str:
        return f"Conversation({self.client.address})"

    # --- what the stream tells ----------------------------------------------------------------

    def received(self, count: int) -> None:
        acceptor = self._acceptor
        arrived_ns = acceptor.monotonic_ns()
        self.active_ms = arrived_ns // 1_000_000
        acceptor.figures.bytes_in += count
        try:
            frames = self._framing.frames(count)
        except ProtocolError as error:
            self._refuse(error)
            return
        if self.stream.unsent_bytes > UNSENT_BYTES_MAX:
            self._choke()
        if self._backlog or self._stops:
            self._put_off(frames, arrived_ns)
        else:
            self._work(frames, arrived_ns)
        failure = self._framing.receiver.failure
        if failure is not None:
            self._refuse(failure)

    def drained(self) -> None:
        """See ports.network."""
        self._look_again()

    def closed(self, reason: Exception | None) -> None:
        self.is_dead = True
        self._stops = ENDING
        self._backlog = None
        self._out = []
        if self._unmute is not None:
            self._unmute.cancel()
        if reason is not None and not isinstance(reason, OSError):
            self._acceptor.tell(self, "failed", reason)
        waiting, self._pending = self._pending, None
        for turn in waiting or ():
            for _name, purgatory in self._acceptor.broker.waiting.all():
                purgatory.expire_all(turn)  # I5
        self._acceptor.forget(self)

    # --- what the acceptor asks ---------------------------------------------------------------

    def park(self) -> None:
        """Begin nothing, and read no more, until `admit`; the stream can be paused once it is there."""
        self._stops |= PARKED
        asyncio.get_running_loop().call_soon(self._pause_if_parked)

    def admit(self) -> None:
        """It may be served now."""
        self._stops &= ~PARKED
        self._go_on()

    def finish(self) -> None:
        """Begin nothing more; end when all that was begun is answered."""
        self._stops |= ENDING
        self._backlog = None
        self._end_when_answered()

    @property
    def unanswered(self) -> int:
        """How many requests were begun and are not answered."""
        return len(self._pending) if self._pending is not None else 0

    def check(self) -> None:
        """Assert the invariants."""
        pending = self._pending or ()
        assert not pending or pending[0].response is _UNSET  # I1: nothing ready waits
        assert not (self._is_paused and not self._stops and not self.is_dead)  # I2

    # --- requests -----------------------------------------------------------------------------

    def _work(self, frames: list[Bytes], arrived_ns: int) -> None:
        """Begin what has come, one after the other, and send what was answered meanwhile."""
        self._in_wake_up = True
        begun_ns = arrived_ns
        number = 0
        for frame in frames:
            number += 1
            begun_ns = self._begin(frame, arrived_ns, begun_ns)
            if self._stops:
                break
        self._in_wake_up = False
        out = self._out
        if out:
            self.stream.send(out)
            self._out = []
        if number < len(frames):
            self._put_off(frames[number:], arrived_ns)
        if self._stops & ENDING:
            self._end_when_answered()

    def _begin(self, frame: Bytes, arrived_ns: int, begun_ns: int) -> int:
        """Begin one request; the time when its handler was done with it."""
        acceptor = self._acceptor
        try:
            spoken, correlation_id, client_id, _, position = self._framing.parse(frame)
            route = acceptor.routes.get(spoken) or self._find(spoken, correlation_id)
            if route is None:
                return begun_ns
            turn = Turn(self, spoken, correlation_id, client_id)
            turn.request = spoken.decode_body(frame, position)[0]
        except ProtocolError as error:
            self._refuse(error)
            return begun_ns
        turn.received_ms = self.active_ms
        turn.size = len(frame)
        turn.arrived_ns = arrived_ns
        turn.begun_ns = begun_ns
        figures = turn.figures = route.figures
        figures.count += 1
        figures.bytes += len(frame)
        response: Any
        try:
            response = route.handle(acceptor.broker, turn)
        except Exception as error:  # noqa: BLE001 -- I4
            response = self._failed(turn, error)
        if response.__class__ is CoroutineType:
            acceptor.start(self._run(turn, response))
            response = HOLD
        turn.returned_ns = ended_ns = acceptor.monotonic_ns()
        if response is LATER or response is HOLD:
            if turn.response is _UNSET:
                self._await(turn, holds=response is HOLD)
                return ended_ns
            response = turn.response
        if self._pending:
            turn.response = response
            self._pending.append(turn)
        else:
            self._emit(turn, response, ended_ns)
        return ended_ns

    def _find(self, spoken: Spoken, correlation_id: int) -> Route | None:
        """The route of what was never asked before; None when it was answered, or refused, here."""
        if not spoken.is_supported:
            self._send_or_wait([api_versions_refusal(correlation_id)])
            return None
        route = self._acceptor.routes.find(spoken)
        if route is None:
            raise UnsupportedVersionError(f"API {spoken.api.name} is not served on this listener")
        return route

    async def _run(self, turn: Turn, handling: CoroutineType[Any, Any, Any]) -> None:
        try:
            response = await handling
        except Exception as error:  # noqa: BLE001 -- I4
            response = self._failed(turn, error)
        if response is not LATER:
            self.answered(turn, response)

    def _failed(self, turn: Turn, error: Exception) -> Any:
        """What becomes of a request whose handler failed (I4)."""
        acceptor = self._acceptor
        acceptor.tell(self, f"{turn.api.name} v{turn.version} failed", error)
        acceptor.broker.metrics.failed(turn.api.key, ErrorCode.UNKNOWN_SERVER_ERROR)
        try:
            return refused(turn.request, turn.version, ErrorCode.UNKNOWN_SERVER_ERROR)
        except KeyError:
            return CLOSE

    def _put_off(self, frames: list[Bytes], arrived_ns: int) -> None:
        """Keep frames until they can be begun."""
        if self._stops & ENDING:
            return
        if self._backlog is None:
            self._backlog = deque()
        self._backlog.extend((frame, arrived_ns) for frame in frames)
        if len(self._backlog) > BACKLOG_MAX or self._stops & (MUTED | CHOKED):
            self._pause()

    def _go_on(self) -> None:
        """Begin what had to wait."""
        if self.is_dead:
            return
        backlog = self._backlog
        while backlog and not self._stops:
            frame, arrived_ns = backlog.popleft()
            self._work([frame], arrived_ns)
        if not self._stops and self._is_paused:
            self._is_paused = False
            self.stream.resume_reading()

    def _pause_if_parked(self) -> None:
        if self._stops & PARKED and not self.is_dead:
            self._pause()

    def _pause(self) -> None:
        if not self._is_paused:
            self._is_paused = True
            self.stream.pause_reading()

    # --- answers ------------------------------------------------------------------------------

    def answered(self, turn: Turn, response: Any) -> None:
        """The answer of a request that waited."""
        assert turn.response is _UNSET  # I1
        turn.response = response
        if not turn.waits or self.is_dead:
            return  # its handler has not returned yet, or nobody listens
        pending = self._pending
        assert pending is not None
        now_ns = self._acceptor.monotonic_ns()
        while pending and pending[0].response is not _UNSET:
            first = pending.popleft()
            self._emit(first, first.response, now_ns)
            if self._pending is None:
                return  # it was the last one of this connection
        if turn.waits == HELD:
            self._stops &= ~HELD
        if self._stops & FULL and len(pending) < UNANSWERED_MAX:
            self._stops &= ~FULL
        if not self._stops and (self._backlog or self._is_paused):
            asyncio.get_running_loop().call_soon(self._go_on)
        elif self._stops & ENDING:
            self._end_when_answered()

    def _await(self, turn: Turn, *, holds: bool) -> None:
        if self._pending is None:
            self._pending = deque()
        self._pending.append(turn)
        turn.waits = HELD if holds else FULL
        if holds:
            self._stops |= HELD
        elif len(self._pending) >= UNANSWERED_MAX:
            self._stops |= FULL

    def _emit(self, turn: Turn, response: Any, now_ns: int) -> None:
        """Send an answer, whose turn it is."""
        if response.__class__ is Progress:
            if response is CLOSE:
                self._stops |= ENDING
                self._pending = None
                self._end_when_answered()
            else:
                assert response is NOTHING
                if turn.throttle_ms:
                    self._mute(turn, turn.throttle_ms)
        else:
            if self._acceptor.broker.quotas.active:
                self._throttle(turn, response)
            try:
                parts = turn.spoken.encode(turn.correlation_id, response)
            except ProtocolError as error:
                self._acceptor.tell(
                    self, f"{turn.api.name} v{turn.version} cannot be answered", error
                )
                self._emit(turn, CLOSE, now_ns)
                return
            if self._in_wake_up:
                self._out += parts
            else:
                self.stream.send(parts)
        figures, returned_ns = turn.figures, turn.returned_ns
        figures.queue.add(turn.begun_ns - turn.arrived_ns)
        figures.local.add(returned_ns - turn.begun_ns)
        if now_ns > returned_ns:
            figures.remote.add(now_ns - returned_ns)
        figures.total.add(now_ns - turn.arrived_ns)

    def _send_or_wait(self, parts: list[Any]) -> None:
        """Send bytes that no handler made, after all that was asked before is answered."""
        if self._pending:
            raise UnsupportedVersionError("a version from the future, behind unanswered requests")
        self._out += parts

    def _throttle(self, turn: Turn, response: Any) -> None:
        """Say and keep the quotas (KIP-219): the answer goes at once, the next request waits."""
        spent_ns = turn.returned_ns - turn.begun_ns
        throttle_ms = self._acceptor.broker.quotas.requested(self.client, turn.client_id, spent_ns)
        said_ms = getattr(response, "throttle_time_ms", None)
        if said_ms is None:
            return
        if throttle_ms > said_ms:
            response.throttle_time_ms = said_ms = throttle_ms
        if said_ms > 0:
            self._mute(turn, said_ms)

    def _mute(self, turn: Turn, duration_ms: int) -> None:
        """Begin nothing for so long."""
        turn.figures.throttle.add(duration_ms * 1_000_000)
        self._stops |= MUTED
        if self._unmute is not None:
            self._unmute.cancel()
        loop = asyncio.get_running_loop()
        self._unmute = loop.call_later(duration_ms / 1000, self._end_mute)

    def _end_mute(self) -> None:
        self._unmute = None
        self._stops &= ~MUTED
        self._go_on()

    # --- the end ------------------------------------------------------------------------------

    def _choke(self) -> None:
        """Too much is unsent: begin nothing until it has left."""
        if not self._stops & CHOKED:
            self._stops |= CHOKED
            asyncio.get_running_loop().call_later(CHOKED_SECONDS, self._look_again)

    def _look_again(self) -> None:
        if self._stops & CHOKED and not self.is_dead:
            self._stops &= ~CHOKED
            if self.stream.unsent_bytes > UNSENT_BYTES_MAX:
                self._choke()
            else:
                self._go_on()

    def _refuse(self, error: ProtocolError) -> None:
        """What came cannot be read, or is not served (I3)."""
        if not self._stops & ENDING:
            self._acceptor.broker.metrics.unreadable_requests += 1
            self._acceptor.tell(self, "refused", error)
        self.finish()

    def _end_when_answered(self) -> None:
        if not self._pending and not self._in_wake_up and not self.is_dead:
            self.stream.close()
