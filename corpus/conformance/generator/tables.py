"""Vectors about the function table, its info bytes, and the types of functions and rows."""

from assemble import assemble
from machines import AARCH64, AARCH64_BE, AMD64, ARM, BY_VERSION
from section import SP, Function, Row, Rule, Section, row, saved, sp
from shapes import CODE, entry_offset, leaf, pair, prologue
from vector import DIFFERING, MALFORMED, Vector


def functions(version):
    for machine in BY_VERSION[version]:
        yield Vector(
            "functions",
            f"adjacent-{machine.name}",
            "Functions without gaps: the byte after one is the first of the next",
            Section(version, machine, [prologue(machine), leaf(machine, CODE + 32), leaf(machine, CODE + 48)]),
        )
        yield Vector(
            "functions",
            f"after-section-{machine.name}",
            "Functions at higher addresses than the section: positive start fields",
            pair(version, machine, address=0x40_0000),
        )
        yield Vector(
            "functions",
            f"rows-in-another-order-{machine.name}",
            "The second function's rows come first, as after a link",
            pair(version, machine, row_order=[1, 0]),
        )
        yield Vector(
            "functions",
            f"shared-rows-{machine.name}",
            "Two functions of the same shape share rows",
            shared(version, machine),
        )
    yield from sizes(version)
    yield from many(version)
    yield from far_away(version)
    yield from odd_tables(version)
    yield from broken(version)


def shared(version, machine):
    section = Section(version, machine, [prologue(machine), prologue(machine)])
    section.functions[1].start = CODE + 0x100
    section.functions[1].fre_off = 0
    return section


def sizes(version):
    for size in (1, 0xFF, 0x100, 0x0102_0304, 0xFFFF_FFFF):
        width = 1 if size < 256 else 4
        big = Function(CODE, size, [sp(0, 8, size=1)], width=width)
        yield Vector(
            "functions",
            f"size-{size:#x}",
            f"A function of {size:#x} bytes",
            Section(version, AMD64, [big], address=0x1_4000_0000 if version == 3 else 0x40_2000),
        )
    yield Vector(
        "functions",
        "address-high",
        "A section and functions in the upper half of the address space, as in a kernel",
        Section(version, AMD64, [Function(0xFFFF_FFFF_8100_0000, 32, [sp(0, 8), sp(2, 16)])], address=0xFFFF_FFFF_8200_0000),
    )
    yield Vector(
        "functions",
        "start-negative-32",
        "A function almost 2 GiB before the section",
        Section(version, AMD64, [leaf(AMD64, 0x8000_0000)], address=0xFFFF_FFF0),
    )
    yield Vector(
        "functions",
        "start-positive-32",
        "A function almost 2 GiB after the section",
        Section(version, AMD64, [leaf(AMD64, 0x7FFF_FF00)], address=0x1000),
    )
    if version == 3:
        for machine in BY_VERSION[3]:
            for name, start, address in (
                ("before", 0x40_1000, 0x7_0000_0000),
                ("after", 0x12_3456_7800, 0x40_0000),
            ):
                yield Vector(
                    "functions",
                    f"start-64-{name}-{machine.name}",
                    "A function farther than 4 GiB from the section: start fields have 64 bits",
                    Section(3, machine, [leaf(machine, start), leaf(machine, start + 0x20)], address=address),
                )


def far_away(version):
    """PCs whose distance from a function is a multiple of 2^32, more or less: readers must not cut it to 32 bits."""
    for machine in BY_VERSION[version]:
        section = pair(version, machine)
        far = [CODE + (1 << 32), CODE + (1 << 32) + 16, CODE + (3 << 32), CODE + 0x40 + (1 << 32)]
        yield Vector(
            "functions",
            f"pc-4-gib-away-{machine.name}",
            "PCs 4 GiB and more from a function: distances have 64 bits",
            section,
            hand=[(pc, None) for pc in far],
        )


def many(version):
    """Enough functions for a search to take every turn."""
    for machine in (AMD64, AARCH64_BE):
        step = entry_offset(machine)
        functions = [
            Function(CODE + 0x30 * i, 0x20, [sp(0, step), sp(4, step + 8 * (i + 1), size=2)]) for i in range(33)
        ]
        yield Vector(
            "functions",
            f"many-{machine.name}",
            "33 functions, each with a row of its own, and gaps",
            Section(version, machine, functions),
        )
    rows = [sp(i, 8 + i) for i in range(120)]
    yield Vector(
        "functions",
        "many-rows",
        "120 rows in a function",
        Section(version, AMD64, [Function(CODE, 120, rows), leaf(AMD64, CODE + 0x100)]),
    )
    rows = [sp(4 * i, 8 * (i % 9), size=2) for i in range(300)]
    yield Vector(
        "functions",
        "more-than-255-rows",
        "300 rows in a function: the count has more than one byte",
        Section(version, AARCH64, [Function(CODE, 1200, rows, width=2)]),
    )


