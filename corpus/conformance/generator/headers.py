"""Vectors about the preamble and the header."""

from clauses import versions
from machines import AARCH64, AMD64, ARM, BY_VERSION, S390X, Machine
from section import FRAME_POINTER, PCREL, SORTED, Function, Section, fp, relative, sp
from shapes import CODE, entry_offset, leaf, pair, prologue
from vector import DIFFERING, MALFORMED, Vector
from assemble import assemble

# In the first folder of each version there is a complete section, so that a reader with another layout fails there.
HAND = {
    "amd64": [
        (CODE, "r7+8 *(cfa-8) unchanged"),
        (CODE + 1, "r7+16 *(cfa-8) *(cfa-16)"),
        (CODE + 3, "r7+16 *(cfa-8) *(cfa-16)"),
        (CODE + 4, "r6+16 *(cfa-8) *(cfa-16)"),
        (CODE + 30, "r6+16 *(cfa-8) *(cfa-16)"),
        (CODE + 31, "r7+8 *(cfa-8) unchanged"),
        (CODE + 32, None),
        (CODE - 1, None),
        (CODE + 0x40, "r7+8 *(cfa-8) unchanged"),
        (CODE + 0x50, None),
    ],
    "aarch64": [
        (CODE, "r31+0 unchanged unchanged"),
        (CODE + 3, "r31+0 unchanged unchanged"),
        (CODE + 4, "r31+16 *(cfa-8) *(cfa-16)"),
        (CODE + 8, "r29+32 *(cfa-8) *(cfa-16)"),
        (CODE + 27, "r29+32 *(cfa-8) *(cfa-16)"),
        (CODE + 28, "r31+0 unchanged unchanged"),
        (CODE + 32, None),
    ],
    "s390x": [
        (CODE, "r15+160 unchanged unchanged"),
        (CODE + 6, "r15+160 *(cfa-48) *(cfa-72)"),
        (CODE + 12, "r15+320 *(cfa-48) *(cfa-72)"),
        (CODE + 16, "r11+320 *(cfa-48) *(cfa-72)"),
        (CODE + 28, "r15+160 unchanged unchanged"),
        (CODE + 32, None),
    ],
}
HAND["aarch64_be"] = HAND["aarch64"]


def preamble(version):
    for machine in BY_VERSION[version]:
        yield Vector(
            "preamble",
            f"complete-{machine.name}",
            "A complete section: a function with a prologue, a gap, and a leaf",
            pair(version, machine),
            hand=HAND[machine.name],
        )
    machine = AMD64
    section = pair(version, machine)
    data, _ = assemble(section)
    for length in (0, 1, 3, 4, 27):
        yield Vector(
            "preamble",
            f"truncated-{length}",
            f"The first {length} bytes of a section",
            section,
            kind=MALFORMED,
            reason="The header has 28 bytes.",
            data=data[:length],
        )
    for name, magic in (("zero", b"\0\0"), ("elf", b"\x7fE"), ("one-bit", b"\xe2\xdf"), ("halves", b"\xde\xde")):
        yield Vector(
            "preamble",
            f"magic-{name}",
            "Another magic number",
            section,
            kind=MALFORMED,
            reason="The magic number is 0xdee2 in the section's byte order.",
            data=magic + data[2:],
        )


def endianness(version):
    """Fields of two, four and eight bytes whose halves differ, in both byte orders."""
    for machine in BY_VERSION[version]:
        base = entry_offset(machine)
        step = 8 if machine.name == "s390x" else 1
        rows = [sp(0, base, size=2), sp(0x0104, base + 0x0208 * step, size=2), sp(0x0208, base + 0x0108, size=2)]
        wide = [sp(0, base, size=4), sp(0x0001_0204, base + 0x0001_0208 * step, size=4)]
        functions = [Function(CODE, 0x0310, rows, width=2), Function(0x51_0000, 0x0002_0304, wide, width=4)]
        yield Vector(
            "endianness",
            f"wide-fields-{machine.name}",
            "Fields of several bytes, none of which is the same backwards",
            Section(version, machine, functions),
        )
    for machine in (AMD64, ARM[1]):
        section = pair(version, machine)
        data, _ = assemble(section)
        yield Vector(
            "endianness",
            f"magic-backwards-{machine.name}",
            "The magic number in one byte order, everything else in the other",
            section,
            kind=MALFORMED,
            reason="The magic number determines the byte order; read that way, the tables are outside the section.",
            data=data[1::-1] + data[2:],
        )


