"""Writes the function that writes one version of one message.

The function hands small `bytes` to an `append`; record batches are handed over as they are, so the
caller may join everything or send the pieces. Neighbouring fixed-width fields become one struct.

Invariants
  I1  A value that the version cannot carry is refused, unless its field is declared ignorable.
  I2  Tagged fields are written by ascending tag, and only when they differ from their default.
Not here   the decoder (decoders), caching and the shape of failures (compiler).
"""

from __future__ import annotations

from struct import pack

from quire.protocol.schema import Array, Field, Nested, Scalar, Variable, WireType
from quire.protocol.source import Source, function_name


def write_encoder(cls: type, version: int, *, flexible: bool, label: str) -> Source:
    """`encode(message, append)` as source."""
    encoder = _Encoder(version, flexible=flexible)
    with encoder.block("def encode(o, append):"):
        with encoder.block("try:"):
            encoder.structure(cls, "o")
            encoder.flush()
            encoder.line("return")
        with encoder.block("except FAILURES as failure:"):
            encoder.line(f"raise unwritable(failure, {label!r}, PATHS) from failure")
    return encoder


class _Encoder(Source):
    append = "append"
    in_tag = False
    """The value being written is a tagged structure itself: there, null has another form."""

    def flush(self, *, extra: tuple[tuple[str, str], ...] = ()) -> None:
        """Write the waiting run, with `extra` values behind it."""
        run, self.run = [*self.run, *extra], []
        if not run:
            return
        formats = "".join(letter for letter, _ in run)
        values = ", ".join(value for _, value in run)
        if formats == "B" and values == "0":
            self.line(f'{self.append}(b"\\0")')
            return
        packer = f"pack_{function_name(formats)}"
        self.constants[packer] = self.struct(formats).pack
        self.line(f"{self.append}({packer}({values}))")

    def structure(self, cls: type, name: str) -> None:
        self.in_tag = False
        for one in self.absent(cls):
            if not one.options.ignorable:
                with self.at(one.name), self.block(f"if {self.differs(one, name)}:"):
                    self.line(f'raise Malformed("version {self.version} cannot carry it")')
        for one in self.present(cls):
            with self.at(one.name):
                self.field(one, f"{name}.{one.name}")
        if self.flexible:
            with self.at("tags"):
                self.tags(cls, name)

    def differs(self, one: Field, owner: str) -> str:
        """An expression: the field holds something other than its default."""
        value = f"{owner}.{one.name}"
        if isinstance(one.type, Nested) and one.options.default is not None:
            inner = [
                self.differs(part, value)
                for part in (*self.present(one.type.of), *self.tagged(one.type.of))
            ]
            null = [f"{value} is None"] if one.nullable_in(self.version) else []
            return " or ".join([*null, *inner, f"{value}.unknown_tags"])
        if one.options.default is None:
            return f"{value} is not None"
        if isinstance(one.type, Array):
            return f"({value} is None or len({value}) != 0)"
        return f"{value} != {one.options.default!r}"

    def field(self, one: Field, value: str) -> None:
        self.value(
            one.type,
            value,
            nullable=one.nullable_in(self.version),
            compact=self.flexible and one.options.compact,
        )

    def value(self, wire_type: WireType, value: str, *, nullable: bool, compact: bool) -> None:
        if isinstance(wire_type, Scalar):
            if wire_type.name == "uuid":
                with self.block(f"if len({value}) != 16:"):
                    self.line(f"raise not_16_bytes({value})")
            self.run.append((wire_type.format, value))
            return
        held = value
        if "." in value and not (isinstance(wire_type, Nested) and not nullable):
            held = self.fresh("v")
            self.line(f"{held} = {value}")
        if not nullable:
            self.there(wire_type, held, compact=compact)
            return
        self.flush()
        with self.block(f"if {held} is None:"):
            null = _null(wire_type, compact=compact, in_tag=self.in_tag)
            self.line(f"{self.append}({null!r})")
        with self.block("else:"):
            if isinstance(wire_type, Nested):
                self.line(f'{self.append}(b"\\1")')
            self.there(wire_type, held, compact=compact)
            self.flush()

    def there(self, wire_type: WireType, held: str, *, compact: bool) -> None:
        """Write a value that is not null."""
        if isinstance(wire_type, Nested):
            self.structure(wire_type.of, held)
        elif isinstance(wire_type, Array):
            self.length("i", held, compact=compact)
            self.elements(wire_type.element, held, compact=compact)
        elif isinstance(wire_type, Variable):
            if wire_type.name == "string":
                self.line(f"{held} = {held}.encode()")
            self.length("h" if wire_type.name == "string" else "i", held, compact=compact)
            self.line(f"{self.append}({held})")

    def length(self, letter: str, held: str, *, compact: bool) -> None:
        if not compact:
            self.flush(extra=((letter, f"len({held})"),))
            return
        self.flush()
        count = self.fresh("n")
        self.line(f"{count} = len({held}) + 1")
        self.line(
            f"{self.append}(SHORT_UVARINTS[{count}] if {count} < 128 else write_uvarint({count}))"
        )

    def elements(self, element: WireType, held: str, *, compact: bool) -> None:
        if isinstance(element, Scalar) and element.name != "uuid":
            self.constants["pack_many"] = pack
            self.line(f'{self.append}(pack_many(f">{{len({held})}}{element.format}", *{held}))')
            return
        item = self.fresh("o")
        with self.block(f"for {item} in {held}:"):
            before = len(self.lines)
            self.value(element, item, nullable=False, compact=compact)
            self.flush()
            if len(self.lines) == before:
                self.line("pass")

    def tags(self, cls: type, name: str) -> None:
        known = self.tagged(cls)
        contents = "{}"
        test = f"{name}.unknown_tags"
        if known:
            contents = self.fresh("tags")
            test = f"{contents} or {test}"
            self.line(f"{contents} = {{}}")
            for one in known:
                with self.block(f"if {self.differs(one, name)}:"), self.at(one.name):
                    self.tag(one, f"{name}.{one.name}", contents)
        waiting = list(self.run)
        with self.block(f"if {test}:"):
            self.flush()
            self.line(f"{self.append}(write_tags({contents}, {name}.unknown_tags))")
        self.run = waiting
        with self.block("else:"):
            self.flush(extra=(("B", "0"),))

    def tag(self, one: Field, value: str, contents: str) -> None:
        """Write one tagged field's content aside, for its size comes first."""
        waiting, self.run = self.run, []
        outer, self.append = self.append, self.fresh("append")
        parts = self.fresh("parts")
        self.line(f"{parts} = []")
        self.line(f"{self.append} = {parts}.append")
        self.in_tag = isinstance(one.type, Nested)
        self.field(one, value)
        self.in_tag = False
        self.flush()
        self.line(f'{contents}[{one.options.tag}] = b"".join({parts})')
        self.run, self.append = waiting, outer


def _null(wire_type: WireType, *, compact: bool, in_tag: bool) -> bytes:
    if isinstance(wire_type, Nested):
        return b"\0" if in_tag else b"\xff"
    if compact:
        return b"\0"
    return b"\xff\xff" if wire_type == Variable("string") else b"\xff\xff\xff\xff"