def odd_tables(version):
    empty = Function(CODE + 0x20, 0, [])
    if version < 3:
        yield Vector(
            "functions",
            "without-rows",
            "A function without rows: nothing is known in it",
            Section(version, AMD64, [Function(CODE, 32, []), leaf(AMD64)]),
            hand=[(CODE, None), (CODE + 31, None), (CODE + 0x40, "r7+8 *(cfa-8) unchanged")],
        )
        yield Vector(
            "functions",
            "size-0",
            "A function of size 0 between others: it covers no PC",
            Section(version, AMD64, [prologue(AMD64), empty, leaf(AMD64)]),
            kind=DIFFERING,
            reason="An empty function covers nothing; a reader that takes the last start before a PC finds it instead.",
            others={CODE + 0x20: [None]},
        )
    whole = Function(CODE, 0x40, [sp(0, 8), sp(8, 24)])
    part = Function(CODE + 0x10, 0x10, [sp(0, 40)])
    inner = "r7+40 *(cfa-8) unchanged"
    outer = "r7+24 *(cfa-8) unchanged"
    yield Vector(
        "functions",
        "overlapping",
        "A function inside another",
        Section(version, AMD64, [whole, part]),
        kind=DIFFERING,
        reason="No text says which of two functions that cover a PC applies.",
        others={pc: [inner] for pc in (CODE + 0x10, CODE + 0x1f)}
        | {pc: [None] for pc in (CODE + 0x20, CODE + 0x3f)},
    )
    first, second = Function(CODE, 0x10, [sp(0, 8)]), Function(CODE, 0x10, [sp(0, 16)])
    yield Vector(
        "functions",
        "equal-starts",
        "Two functions with the same start",
        Section(version, AMD64, [first, second]),
        kind=DIFFERING,
        reason="No text says which of two functions at the same address applies.",
        others={CODE: ["r7+16 *(cfa-8) unchanged"], CODE + 0xF: ["r7+16 *(cfa-8) unchanged"]},
    )
    del outer


def broken(version):
    cases = [
        ("rows-offset-outside", {"fre_off": 0x1000}, "The rows begin after the end of the FRE sub-section."),
        ("rows-offset-huge", {"fre_off": 0xFFFF_FFFF}, "The rows' place does not fit in 32 bits."),
    ]
    for name, fields, reason in cases:
        section = Section(version, AMD64, [Function(CODE, 32, [sp(0, 8)], **fields)])
        yield Vector("functions", name, reason.removesuffix("."), section, kind=MALFORMED, reason=reason)
    # The first row applies up to 0x1f; the second would begin after the last byte.
    section = Section(version, AMD64, [Function(CODE, 32, [sp(0, 8)], num_fres=200)])
    yield Vector(
        "functions",
        "more-rows-than-bytes",
        "A count of rows that the FRE sub-section does not hold",
        section,
        kind=MALFORMED,
        reason="A reader that looks for the last row that starts before a PC meets the end of the sub-section.",
        refuse=[CODE + 31],
    )


def function_info(version):
    for machine in ARM:
        for key_b in (False, True):
            signed = {"ra": -8, "fp": -16, "signed": True}
            rows = [sp(0, 0), sp(4, 0, signed=True), sp(8, 16, **signed)]
            yield Vector(
                "function-info",
                f"key-{'b' if key_b else 'a'}-{machine.name}",
                f"Return addresses signed with the {'B' if key_b else 'A'} key",
                Section(version, machine, [Function(CODE, 32, rows, key_b=key_b)]),
            )
    for machine in ARM:
        masked = Function(CODE, 64, [sp(0, 0), sp(8, 16)], repeat=16, key_b=True)
        if version > 1:
            yield Vector(
                "function-info",
                f"key-b-repeated-{machine.name}",
                "The key's bit beside the bit for repeated blocks",
                Section(version, machine, [masked]),
            )
    for code in (3, 4, 7, 8, 15):
        yield Vector(
            "function-info",
            f"fre-type-{code}",
            f"The undefined FRE type {code}",
            Section(version, AMD64, [Function(CODE, 32, [sp(0, 8)], info=code, raw=wide_start(code))]),
            kind=MALFORMED,
            reason="Only types 0 to 2 have a width.",
        )
    unused = (0x40, 0x80, 0xC0) if version < 3 else (0x40,)
    for bit in unused:
        section = Section(version, AMD64, [Function(CODE, 32, [sp(0, 8), sp(4, 16)], info=bit)])
        yield Vector(
            "function-info",
            f"unused-{bit:#x}",
            f"Unused bits {bit:#x} in the info byte",
            section,
            kind=DIFFERING,
            reason="A reader may ignore unused bits, or refuse what it does not know.",
            may_refuse=True,
            or_nothing=True,
        )