def version_numbers(version):
    section = pair(version, AMD64)
    data, _ = assemble(section)
    for number in (0, 4, 5, 0x12, 0x80 | version, 255):
        yield Vector(
            "version",
            f"number-{number}",
            f"Version {number}",
            section,
            kind=MALFORMED,
            reason="The specification defines versions 1 to 3.",
            data=data[:2] + bytes([number]) + data[3:],
        )
    yield Vector("version", f"number-{version}", f"Version {version}", section)


def unsorted(version, machine, flags):
    functions = [leaf(machine, CODE + 0x80), prologue(machine), leaf(machine, CODE + 0x40)]
    return Section(version, machine, functions, flags=flags)


def flags(version):
    for machine in BY_VERSION[version]:
        yield Vector(
            "flags",
            f"sorted-{machine.name}",
            "SFRAME_F_FDE_SORTED with a sorted table",
            Section(version, machine, [leaf(machine, CODE + 0x40 * index) for index in range(7)]),
        )
        yield Vector(
            "flags",
            f"sorted-not-promised-{machine.name}",
            "No SFRAME_F_FDE_SORTED, although the table is sorted",
            Section(
                version,
                machine,
                [leaf(machine, CODE + 0x40 * index) for index in range(5)],
                flags=relative(version, machine),
            ),
        )
        if version > 1:
            yield Vector(
                "flags",
                f"section-relative-{machine.name}",
                "No SFRAME_F_FDE_FUNC_START_PCREL: starts are relative to the section",
                pair(version, machine, flags=SORTED),
            )
    title = "No SFRAME_F_FDE_SORTED, and a table in another order: a reader has to look at every entry"
    reason = "The text calls the table a sorted array, and defines a flag that says whether it is sorted."
    for machine in (AMD64, ARM[1]):
        section = unsorted(version, machine, relative(version, machine))
        if version == 3:
            yield Vector("flags", f"unsorted-{machine.name}", title, section)
            continue
        yield Vector(
            "flags", f"unsorted-{machine.name}", title, section, kind=DIFFERING, reason=reason, or_nothing=True
        )
    if version < 3:
        for machine in (AMD64, AARCH64):
            yield Vector(
                "flags",
                f"frame-pointer-{machine.name}",
                "SFRAME_F_FRAME_POINTER: rows mean the same with it",
                pair(version, machine, flags=SORTED | FRAME_POINTER | relative(version, machine)),
            )
    else:
        yield Vector(
            "flags",
            "frame-pointer",
            "SFRAME_F_FRAME_POINTER, which version 3 does not define",
            pair(version, AMD64, flags=SORTED | FRAME_POINTER | PCREL),
            kind=DIFFERING,
            reason="Undefined bits must be zero; the text does not say whether a reader has to refuse the section.",
            may_refuse=True,
        )
        yield from pc_relative("flags", version)
    yield from undefined_flags(version)


def undefined_flags(version):
    """Bits that the version does not define. 0x4 is one in version 1, in which starts stay relative to the section."""
    for bit in (0x04, 0x08, 0x80) if version == 1 else (0x08, 0x10, 0x80):
        yield Vector(
            "flags",
            f"undefined-{bit:#04x}",
            f"The flag {bit:#x}, which the version does not define",
            pair(version, AMD64, header={"flags": SORTED | bit | relative(version, AMD64)}),
            kind=DIFFERING,
            reason="Later flags may change the layout, so that a reader may refuse the section; or it may ignore them.",
            may_refuse=True,
        )


def pc_relative(subject, version):
    """V2 errata 1, V3 2.1.3: starts are relative to their own fields, so that equal distances are stored differently."""
    for machine in BY_VERSION[version]:
        shapes = [prologue(machine)] + [leaf(machine, CODE + 0x40 + 8 * i, 8) for i in range(6)]
        yield Vector(
            subject,
            f"pc-relative-{machine.name}",
            "Starts relative to their fields; functions shorter than entries make the stored values decrease",
            Section(version, machine, shapes, flags=SORTED | PCREL),
            hand=HAND[machine.name][:3],
        )
        yield Vector(
            subject,
            f"pc-relative-after-{machine.name}",
            "Starts relative to their fields, of functions after the section",
            pair(version, machine, flags=SORTED | PCREL, address=0x3F_0000),
        )
    if version == 2:
        yield from pc_relative_shapes(subject)
    yield Vector(
        subject,
        "pc-relative-auxiliary",
        "Starts relative to fields that an auxiliary header moves",
        pair(version, AMD64, flags=SORTED | PCREL, auxiliary=bytes(range(1, 13))),
    )
    yield Vector(
        subject,
        "pc-relative-unsorted",
        "Starts relative to their fields in a table in another order",
        unsorted(version, AMD64, PCREL),
        **({} if version == 3 else UNSORTED_CHOICE),
    )


