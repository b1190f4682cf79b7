"""Writes the function that reads one version of one message.

Fixed-width fields that stand side by side, and the first byte of whatever follows them, are read by
one struct; everything else is a length, a check against what remains, and a slice.

A memoryview is copied into bytes first, for bytes are read much faster; records stay views of the
buffer that was given.

Invariants
  I1  Every length and count is compared with the bytes that remain before anything is made of it.
  I2  An array's element takes at least one byte, so a count is never above the bytes that remain.
  I3  The depth of the generated code is the declaration's: no input makes it go deeper.
Not here   the encoder (encoders), caching and the shape of failures (compiler).
"""

from __future__ import annotations

from struct import unpack_from

from quire.protocol.schema import Array, Field, Nested, Scalar, Variable, WireType, fields_of
from quire.protocol.source import Source, function_name


def write_decoder(cls: type, version: int, *, flexible: bool, label: str) -> Source:
    """`decode(buf, pos) -> (message, pos)` as source."""
    decoder = _Decoder(version, flexible=flexible)
    with decoder.block("def decode(buf, pos=0):"):
        decoder.line("size = len(buf)")
        if _has_records(cls, decoder):
            decoder.line("view = memoryview(buf)")
        with decoder.block("if type(buf) is memoryview:"):
            decoder.line("buf = bytes(buf)")
        with decoder.block("try:"):
            made = decoder.structure(cls)
            decoder.flush()
            decoder.line(f"return {made}, pos")
        with decoder.block("except FAILURES as failure:"):
            decoder.line(f"raise unreadable(failure, {label!r}, PATHS, pos) from None")
    return decoder


def _has_records(cls: type, source: Source) -> bool:
    for one in (*source.present(cls), *source.tagged(cls)):
        inner = one.type
        while isinstance(inner, Array):
            inner = inner.element
        if inner == Variable("records"):
            return True
        if isinstance(inner, Nested) and _has_records(inner.of, source):
            return True
    return False


