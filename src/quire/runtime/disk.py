"""The real disk: one file descriptor per open file, positional system calls, POSIX locks.

Every call blocks its thread; whoever cannot wait hands it to a helper thread.

Invariants
  I1  A file's descriptor is closed exactly once: by `close`, or when its last holder lets go of it.
  I2  `flush` and `flush_directory` return only after the device was told to keep what it has.
  I3  At most one lock per file is held in this process (the system alone would grant a second
      one, and would drop the first when any descriptor of the file is closed).
Not here   what a crash takes from what was not flushed (ports.disk says it, sim.disk does it).
See        ports.disk.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import stat as file_types
from collections.abc import Sequence

from quire.ports.disk import Bytes, Stat

_MOST_BUFFERS = os.sysconf("SC_IOV_MAX") if "SC_IOV_MAX" in os.sysconf_names else 1024
_FULL_FLUSH: int | None = getattr(fcntl, "F_FULLFSYNC", None)
_CLOSED = -1

_locked: set[tuple[int, int]] = set()
"""Device and inode of every file that this process has locked (I3)."""


class RealFile:
    """A file descriptor that is read and written at positions only."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RealFile({self._path!r})"

    @property
    def path(self) -> str:
        return self._path

    def fileno(self) -> int:
        """The descriptor, for calls that take one (sendfile). It still belongs to this file."""
        if self._descriptor == _CLOSED:
            raise OSError(errno.EBADF, "the file is closed", self._path)
        return self._descriptor

    def size(self) -> int:
        return os.fstat(self.fileno()).st_size

    def read(self, position: int, size: int) -> bytes:
        descriptor = self.fileno()
        data = os.pread(descriptor, size, position)
        if len(data) == size or not data:
            return data
        parts = [data]
        missing = size - len(data)
        while missing > 0 and data:
            data = os.pread(descriptor, missing, position + size - missing)
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)

    def read_into(self, position: int, buffer: memoryview) -> int:
        descriptor = self.fileno()
        done = 0
        while done < buffer.nbytes:
            count = _pread_into(descriptor, buffer[done:], position + done)
            if count == 0:
                break
            done += count
        return done

    def write(self, position: int, buffers: Sequence[Bytes]) -> int:
        if len(buffers) == 1 and self._descriptor != _CLOSED:  # as nearly always
            total = _length(buffers[0])
            if total and os.pwrite(self._descriptor, buffers[0], position) == total:
                return total
        return self._write_all(position, buffers)

    def _write_all(self, position: int, buffers: Sequence[Bytes]) -> int:
        total = sum(map(_length, buffers))
        done = _pwrite(self.fileno(), buffers[:_MOST_BUFFERS], position) if total else 0
        if done < total:
            self._write_rest(position, buffers, done)
        return total

    def _write_rest(self, position: int, buffers: Sequence[Bytes], done: int) -> None:
        """The system took a part only: go on behind it."""
        rest: list[Bytes] = []
        skip = done
        for buffer in buffers:
            length = _length(buffer)
            if skip < length:
                rest.append(memoryview(buffer)[skip:] if skip else buffer)
            skip = max(0, skip - length)
        while rest:
            count = _pwrite(self.fileno(), rest[:_MOST_BUFFERS], position + done)
            if count == 0:
                raise OSError(errno.EIO, "the system wrote nothing", self._path)
            done += count
            while rest and count >= _length(rest[0]):
                count -= _length(rest.pop(0))
            if count:
                rest[0] = memoryview(rest[0])[count:]

    def map(self, size: int) -> memoryview:
        present = self.size()
        if not 0 < size <= present:
            reason = f"cannot map {size} bytes of a file of {present}"
            raise OSError(errno.EINVAL, reason, self._path)
        return memoryview(mmap.mmap(self.fileno(), size, access=mmap.ACCESS_READ))

    def allocate(self, size: int) -> None:
        if size <= self.size():
            return
        if hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self.fileno(), 0, size)
            except OSError as error:
                if error.errno not in {errno.EOPNOTSUPP, errno.EINVAL}:
                    raise OSError(error.errno, error.strerror, self._path) from None
            else:
                return
        os.ftruncate(self.fileno(), size)

    def truncate(self, size: int) -> None:
        os.ftruncate(self.fileno(), size)

    def flush(self) -> None:
        _flush(self.fileno())

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, _CLOSED
        if descriptor != _CLOSED:
            os.close(descriptor)


class RealLock:
    """A POSIX record lock on a whole file: the kind that a Java process takes, too."""

    __slots__ = ("_descriptor", "_identity")

    def __init__(self, descriptor: int, identity: tuple[int, int]) -> None:
        self._descriptor = descriptor
        self._identity = identity

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, _CLOSED
        if descriptor != _CLOSED:
            os.close(descriptor)
            _locked.discard(self._identity)


class RealDisk:
    """The file system of this machine."""

    __slots__ = ()

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> RealFile:
        flags = (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC
        if create:
            flags |= os.O_CREAT
        return RealFile(path, os.open(path, flags, 0o666))

    def exists(self, path: str) -> bool:
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return (
                False  # any other error says that the disk is ill, not that the name is not there
            )
        return True

    def stat(self, path: str) -> Stat:
        status = os.stat(path)
        return Stat(
            size=status.st_size,
            modified_ms=status.st_mtime_ns // 1_000_000,
            is_directory=file_types.S_ISDIR(status.st_mode),
        )

    def list(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def make_directory(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new)

    def remove(self, path: str) -> None:
        if file_types.S_ISDIR(os.lstat(path).st_mode):
            os.rmdir(path)
        else:
            os.unlink(path)

    def flush_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lock(self, path: str) -> RealLock:
        if self.exists(path) and _identity(os.stat(path)) in _locked:
            raise BlockingIOError(errno.EAGAIN, "locked by this process", path)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno in {errno.EAGAIN, errno.EACCES}:
                raise BlockingIOError(errno.EAGAIN, "locked by another process", path) from None
            raise
        identity = _identity(os.fstat(descriptor))
        _locked.add(identity)
        return RealLock(descriptor, identity)

    def free_bytes(self, path: str) -> int:
        status = os.statvfs(path)
        return status.f_bavail * status.f_frsize

    def total_bytes(self, path: str) -> int:
        status = os.statvfs(path)
        return status.f_blocks * status.f_frsize


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _length(buffer: Bytes) -> int:
    return buffer.nbytes if isinstance(buffer, memoryview) else len(buffer)


if hasattr(os, "pwritev"):

    def _pwrite(descriptor: int, buffers: Sequence[Bytes], position: int) -> int:
        if len(buffers) == 1:
            return os.pwrite(descriptor, buffers[0], position)
        return os.pwritev(descriptor, buffers, position)

    def _pread_into(descriptor: int, buffer: memoryview, position: int) -> int:
        return os.preadv(descriptor, [buffer], position)

else:

    def _pwrite(descriptor: int, buffers: Sequence[Bytes], position: int) -> int:
        return os.pwrite(descriptor, b"".join(buffers), position)

    def _pread_into(descriptor: int, buffer: memoryview, position: int) -> int:
        data = os.pread(descriptor, buffer.nbytes, position)
        buffer[: len(data)] = data
        return len(data)


def _flush(descriptor: int) -> None:
    if _FULL_FLUSH is not None:
        fcntl.fcntl(descriptor, _FULL_FLUSH)
    elif hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)
