"""Sections written by hand, for `check`. Starts of functions are addresses; everything else is what the bytes say."""

import struct

ADDRESS = 0x402000
AMD64, AARCH64 = 3, 2
# In a row's info byte.
FP, SP = 0, 1


def row_info(base, words, size_code=0):
    return base | words << 1 | size_code << 5


def row(start, base, *words):
    """A row with a start and words of one byte."""
    return bytes([start, row_info(base, len(words))]) + struct.pack(f"{len(words)}b", *words)


def header(version, functions, rows, fields):
    fields = {"magic": 0xDEE2, "version": version, "flags": 1, "abi": AMD64, "fp": 0, "ra": -8, "auxiliary": 0,
              "fdes": len(functions), "fres": 1, "row_bytes": len(rows), "table_at": 0} | fields
    fields.setdefault("rows_at", fields["table_at"] + {2: 20, 3: 16}[version] * len(functions))
    return struct.pack("<HBBBbbBIIIII", fields["magic"], fields["version"], fields["flags"], fields["abi"], fields["fp"],
                       fields["ra"], fields["auxiliary"], fields["fdes"], fields["fres"], fields["row_bytes"], fields["table_at"],
                       fields["rows_at"]), fields


def v2(functions, rows, gap=0, **fields):
    """A section of version 2. A function is (start, size, offset of its rows, number of rows, info byte, block size).
    `gap` bytes are between the table and the rows."""
    head, fields = header(2, functions, rows, {"rows_at": 20 * len(functions) + gap} | fields)
    table = b""
    for start, size, offset, count, info, block in functions:
        base = ADDRESS + (len(head) + len(table) if fields["flags"] & 4 else 0)
        table += struct.pack("<iIIIBBH", start - base, size, offset, count, info, block, 0)
    return head + table + bytes(gap) + rows


def v3(functions, **fields):
    """A section of version 3 with PC-relative starts. A function is (start, size, info byte, second info byte, block size,
    a list of rows)."""
    table, rows = b"", b""
    for start, size, info, info2, block, own in functions:
        table += struct.pack("<qII", start - (ADDRESS + 28 + len(table)), size, len(rows))
        rows += struct.pack("<HBBB", len(own), info, info2, block) + b"".join(own)
    head, _ = header(3, functions, rows, {"flags": 5} | fields)
    return head + table + rows


def words(*values):
    """Consecutive words of a stack."""
    return struct.pack(f"<{len(values)}Q", *values).hex()