def pc_relative_shapes(subject):
    """The other clauses of version 2 once more: some readers look up PCs only in sections of this kind."""
    for machine in BY_VERSION[2]:
        base = entry_offset(machine)
        rows = [sp(4 * i, base + 8 * (i + 1), size=size) for i, size in enumerate((1, 4, 2, 1))] + [fp(20, base)]
        shapes = {
            "complete": [prologue(machine), leaf(machine)],
            "rows": [Function(CODE, 64, rows)],
            "wide-starts": [Function(CODE, 0x2_0000, [sp(0, base), sp(0x1_0002, base + 8)], width=4)],
            "blocks": [Function(0x1_0000, 64, [sp(0, base), sp(6, base + 8)], repeat=16)],
        }
        for name, functions in shapes.items():
            yield Vector(
                subject,
                f"{name}-{machine.name}",
                f"Starts relative to their fields: {name.replace('-', ' ')}",
                Section(2, machine, functions, flags=SORTED | PCREL),
            )


UNSORTED_CHOICE = {
    "kind": DIFFERING,
    "reason": "Version 2 calls the table a sorted array, and defines a flag that says whether it is sorted.",
    "or_nothing": True,
}


def abi(version):
    for machine in BY_VERSION[version]:
        yield Vector("abi", machine.name, f"The identifier {machine.abi}", pair(version, machine))
    section = pair(version, AMD64)
    data, _ = assemble(section)
    for number in (0, 5, 0x13, 255):
        yield Vector(
            "abi",
            f"unknown-{number}",
            f"The identifier {number}, which no version defines",
            section,
            kind=MALFORMED,
            reason="The ABI determines the meaning of data words.",
            data=data[:4] + bytes([number]) + data[5:],
        )
    yield other_order(version)
    if version == 1:
        yield s390x_in_version_1()


def other_order(version):
    """The identifier implies a byte order, the magic number has another."""
    little = Machine("aarch64", AARCH64.abi, "big", AARCH64.sp, AARCH64.fp, AARCH64.ra, 0)
    return Vector(
        "abi",
        "other-byte-order",
        "The identifier of little-endian AArch64 in a big-endian section",
        pair(version, little),
        kind=DIFFERING,
        reason="The text does not say which of the two decides; a reader may refuse the contradiction.",
        may_refuse=True,
        only_lookups=True,
        or_nothing=True,
    )


def s390x_in_version_1():
    return Vector(
        "abi",
        "s390x",
        "s390x, which errata 1 of version 2 defines",
        Section(1, S390X, [leaf(S390X)]),
        kind=DIFFERING,
        reason="Version 1 does not define the identifier, so that a reader may refuse it.",
        may_refuse=True,
        only_lookups=True,
    )


def header(version):
    first = BY_VERSION[version]
    for machine in first:
        yield Vector(
            "header",
            f"auxiliary-4-{machine.name}",
            "An auxiliary header of 4 bytes, which a reader skips",
            pair(version, machine, auxiliary=b"\x01\x02\x03\x04"),
        )
    yield Vector(
        "header", "auxiliary-255", "The longest auxiliary header", pair(version, AMD64, auxiliary=bytes(range(255)))
    )
    for name, gaps in (
        ("before-table", {"fde_gap": b"\x55" * 8}),
        ("before-rows", {"fre_gap": b"\x66" * 12}),
        ("both", {"fde_gap": b"\x55" * 4, "fre_gap": b"\x66" * 5}),
    ):
        for machine in (AMD64, ARM[1]):
            section = pair(version, machine, **gaps)
            yield Vector(
                "header",
                f"gap-{name}-{machine.name}",
                "Unused bytes: sfh_fdeoff and sfh_freoff say where the tables are",
                section,
                **(ROW_BASE_CHOICE if version < 3 and "fre_gap" in gaps else {}),
            )
    yield Vector(
        "header",
        "gap-and-auxiliary",
        "Offsets count from the end of the auxiliary header",
        pair(version, AMD64, fde_gap=b"\x55" * 4, auxiliary=b"\xaa" * 6),
    )
    yield Vector("header", "empty", "A section without functions", Section(version, AMD64, []))
    for offset in (-16, -128, 8):
        yield Vector(
            "header",
            f"fixed-ra-{offset}",
            f"RA is at CFA{offset:+d} in every row",
            pair(version, AMD64, fixed_ra=offset),
        )
    leaves = [leaf(AARCH64), leaf(AARCH64, CODE + 0x80)]
    yield Vector(
        "header",
        "fixed-ra-aarch64",
        "A fixed RA offset on AArch64: the second word is FP's",
        Section(
            version,
            AARCH64,
            [Function(CODE, 32, [sp(0, 0), sp(4, 32, fp=-24)]), leaves[1]],
            fixed_ra=-8,
        ),
    )
    for machine, ra in ((AMD64, None), (AARCH64, -8)):
        rows = [sp(0, 32, ra=ra), sp(8, 48, ra=ra)]
        yield Vector(
            "header",
            f"fixed-fp-{machine.name}",
            "A fixed FP offset: FP is saved there in every row, and no row has a word for it",
            Section(version, machine, [Function(CODE, 32, rows)], fixed_fp=-16),
        )
    yield from counts(version)
    yield from outside(version)


