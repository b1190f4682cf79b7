"""A thousand members of one group, each on a connection of its own: frames are made before, answers are barely read.

One thread and one selector; of an answer only the error code and the generation are looked at.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

from load.frames import frame
from load.servers import Server

from quire.errors import ErrorCode
from quire.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from quire.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

JOIN_VERSION, SYNC_VERSION = 5, 3
"""The last ones before compact strings: what is looked at stands at fixed places."""
SESSION_MS = 300_000
MARK = 0x12345678
SHARE = b"\0\0\0\0\0\1\0\6orders\0\0\0\1\0\0\0\0\0\0\0\0"
JOINED = struct.Struct(">iihi")
"""Correlation id, throttle time, error code, generation."""
SYNCED = struct.Struct(">iih")


class Connection:
    """Of one member."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = bytearray()

    def receive(self) -> bytes | None:
        """The answer, when it is whole."""
        chunk = self.socket.recv(1 << 18)
        if not chunk:
            raise ConnectionError("the server closed a connection")
        self.received += chunk
        if len(self.received) < 4:
            return None
        size = int.from_bytes(self.received[:4], "big")
        if len(self.received) < 4 + size:
            return None
        answer = bytes(self.received[4:])
        self.received.clear()
        return answer


class Members:
    """All of them; they join together, again and again."""

    def __init__(self, server: Server, group: str, count: int) -> None:
        self.group = group
        self.selector = selectors.DefaultSelector()
        self.connections = [Connection(server.port) for _ in range(count)]
        for number, one in enumerate(self.connections):
            self.selector.register(one.socket, selectors.EVENT_READ, number)
        self.turn = 0
        self.ids = [self.given_id(answer) for answer in self.exchange([self.join("")] * count)]

    def close(self) -> None:
        self.selector.close()
        for one in self.connections:
            one.socket.close()

    def rebalance(self) -> float:
        """Everybody joins with something new to say and gets a share; the seconds from first to last."""
        self.turn += 1
        joins = [self.join(one) for one in self.ids]
        syncs = [self.sync(one) for one in self.ids]
        leader = 0
        began = time.perf_counter()
        joined = self.exchange(joins)
        generations = set()
        for number, answer in enumerate(joined):
            _, _, code, generation = JOINED.unpack_from(answer)
            if code:
                raise RuntimeError(f"a member was not let in: {code}")
            generations.add(generation)
            if self.leads(answer, self.ids[number]):
                leader = number
        if len(generations) != 1:
            raise RuntimeError(f"not all are of one generation: {generations}")
        generation_bytes = generations.pop().to_bytes(4, "big")
        syncs[leader] = self.sync(self.ids[leader], self.ids)
        marked = MARK.to_bytes(4, "big")
        synced = self.exchange([one.replace(marked, generation_bytes, 1) for one in syncs])
        seconds = time.perf_counter() - began
        codes = {SYNCED.unpack_from(answer)[2] for answer in synced}
        if codes != {0}:
            raise RuntimeError(f"shares were refused: {codes}")
        if not all(answer.endswith(SHARE) for answer in synced):
            raise RuntimeError("somebody has no share")
        return seconds

    # --- inside -------------------------------------------------------------------------------

    def exchange(self, frames: Sequence[bytes]) -> list[bytes]:
        """One request of each member, and all answers."""
        for one, request in zip(self.connections, frames, strict=True):
            one.socket.sendall(request)
        answers: list[Any] = [None] * len(frames)
        missing = len(frames)
        while missing:
            events = self.selector.select(60)
            if not events:
                raise RuntimeError(f"{missing} answers do not come")
            for key, _ in events:
                answer = self.connections[key.data].receive()
                if answer is not None:
                    answers[key.data] = answer
                    missing -= 1
        return answers

    def join(self, member_id: str) -> bytes:
        protocol = JoinGroupRequestProtocol(name="range", metadata=self.turn.to_bytes(32, "big"))
        request = JoinGroupRequest(
            group_id=self.group, session_timeout_ms=SESSION_MS, rebalance_timeout_ms=SESSION_MS,
            member_id=member_id, protocol_type="consumer", protocols=[protocol],
        )  # fmt: skip
        return frame(request, JOIN_VERSION)

    def sync(self, member_id: str, sharers: Sequence[str] = ()) -> bytes:
        shares = [SyncGroupRequestAssignment(member_id=one, assignment=SHARE) for one in sharers]
        request = SyncGroupRequest(
            group_id=self.group, generation_id=MARK, member_id=member_id, assignments=shares
        )
        return frame(request, SYNC_VERSION)

    @staticmethod
    def given_id(answer: bytes) -> str:
        """The id of a member that was told to join with it."""
        _, _, code, _ = JOINED.unpack_from(answer)
        if code != ErrorCode.MEMBER_ID_REQUIRED:
            raise RuntimeError(f"no member id was given: {code}")
        at = JOINED.size
        for _ in range(2):  # the protocol and the leader
            at += 2 + int.from_bytes(answer[at : at + 2], "big")
        size = int.from_bytes(answer[at : at + 2], "big")
        return answer[at + 2 : at + 2 + size].decode()

    @staticmethod
    def leads(answer: bytes, member_id: str) -> bool:
        at = JOINED.size + 2 + int.from_bytes(answer[JOINED.size : JOINED.size + 2], "big")
        size = int.from_bytes(answer[at : at + 2], "big")
        return answer[at + 2 : at + 2 + size] == member_id.encode()
