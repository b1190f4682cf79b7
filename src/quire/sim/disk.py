"""A disk in memory that forgets what was not flushed, tears what was in flight, fills and breaks.

Everything it does follows from its seed. `crash` is power loss, `kill` is the end of the process
alone; both give the machine's next disk, and leave this one dead: whoever still holds it gets
SimulatedCrash.

Invariants
  I1  The same seed and the same calls give the same contents, the same errors and the same trace.
  I2  A dead disk changes nothing any more.
  I3  What counts as an operation is a call that changes something (or tries to); reading is not
      counted, for a crash during a read cannot be told from a crash before the next change.
Not here   what survives a loss (sim.page_cache), time (sim.clock).
See        ports.disk.
"""

from __future__ import annotations

import errno
import hashlib
import posixpath
import zlib
from collections.abc import Sequence

from quire.ports.clock import Clock
from quire.ports.disk import Bytes, Stat
from quire.sim.clock import SimClock
from quire.sim.entropy import SeededEntropy
from quire.sim.page_cache import DirectoryNode, FileNode, NameChange, NameEntry, Node, lose_power


class SimulatedCrash(BaseException):
    """The process ends here. Not an Exception, so that no handler outlives its process."""


class DiskTrace:
    """One short line per operation, and a digest over all of them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, line: str) -> None:
        self.lines.append(line)
        self._digest.update(line.encode() + b"\n")

    def digest(self) -> str:
        return self._digest.hexdigest()


class DiskFaults:
    """What goes wrong, and when."""

    def __init__(self, capacity_bytes: int | None = None) -> None:
        self.capacity_bytes = capacity_bytes
        self._left: int | None = None
        self._broken: list[str] = []

    def fail_after(self, *, operations: int) -> None:
        """Crash in the middle of the operation that comes after `operations` whole ones."""
        self._left = operations

    def strike_no_more(self) -> None:
        """Call the appointed crash off."""
        self._left = None

    def break_path(self, prefix: str) -> None:
        """Every call below `prefix` fails with EIO from now on."""
        self._broken.append(prefix)

    def heal_path(self, prefix: str) -> None:
        self._broken = [broken for broken in self._broken if broken != prefix]

    def check(self, path: str) -> None:
        for prefix in self._broken:
            if path == prefix or path.startswith(prefix + "/"):
                raise OSError(errno.EIO, "simulated input/output error", path)

    def strikes_now(self) -> bool:
        """Count one operation; whether the process ends in the middle of it."""
        if self._left is None:
            return False
        self._left -= 1
        return self._left < 0

    def for_next_process(self) -> DiskFaults:
        """The hardware stays as it is; the appointed crash is over."""
        faults = DiskFaults(self.capacity_bytes)
        faults._broken = list(self._broken)
        return faults


class SimProcess:
    """One life of a process on a simulated machine: what it did, what hits it, whether it lives."""

    def __init__(
        self,
        *,
        entropy: SeededEntropy,
        clock: Clock,
        faults: DiskFaults,
        trace: DiskTrace,
        used_bytes: int = 0,
    ) -> None:
        self.entropy = entropy
        self.clock = clock
        self.faults = faults
        self.trace = trace
        self.used_bytes = used_bytes
        self.operations = 0
        self._dead = False

    def next(self, used_bytes: int) -> SimProcess:
        """The process that comes after this one on the same machine."""
        self._dead = True
        return SimProcess(
            entropy=self.entropy,
            clock=self.clock,
            faults=self.faults.for_next_process(),
            trace=self.trace,
            used_bytes=used_bytes,
        )

    def check(self, path: str) -> None:
        """Nobody lives on a dead disk; nothing works below a broken path."""
        if self._dead:
            raise SimulatedCrash(f"{path} belongs to a process that is gone")
        self.faults.check(path)

    def begin(self, line: str) -> bool:
        """Count and trace one operation; whether the process ends in the middle of it."""
        self.operations += 1
        struck = self.faults.strikes_now()
        self.trace.add(f"{line} cut" if struck else line)
        return struck

    def takes_effect(self, *, struck: bool) -> bool:
        """An operation cut short was done or was not done."""
        return not struck or self.entropy.one_in(2)

    def finish(self, *, struck: bool) -> None:
        if struck:
            self.end()

    def end(self) -> None:
        self._dead = True
        raise SimulatedCrash(self.trace.lines[-1])

    def room_for(self, present: int, wanted: int) -> int:
        """How long a file of `present` bytes can get, at most `wanted`."""
        capacity = self.faults.capacity_bytes
        if capacity is None or wanted <= present:
            return wanted
        return min(wanted, present + max(0, capacity - self.used_bytes))

    def account(self, growth: int) -> None:
        self.used_bytes += growth


class SimFile:
    """One open file of a simulated disk."""

    __slots__ = ("_closed", "_node", "_path", "_process", "_writable")

    def __init__(self, process: SimProcess, path: str, node: FileNode, *, writable: bool) -> None:
        self._process = process
        self._path = path
        self._node = node
        self._writable = writable
        self._closed = False

    def __repr__(self) -> str:
        return f"SimFile({self._path!r})"

    @property
    def path(self) -> str:
        return self._path

    def size(self) -> int:
        self._check()
        return len(self._node.content)

    def read(self, position: int, size: int) -> bytes:
        self._check()
        return bytes(memoryview(self._node.content)[position : position + size])

    def read_into(self, position: int, buffer: memoryview) -> int:
        data = self.read(position, buffer.nbytes)
        buffer[: len(data)] = data
        return len(data)

    def write(self, position: int, buffers: Sequence[Bytes]) -> int:
        self._check_writable()
        data = b"".join(buffers)
        check = zlib.crc32(data)
        if self._process.begin(f"write {self._path} {position}+{len(data)} {check:08x}"):
            self._put(position, data[: self._process.entropy.below(len(data) + 1)])
            self._process.end()
        fits = self._process.room_for(len(self._node.content), position + len(data))
        if fits < position + len(data):
            self._put(position, data[: max(0, fits - position)])
            raise OSError(errno.ENOSPC, "no space left on the simulated disk", self._path)
        self._put(position, data)
        return len(data)

    def _put(self, position: int, data: bytes) -> None:
        if data:
            self._process.account(max(0, position + len(data) - len(self._node.content)))
            self._node.write(position, data)
            self._node.modified_ms = self._process.clock.wall_ms()

    def map(self, size: int) -> memoryview:
        self._check()
        present = len(self._node.content)
        if not 0 < size <= present:
            reason = f"cannot map {size} bytes of a file of {present}"
            raise OSError(errno.EINVAL, reason, self._path)
        return memoryview(bytes(memoryview(self._node.content)[:size]))

    def allocate(self, size: int) -> None:
        self._check_writable()
        present = len(self._node.content)
        struck = self._process.begin(f"allocate {self._path} {size}")
        if size > present and self._process.room_for(present, size) < size:
            raise OSError(errno.ENOSPC, "no space left on the simulated disk", self._path)
        if size > present and self._process.takes_effect(struck=struck):
            self._resize(size)
        self._process.finish(struck=struck)

    def truncate(self, size: int) -> None:
        self._check_writable()
        struck = self._process.begin(f"truncate {self._path} {size}")
        if self._process.takes_effect(struck=struck):
            self._resize(size)
        self._process.finish(struck=struck)

    def _resize(self, size: int) -> None:
        self._process.account(size - len(self._node.content))
        self._node.resize(size)
        self._node.modified_ms = self._process.clock.wall_ms()

    def flush(self) -> None:
        self._check()
        struck = self._process.begin(f"flush {self._path}")
        if self._process.takes_effect(struck=struck):
            self._node.flush()
        self._process.finish(struck=struck)

    def close(self) -> None:
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise OSError(errno.EBADF, "the file is closed", self._path)
        self._process.check(self._path)

    def _check_writable(self) -> None:
        self._check()
        if not self._writable:
            raise OSError(errno.EBADF, "the file was opened for reading", self._path)


class SimLock:
    """A claim on a path, gone with its process."""

    __slots__ = ("_locked", "_path")

    def __init__(self, locked: set[str], path: str) -> None:
        self._locked = locked
        self._path = path

    def release(self) -> None:
        self._locked.discard(self._path)


class SimDisk:
    """One machine's file system; see the module."""

    def __init__(
        self, seed: int = 0, *, clock: Clock | None = None, capacity_bytes: int | None = None
    ) -> None:
        self._process = SimProcess(
            entropy=SeededEntropy(seed),
            clock=clock if clock is not None else SimClock(),
            faults=DiskFaults(capacity_bytes),
            trace=DiskTrace(),
        )
        self._locked: set[str] = set()
        self._root = DirectoryNode()

    @property
    def faults(self) -> DiskFaults:
        """What goes wrong from now on; set it here."""
        return self._process.faults

    @property
    def trace(self) -> DiskTrace:
        """What was done since the machine was made, over all its processes."""
        return self._process.trace

    @property
    def used_bytes(self) -> int:
        """What the contents of all files take."""
        return self._process.used_bytes

    @property
    def operations(self) -> int:
        """How many operations this process began."""
        return self._process.operations

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> SimFile:
        self._process.check(path)
        parent, name = self._parent(path)
        node = parent.names.get(name)
        if node is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, "no such file", path)
            node = FileNode(self._process.clock.wall_ms())
            struck = self._process.begin(f"create {path}")
            if self._process.takes_effect(struck=struck):
                parent.change(NameEntry(NameChange(parent), added=name, node=node))
            self._process.finish(struck=struck)
        if isinstance(node, DirectoryNode):
            raise IsADirectoryError(errno.EISDIR, "is a directory", path)
        return SimFile(self._process, path, node, writable=writable)

    def exists(self, path: str) -> bool:
        self._process.check(path)
        return self._find(path) is not None

    def stat(self, path: str) -> Stat:
        self._process.check(path)
        node = self._get(path)
        if isinstance(node, DirectoryNode):
            return Stat(size=0, modified_ms=node.modified_ms, is_directory=True)
        return Stat(len(node.content), node.modified_ms, is_directory=False)

    def list(self, path: str) -> list[str]:
        self._process.check(path)
        return sorted(self._get_directory(path).names)

    def make_directory(self, path: str) -> None:
        self._process.check(path)
        directory = self._root
        for name in _names(path):
            node = directory.names.get(name)
            if node is None:
                node = DirectoryNode(self._process.clock.wall_ms())
                struck = self._process.begin(f"mkdir {path} {name}")
                if self._process.takes_effect(struck=struck):
                    directory.change(NameEntry(NameChange(directory), added=name, node=node))
                self._process.finish(struck=struck)
            if isinstance(node, FileNode):
                raise FileExistsError(errno.EEXIST, "a file is in the way", path)
            directory = node

    def rename(self, old: str, new: str) -> None:
        self._process.check(old)
        self._process.check(new)
        node = self._get(old)
        source, old_name = self._parent(old)
        target, new_name = self._parent(new)
        replaced = target.names.get(new_name)
        if replaced is node:
            return
        _check_replaceable(node, replaced, new)
        struck = self._process.begin(f"rename {old} {new}")
        if self._process.takes_effect(struck=struck):
            self._process.account(-_size(replaced))
            if source is target:
                entry = NameEntry(NameChange(source), old_name, new_name, node)
                source.change(entry)
            else:
                change = NameChange(source, target)
                source.change(NameEntry(change, removed=old_name))
                target.change(NameEntry(change, added=new_name, node=node))
        self._process.finish(struck=struck)

    def remove(self, path: str) -> None:
        self._process.check(path)
        node = self._get(path)
        parent, name = self._parent(path)
        if isinstance(node, DirectoryNode) and node.names:
            raise OSError(errno.ENOTEMPTY, "the directory is not empty", path)
        struck = self._process.begin(f"remove {path}")
        if self._process.takes_effect(struck=struck):
            self._process.account(-_size(node))
            parent.change(NameEntry(NameChange(parent), removed=name))
        self._process.finish(struck=struck)

    def flush_directory(self, path: str) -> None:
        self._process.check(path)
        directory = self._get_directory(path)
        struck = self._process.begin(f"flushdir {path}")
        if self._process.takes_effect(struck=struck):
            directory.flush()
        self._process.finish(struck=struck)

    def lock(self, path: str) -> SimLock:
        self.open(path, create=True)
        if path in self._locked:
            raise BlockingIOError(errno.EAGAIN, "locked by another process", path)
        self._locked.add(path)
        return SimLock(self._locked, path)

    def free_bytes(self, path: str) -> int:
        self._process.check(path)
        capacity = self.faults.capacity_bytes
        return 2**62 if capacity is None else max(0, capacity - self._process.used_bytes)

    def total_bytes(self, path: str) -> int:
        self._process.check(path)
        capacity = self.faults.capacity_bytes
        return 2**62 if capacity is None else capacity

    def crash(self) -> SimDisk:
        """Power loss: the disk that the machine finds when it comes back."""
        self.trace.add("crash")
        lose_power(self._root, self._process.entropy)
        return self._next_process()

    def kill(self) -> SimDisk:
        """The process ends, the machine goes on: everything written is still there, unflushed."""
        self.trace.add("kill")
        return self._next_process()

    def flip_bit(self, path: str, *, position: int, bit: int) -> None:
        """Bit rot: one bit of a file turns, on the platter too."""
        node = self._get(path)
        if not isinstance(node, FileNode):
            raise IsADirectoryError(errno.EISDIR, "is a directory", path)
        self.trace.add(f"flip {path} {position}.{bit}")
        node.flush()
        node.content[position] ^= 1 << bit
        node.durable[position] ^= 1 << bit

    def _next_process(self) -> SimDisk:
        disk = SimDisk()
        disk._root = self._root
        disk._process = self._process.next(_tree_bytes(self._root))
        return disk

    def _find(self, path: str) -> Node | None:
        node: Node | None = self._root
        for name in _names(path):
            if not isinstance(node, DirectoryNode):
                return None
            node = node.names.get(name)
        return node

    def _get(self, path: str) -> Node:
        node = self._find(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such file or directory", path)
        return node

    def _get_directory(self, path: str) -> DirectoryNode:
        node = self._get(path)
        if isinstance(node, FileNode):
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
        return node

    def _parent(self, path: str) -> tuple[DirectoryNode, str]:
        head, name = posixpath.split(path)
        return self._get_directory(head), name


def _names(path: str) -> list[str]:
    if not path.startswith("/"):
        raise ValueError(f"not an absolute path: {path!r}")
    return [name for name in path.split("/") if name]


def _size(node: Node | None) -> int:
    return len(node.content) if isinstance(node, FileNode) else 0


def _tree_bytes(directory: DirectoryNode) -> int:
    return sum(
        _tree_bytes(node) if isinstance(node, DirectoryNode) else len(node.content)
        for node in directory.names.values()
    )


def _check_replaceable(node: Node, replaced: Node | None, path: str) -> None:
    if replaced is None or (isinstance(node, FileNode) and isinstance(replaced, FileNode)):
        return
    if isinstance(replaced, DirectoryNode) and isinstance(node, DirectoryNode):
        if replaced.names:
            raise OSError(errno.ENOTEMPTY, "the directory is not empty", path)
        return
    code = errno.EISDIR if isinstance(replaced, DirectoryNode) else errno.ENOTDIR
    raise OSError(code, "a file cannot replace a directory, nor a directory a file", path)
