"""What a machine holds of its files: what everybody sees, and the part of it the platter has.

Files and directories keep a journal of the changes since their last flush. Power loss replays that
journal with losses onto what was durable; a flush empties it.

Invariants
  I1  durable + all journalled changes = content, at every moment.
  I2  What was flushed survives every loss.
  I3  Sizes change in order (a file system journals them): the surviving size is the one after
      some prefix of the changes. Bytes have no order: each write survives whole, in part, or not
      at all, and what is lost inside the surviving size reads as the old bytes, or as zeros where
      there were none.
  I4  A change of names survives as a whole or not at all; those not flushed survive in any subset.
Not here   faults, counting and the calls themselves (sim.disk).
See        ports.disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

from quire.sim.entropy import SeededEntropy


class Write(NamedTuple):
    """Bytes put at a position; the file grows to hold them."""

    position: int
    data: bytes


class Resize(NamedTuple):
    """The file made this long: cut, or grown with zeros."""

    size: int


Change: TypeAlias = Write | Resize


class Fate(Enum):
    """What power loss does to the changes of one file or directory."""

    ALL_SURVIVE = 0
    ALL_LOST = 1
    SOME_SURVIVE = 2


@dataclass(slots=True, eq=False)
class FileNode:
    """One file, however many names and holders it has."""

    modified_ms: int = 0
    content: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    changes: list[Change] = field(default_factory=list)

    def write(self, position: int, data: bytes) -> None:
        put(self.content, position, data)
        self.changes.append(Write(position, data))

    def resize(self, size: int) -> None:
        resize(self.content, size)
        self.changes.append(Resize(size))

    def flush(self) -> None:
        for change in self.changes:
            if isinstance(change, Write):
                put(self.durable, change.position, change.data)
            else:
                resize(self.durable, change.size)
        self.changes.clear()

    def lose_power(self, entropy: SeededEntropy) -> None:
        """Keep what was durable and a draw of the rest; all of that is durable now."""
        match _fate(entropy) if self.changes else Fate.ALL_LOST:
            case Fate.ALL_SURVIVE:
                self.flush()
            case Fate.SOME_SURVIVE:
                _replay_with_losses(self.durable, self.changes, entropy)
        self.changes.clear()
        self.content = bytearray(self.durable)


class NameChange:
    """Names that change together, in one directory or (a rename across) in two."""

    __slots__ = ("_survives", "awaited")

    def __init__(self, *directories: DirectoryNode) -> None:
        self.awaited = list(directories)
        self._survives: bool | None = None

    @property
    def durable(self) -> bool:
        return not self.awaited

    def survives(self, fate: Fate, entropy: SeededEntropy) -> bool:
        """Decided once, so that both directories of a rename agree."""
        if self._survives is None:
            some = fate is Fate.SOME_SURVIVE and entropy.one_in(2)
            self._survives = self.durable or fate is Fate.ALL_SURVIVE or some
        return self._survives


class NameEntry(NamedTuple):
    """What one change does to one directory: `added` gets `node`, `removed` goes."""

    change: NameChange
    removed: str | None = None
    added: str | None = None
    node: Node | None = None


@dataclass(slots=True, eq=False)
class DirectoryNode:
    """One directory: its names now, the names on the platter, and how the one became the other."""

    modified_ms: int = 0
    names: dict[str, Node] = field(default_factory=dict)
    durable: dict[str, Node] = field(default_factory=dict)
    entries: list[NameEntry] = field(default_factory=list)

    def change(self, entry: NameEntry) -> None:
        _apply(self.names, entry)
        self.entries.append(entry)

    def flush(self) -> None:
        for entry in self.entries:
            if self in entry.change.awaited:
                entry.change.awaited.remove(self)
        settled = 0
        while settled < len(self.entries) and self.entries[settled].change.durable:
            _apply(self.durable, self.entries[settled])
            settled += 1
        del self.entries[:settled]

    def lose_power(self, entropy: SeededEntropy) -> None:
        """Names first, then whatever the surviving names lead to."""
        fate = _fate(entropy) if self.entries else Fate.ALL_LOST
        for entry in self.entries:
            if entry.change.survives(fate, entropy):
                _forget_other_names(self.durable, entry)
                _apply(self.durable, entry)
        self.entries.clear()
        self.names = dict(self.durable)


Node: TypeAlias = FileNode | DirectoryNode


def lose_power(root: DirectoryNode, entropy: SeededEntropy) -> None:
    """Take from the whole tree what was not flushed, in an order that replays."""
    root.lose_power(entropy)
    for name in sorted(root.names):
        node = root.names[name]
        if isinstance(node, DirectoryNode):
            lose_power(node, entropy)
        else:
            node.lose_power(entropy)


def put(content: bytearray, position: int, data: bytes) -> None:
    """Write `data` at `position`; a gap before it reads as zeros."""
    if position > len(content):
        content.extend(bytes(position - len(content)))
    content[position : position + len(data)] = data


def resize(content: bytearray, size: int) -> None:
    """Cut, or grow with zeros."""
    if size < len(content):
        del content[size:]
    else:
        content.extend(bytes(size - len(content)))


def _fate(entropy: SeededEntropy) -> Fate:
    draw = entropy.below(4)
    return Fate(draw) if draw < 2 else Fate.SOME_SURVIVE


def _replay_with_losses(durable: bytearray, changes: list[Change], entropy: SeededEntropy) -> None:
    """I3: sizes up to a drawn moment; every write whole, in part, or not at all."""
    sizes_kept = entropy.below(len(changes) + 1)
    limit: int | None = None
    for index, change in enumerate(changes):
        size_survives = index < sizes_kept
        if isinstance(change, Resize):
            if size_survives:
                resize(durable, change.size)
            else:
                limit = change.size if limit is None else min(limit, change.size)
            continue
        position, data = change
        if size_survives and position + len(data) > len(durable):
            resize(durable, position + len(data))
        end = len(durable) if limit is None else min(limit, len(durable))
        first, last = _surviving_part(len(data), entropy)
        last = min(last, end - position)
        if first < last:
            durable[position + first : position + last] = data[first:last]


def _surviving_part(size: int, entropy: SeededEntropy) -> tuple[int, int]:
    """All of it, a first part, a last part, or nothing."""
    match entropy.below(4):
        case 0:
            return 0, size
        case 1:
            return 0, entropy.below(size + 1)
        case 2:
            return entropy.below(size + 1), size
        case _:
            return 0, 0


def _apply(names: dict[str, Node], entry: NameEntry) -> None:
    if entry.removed is not None and entry.node in {None, names.get(entry.removed)}:
        names.pop(entry.removed, None)
    if entry.added is not None and entry.node is not None:
        names[entry.added] = entry.node


def _forget_other_names(names: dict[str, Node], entry: NameEntry) -> None:
    """A rename may survive the loss of an earlier one of the same node: it still has one name."""
    for name in [name for name, node in names.items() if node is entry.node]:
        del names[name]