def wide_start(code):
    """A row for a reader that takes the code for the logarithm of the width."""
    return bytes(1 << min(code, 9)) + b"\x03\x08"


def signal_frames():
    for machine in BY_VERSION[3]:
        section = Section(3, machine, [prologue(machine, signal=True), leaf(machine)])
        yield Vector("function-info", f"signal-{machine.name}", "A signal frame's function beside another", section)


def attributes():
    """V3 2.3.2: the attributes come before the rows, and are not aligned."""
    for machine in BY_VERSION[3]:
        first = leaf(machine)
        unaligned = [Function(CODE + 0x80 + 0x20 * i, 32, prologue(machine).rows[: i + 1]) for i in range(4)]
        yield Vector(
            "attributes",
            f"unaligned-{machine.name}",
            "Attributes at odd places, because rows have odd sizes",
            Section(3, machine, [first, *unaligned]),
        )
    section = Section(3, AMD64, [Function(CODE, 32, [sp(0, 8)])])
    data, _ = assemble(section)
    for cut in (1, 4):
        broken = Section(3, AMD64, [Function(CODE, 32, [])], header={"fre_len": 5 - cut})
        yield Vector(
            "attributes",
            f"cut-{cut}",
            "Attributes that end after the FRE sub-section",
            broken,
            kind=MALFORMED,
            reason="The attributes have 5 bytes.",
            data=assemble(broken)[0][:-cut],
            refuse=[CODE],
        )


def fde_types():
    section = Section(3, AMD64, [Function(CODE, 32, [sp(0, 8)]), flexible(CODE + 0x40)])
    yield Vector("fde-types", "default-and-flexible", "A default function beside a flexible one", section)
    for code in (2, 3, 17, 31):
        # Words that have a meaning in default and in flexible rows.
        rows = [Row(0, Rule(SP, 57), None, saved(8), info=0x05, words=[0x39, 8])]
        broken = Section(3, AMD64, [Function(CODE, 32, rows, info2=code)])
        yield Vector(
            "fde-types",
            f"type-{code}",
            f"The undefined FDE type {code}",
            broken,
            kind=MALFORMED,
            reason="The type determines the meaning of data words.",
        )
    for bit in (0x20, 0x40, 0x80):
        unusual = Section(3, AMD64, [Function(CODE, 32, [sp(0, 8), sp(4, 16, fp=-16)], info2=bit)])
        yield Vector(
            "fde-types",
            f"unused-{bit:#x}",
            f"The unused bit {bit:#x} in the second info byte",
            unusual,
            kind=DIFFERING,
            reason="A reader may ignore unused bits, or refuse what it does not know.",
            may_refuse=True,
            or_nothing=True,
        )


def flexible(start):
    return Function(start, 32, [row(0, 10, 0), row(8, 6, -8)], flex=True)


def pc_types(version):
    if version == 1:
        yield from masks_of_version_1()
        return
    for machine in BY_VERSION[version]:
        base = entry_offset(machine)
        for block, second in ((16, 8), (8, 4), (32, 12), (24, 6), (128, 64), (255, 250)):
            if block > 32 and machine is not AMD64:
                continue
            rows = [sp(0, base), sp(second, base + 8)]
            yield Vector(
                "pc-types",
                f"block-{block}-{machine.name}",
                f"Blocks of {block} bytes, as in a PLT, at a multiple of their size",
                blocks(version, machine, block, rows, block * 0x1000),
            )
        rows = [sp(0, base), sp(8, base + 8)]
        yield Vector(
            "pc-types",
            f"block-before-section-{machine.name}",
            "Blocks of a function before the section: a reader with PCs relative to the section divides negative numbers",
            blocks(version, machine, 16, rows, 0x4_0000),
        )
    rows = [sp(0, 8), sp(6, 16), sp(11, 24)]
    yield Vector(
        "pc-types",
        "block-not-whole",
        "A function that ends inside a block",
        Section(version, AMD64, [Function(0x1_0000, 40, rows, repeat=16)], address=0x8000),
    )
    late = [sp(4, 16)]
    yield Vector(
        "pc-types",
        "block-without-first-row",
        "No row for the first bytes of each block",
        Section(version, AMD64, [Function(0x1_0000, 48, late, repeat=16)], address=0x8000),
    )
    yield Vector(
        "pc-types",
        "increments-after-blocks",
        "A function with increments after one with blocks",
        Section(version, AMD64, [Function(0x1_0000, 64, rows, repeat=16), Function(0x1_0040, 64, rows)], address=0x8000),
    )
    yield Vector(
        "pc-types",
        "size-without-blocks",
        "A block size in a function with increments, which is ignored",
        Section(version, AMD64, [Function(0x1_0000, 64, rows, width=2, rep_size=16)], address=0x8000),
    )
    yield from moved_blocks(version)
    yield Vector(
        "pc-types",
        "block-size-0",
        "Blocks of 0 bytes",
        Section(version, AMD64, [Function(0x1_0000, 64, rows, repeat=16, rep_size=0)]),
        kind=MALFORMED,
        reason="A remainder of a division by 0 has no value.",
    )