# Versions 1 and 2 count a function's rows from the end of the function table, version 3 from the rows' start.
ROW_BASE_CHOICE = {
    "kind": DIFFERING,
    "reason": "Rows are relative to the end of the function table, which extends to the rows, because the parts tile"
    " the section; llvm-readobj counts from the end of the last entry.",
    "or_nothing": True,
    "may_refuse": True,
}


def counts(version):
    section = pair(version, AMD64)
    section.header = {"num_fres": 0xFFFF}
    yield Vector(
        "header",
        "num-fres-too-large",
        "A total of rows that is larger than the number of rows",
        section,
        kind=DIFFERING,
        reason="The functions have counts of their own, so that a reader needs no total; or it may refuse the section.",
        may_refuse=True,
    )
    yield Vector(
        "header",
        "trailing",
        "Bytes after the end of the FRE sub-section",
        pair(version, AMD64, trailing=b"\xff" * 16),
        kind=DIFFERING,
        reason="The text does not mention such bytes; linkers leave them when they shrink a section.",
        may_refuse=True,
    )
    yield Vector(
        "header",
        "trailing-zeros",
        "Zeros after the end of the FRE sub-section",
        pair(version, AMD64, trailing=bytes(4)),
        kind=DIFFERING,
        reason="The text does not mention padding; an aligned section may have it.",
        may_refuse=True,
    )


def outside(version):
    section = pair(version, AMD64)
    size = len(assemble(section)[0])
    yield Vector(
        "header",
        "table-too-long",
        "The function table ends after the section's end",
        pair(version, AMD64, header={"num_fdes": 0x0100_0000}),
        kind=DIFFERING,
        reason="The entries inside of the section can be read; a reader that compares sizes first refuses the section.",
        or_nothing=True,
        may_refuse=True,
        only_lookups=True,
    )
    yield Vector(
        "header",
        "rows-too-long",
        "The FRE sub-section ends after the section's end",
        pair(version, AMD64, header={"fre_len": 0x1000}),
        kind=DIFFERING,
        reason="The rows inside of the section can be read; a reader that compares sizes first refuses the section.",
        or_nothing=True,
        may_refuse=True,
        only_lookups=True,
    )
    cases = (
        ("table-outside", {"fdeoff": size}, "The function table begins after the section's end."),
        ("table-offset-huge", {"fdeoff": 0xFFFF_FFF0}, "The function table's place does not fit in 32 bits."),
        ("rows-outside", {"freoff": size}, "The FRE sub-section begins after the section's end."),
        ("rows-offset-huge", {"freoff": 0xFFFF_FFF0}, "The FRE sub-section's place does not fit in 32 bits."),
        ("auxiliary-outside", {"auxhdr_len": 255}, "The auxiliary header ends after the section's end."),
        ("no-rows", {"fre_len": 0}, "The rows are outside of an FRE sub-section without bytes."),
    )
    for name, fields, reason in cases:
        broken = pair(version, AMD64)
        broken.header = fields
        yield Vector("header", name, reason.removesuffix("."), broken, kind=MALFORMED, reason=reason)
    half = pair(version, AMD64)
    data, _ = assemble(half)
    yield Vector(
        "header",
        "cut-in-rows",
        "A section that ends in the second function's rows",
        half,
        kind=MALFORMED,
        reason="The last row ends after the section's end.",
        data=data[:-1],
        refuse=[CODE + 0x40],
    )
    yield Vector(
        "header",
        "cut-in-table",
        "A section that ends in the function table",
        half,
        kind=MALFORMED,
        reason="The tables end after the section's end.",
        data=data[:40],
    )


def vectors():
    for version in (1, 2, 3):
        yield from preamble(version)
        yield from endianness(version)
        yield from version_numbers(version)
        yield from flags(version)
        yield from header(version)
        yield from abi(version)
    for version in versions("pc-relative"):
        yield from pc_relative("pc-relative", version)