class _Decoder(Source):
    in_tag = False
    """The value being read is a tagged structure itself: there, null has another form."""

    def flush(self) -> None:
        """Read the waiting run."""
        run, self.run = self.run, []
        if not run:
            return
        formats = "".join(letter for letter, _ in run)
        if formats == "B":
            self.line(f"{run[0][1]} = buf[pos]")
            self.line("pos += 1")
            return
        struct = self.struct(formats)
        unpack = f"unpack_{function_name(formats)}"
        self.constants[unpack] = struct.unpack_from
        targets = ", ".join(target for _, target in run)
        self.line(f"{targets}{',' if len(run) == 1 else ''} = {unpack}(buf, pos)")
        self.line(f"pos += {struct.size}")

    def structure(self, cls: type) -> str:
        self.in_tag = False
        made = self.fresh("o")
        self.line(f"{made} = new({self.constant(cls.__name__, cls)})")
        for one in self.absent(cls):
            self.default(one, f"{made}.{one.name}")
        for one in self.present(cls):
            with self.at(one.name):
                self.field(one, f"{made}.{one.name}")
        known = self.tagged(cls)
        for one in known:
            self.default(one, f"{made}.{one.name}")
        self.line(f"{made}.unknown_tags = ()")
        if self.flexible:
            with self.at("tags"):
                self.tags(made, known)
        return made

    def default(self, one: Field, target: str) -> None:
        """Give a field that is not there its own default."""
        default = one.options.default
        if not isinstance(default, type):
            self.line(f"{target} = {default!r}")
            return
        made = self.fresh("o")
        self.line(f"{made} = new({self.constant(default.__name__, default)})")
        for inner in fields_of(default):
            self.default(inner, f"{made}.{inner.name}")
        self.line(f"{made}.unknown_tags = ()")
        self.line(f"{target} = {made}")

    def field(self, one: Field, target: str) -> None:
        self.value(
            one.type,
            target,
            nullable=one.nullable_in(self.version),
            compact=self.flexible and one.options.compact,
        )

    def value(self, wire_type: WireType, target: str, *, nullable: bool, compact: bool) -> None:
        if isinstance(wire_type, Scalar):
            self.run.append((wire_type.format, target))
        elif isinstance(wire_type, Variable):
            self.variable(wire_type, target, nullable=nullable, compact=compact)
        elif isinstance(wire_type, Array):
            self.array(wire_type, target, nullable=nullable, compact=compact)
        elif nullable:
            head = self.fresh("n")
            self.run.append(("b", head))
            self.flush()
            with self.block(f"if {head} {'<= 0' if self.in_tag else '< 0'}:"):
                self.line(f"{target} = None")
            with self.block("else:"):
                made = self.structure(wire_type.of)
                self.flush()
                self.line(f"{target} = {made}")
        else:
            made = self.structure(wire_type.of)
            self.line(f"{target} = {made}")

    def length(self, letter: str, target: str, *, nullable: bool, compact: bool) -> str:
        """Read a length or count, one too large when it is compact, and deal with null.

        The caller's `else` for a value that is there comes next.
        """
        count = self.fresh("n")
        self.run.append(("B" if compact else letter, count))
        self.flush()
        if compact:
            with self.block(f"if {count} > 127:"):
                self.line(f"{count}, pos = read_uvarint(buf, pos - 1)")
        with self.block(f"if {count} {'== 0' if compact else '< 0'}:"):
            self.line(f"{target} = None" if nullable else "raise bad_null()")
        return count

    def variable(self, wire_type: Variable, target: str, *, nullable: bool, compact: bool) -> None:
        letter = "h" if wire_type.name == "string" else "i"
        count = self.length(letter, target, nullable=nullable, compact=compact)
        read = {
            "string": "buf[pos:end].decode()",
            "bytes": "bytes(buf[pos:end])",
            "records": "view[pos:end]",
        }[wire_type.name]
        with self.block("else:"):
            self.line(f"end = pos + {count}{' - 1' if compact else ''}")
            with self.block("if end > size:"):
                self.line("raise past_end(end - pos, size - pos)")
            self.line(f"{target} = {read}")
            self.line("pos = end")

    def array(self, wire_type: Array, target: str, *, nullable: bool, compact: bool) -> None:
        count = self.length("i", target, nullable=nullable, compact=compact)
        element = wire_type.element
        smallest = max(1, self.smallest(element, nullable=False, compact=compact))
        with self.block("else:"):
            if compact:
                self.line(f"{count} -= 1")
            with self.block(f"if {count} * {smallest} > size - pos:"):
                self.line(f"raise too_many({count}, size - pos)")
            if isinstance(element, Scalar) and element.name == "uuid":
                self.line(f"end = pos + 16 * {count}")
                self.line(f"{target} = [bytes(buf[at:at + 16]) for at in range(pos, end, 16)]")
                self.line("pos = end")
            elif isinstance(element, Scalar):
                self.constants["unpack_many"] = unpack_from
                self.line(
                    f'{target} = list(unpack_many(f">{{{count}}}{element.format}", buf, pos))'
                )
                self.line(f"pos += {element.size} * {count}")
            else:
                self.elements(element, target, count, compact=compact)

    def elements(self, element: WireType, target: str, count: str, *, compact: bool) -> None:
        items = self.fresh("items")
        self.line(f"{items} = []")
        with self.block(f"for _ in range({count}):"):
            if isinstance(element, Nested):
                made = self.structure(element.of)
            else:
                made = self.fresh("item")
                self.value(element, made, nullable=False, compact=compact)
            self.flush()
            self.line(f"{items}.append({made})")
        self.line(f"{target} = {items}")

    def tags(self, made: str, known: list[Field]) -> None:
        count = self.fresh("n")
        self.run.append(("B", count))
        self.flush()
        with self.block(f"if {count}:"):
            with self.block(f"if {count} > 127:"):
                self.line(f"{count}, pos = read_uvarint(buf, pos - 1)")
            if known:
                self.known_tags(made, known, count)
            else:
                self.line(f"{made}.unknown_tags, pos = read_tags(buf, pos, {count})")

    def known_tags(self, made: str, known: list[Field], count: str) -> None:
        tag, stop, unknown = self.fresh("tag"), self.fresh("stop"), self.fresh("unknown")
        self.line(f"{tag} = -1")
        self.line(f"{unknown} = []")
        with self.block(f"for _ in range({count}):"):
            self.line(f"{tag}, {stop}, pos = read_tag(buf, pos, {tag})")
            for position, one in enumerate(known):
                opening = "elif" if position else "if"
                with self.block(f"{opening} {tag} == {one.options.tag}:"), self.at(one.name):
                    self.in_tag = isinstance(one.type, Nested)
                    self.field(one, f"{made}.{one.name}")
                    self.in_tag = False
                    self.flush()
                    with self.block(f"if pos != {stop}:"):
                        self.line(f"raise bad_tag_size({tag}, pos - {stop})")
            with self.block("else:"):
                self.line(f"{unknown}.append(({tag}, bytes(buf[pos:{stop}])))")
                self.line(f"pos = {stop}")
        self.line(f"{made}.unknown_tags = tuple({unknown})")
