"""Which implementation of the record section runs: the Cython kernel when it was built, else plain Python.

Callers write `implementation.decode_records(...)`, so a test can switch with `use`; nothing else should.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from quire.records import reference

try:
    from quire.records import kernel
except ImportError:  # no compiler was there when the package was built
    KERNEL_BUILT = False
else:
    KERNEL_BUILT = True

Name: TypeAlias = Literal["cython kernel", "pure Python"]

NAME: Name = "pure Python"
"""What `quire version` shows."""

admit_batch = reference.admit_batch
decode_records = reference.decode_records
encode_pairs = reference.encode_pairs
encode_records = reference.encode_records
murmur2 = reference.murmur2
rewrite_records = reference.rewrite_records
scan_records = reference.scan_records
OffsetTable: type[reference.OffsetTable | kernel.OffsetTable] = reference.OffsetTable


def use(name: Literal["kernel", "reference"]) -> None:
    """Run on this implementation from now on. For tests and benchmarks; ImportError without the kernel."""
    global NAME, OffsetTable  # noqa: PLW0603 # the switch is the purpose of this module
    global admit_batch, decode_records, encode_pairs, encode_records  # noqa: PLW0603
    global murmur2, rewrite_records, scan_records  # noqa: PLW0603
    if name == "kernel" and not KERNEL_BUILT:
        message = "the Cython kernel was not built"
        raise ImportError(message)
    chosen = kernel if name == "kernel" else reference
    NAME = "cython kernel" if name == "kernel" else "pure Python"
    admit_batch = chosen.admit_batch
    decode_records = chosen.decode_records
    encode_pairs = chosen.encode_pairs
    encode_records = chosen.encode_records
    murmur2 = chosen.murmur2
    rewrite_records = chosen.rewrite_records
    scan_records = chosen.scan_records
    OffsetTable = chosen.OffsetTable


if KERNEL_BUILT:
    use("kernel")