def blocks(version, machine, block, rows, address):
    """A function of four blocks and a leaf. If the section's address is a multiple of the size, so are PCs relative to it."""
    functions = [Function(block * 0x2000, block * 4, rows, repeat=block), leaf(machine, block * 0x2010)]
    return Section(version, machine, functions, address=address)


def moved_blocks(version):
    """The text computes PC % REP_BLOCK_SIZE, all readers (PC - start) % REP_BLOCK_SIZE."""
    start, rows = 0x1_0004, [sp(0, 8), sp(8, 16)]
    low, high = "r7+8 *(cfa-8) unchanged", "r7+16 *(cfa-8) unchanged"
    section = Section(version, AMD64, [Function(start, 32, rows, repeat=16)], address=0x8000)
    others = {}
    for offset in range(32):
        by_offset, by_pc = offset % 16 >= 8, (start + offset) % 16 >= 8
        if by_offset != by_pc:
            others[start + offset] = [high if by_pc else low]
    yield Vector(
        "pc-types",
        "block-elsewhere",
        "Blocks that do not begin at a multiple of their size",
        section,
        kind=DIFFERING,
        reason="The text takes the remainder of the PC itself; readers take that of the offset in the function.",
        others=others,
    )


def masks_of_version_1():
    rows = [sp(0, 8), sp(11, 16)]
    low, high = "r7+8 *(cfa-8) unchanged", "r7+16 *(cfa-8) unchanged"
    start = 0x1_0000
    section = Section(1, AMD64, [Function(start, 48, rows, repeat=16)])
    others = {start + pc: [low, high, None] for pc in (0, 10, 11, 15, 16, 26, 27, 31, 32, 42, 43, 47)}
    yield Vector(
        "pc-types",
        "mask",
        "Rows that repeat: version 1 does not record the size of a block",
        section,
        kind=DIFFERING,
        reason="The text compares PC & START with START, which for a start of 11 selects no range; readers use masks of their own.",
        others=others,
        may_refuse=True,
        only_lookups=True,
    )
    whole = Section(1, AMD64, [Function(start, 64, [sp(0, 8), sp(5, 24), sp(60, 8)])])
    yield Vector("pc-types", "increments", "Rows whose starts are increments", whole)


def fre_types(version):
    for machine in BY_VERSION[version]:
        base, unit = entry_offset(machine), 8
        for width, starts, size in (
            (1, (0, 0x7E, 0x80, 0xFE), 0x100),
            (2, (0, 0x80, 0x102, 0x8002, 0xFFFE), 0x1_0000),
            (4, (0, 0x102, 0x1_0002, 0x0102_0304, 0x8000_0002), 0x9000_0000),
        ):
            rows = [sp(start, base + unit * i) for i, start in enumerate(starts)]
            address = 0x40_0000
            yield Vector(
                "fre-types",
                f"addr{width}-{machine.name}",
                f"Row starts of {width} byte{'s' * (width > 1)}, unsigned, up to the largest",
                Section(version, machine, [Function(CODE, size, rows, width=width)], address=address),
            )
        small = [sp(0, base), sp(4, base + 8)]
        for width in (2, 4):
            yield Vector(
                "fre-types",
                f"wider-than-needed-{width}-{machine.name}",
                "Wider row starts than the function needs, beside a function with narrow ones",
                Section(version, machine, [Function(CODE, 32, small, width=width), Function(CODE + 32, 32, small)]),
            )


def vectors():
    for version in (1, 2, 3):
        yield from functions(version)
        yield from function_info(version)
        yield from pc_types(version)
        yield from fre_types(version)
    yield from signal_frames()
    yield from attributes()
    yield from fde_types()
