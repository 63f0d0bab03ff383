"""Vectors about rows: their info bytes, the meaning of data words by machine, flexible rows, outermost frames."""

from machines import AARCH64, AMD64, ARM, BY_VERSION, S390X
from section import SP, Function, Row, Rule, Section, fp, outermost, register, saved, sp
from shapes import CODE, entry_offset, leaf, prologue
from vector import DIFFERING, MALFORMED, Vector

EXTREMES = {1: (127, -128), 2: (32_767, -32_768), 4: (2_147_483_647, -2_147_483_648)}


def one(version, machine, rows, size=64, **more):
    return Section(version, machine, [Function(CODE, size, rows, **more)])


def saved_for(machine, ra, fp):
    """The slots that a machine's rows have words for."""
    return {"fp": fp} if machine is AMD64 else {"ra": ra, "fp": fp}


def rows(version):
    for machine in BY_VERSION[version]:
        base = entry_offset(machine)
        yield Vector("rows", f"one-{machine.name}", "A single row", one(version, machine, [sp(0, base)]))
        yield Vector(
            "rows",
            f"late-{machine.name}",
            "A first row that does not start at 0: nothing is known before it",
            one(version, machine, [sp(8, base), sp(16, base + 16)]),
        )
        yield Vector(
            "rows",
            f"every-count-{machine.name}",
            "Rows of every length in one function: a reader has to skip each one exactly",
            one(version, machine, every_count(machine)),
        )
        for size, (most, least) in EXTREMES.items():
            yield from extremes(version, machine, size, most, least)
    yield from broken_rows(version)
    yield from odd_rows(version)


def every_count(machine):
    base = entry_offset(machine)
    found = [sp(0, base), sp(4, base + 16, **saved_for(machine, -8, -16))]
    if machine is not AMD64:
        found.append(sp(8, base + 32, ra=-8))
    found += [fp(12, base + 16, size=2, **saved_for(machine, -24, -32)), sp(16, base + 48, size=4)]
    found += [fp(20, base + 64, size=4, **saved_for(machine, -40, -48)), sp(24, base)]
    return found


def extremes(version, machine, size, most, least):
    """The largest and smallest words of a size."""
    if machine is S390X and size == 4:
        # Readers have 32 bits for a CFA offset. `scaled-beyond-32-bits` has more.
        most, least = most >> 4, least >> 4
    cfa = lambda word: word * 8 + 160 if machine is S390X else word
    even = lambda value: value & ~7 if machine is S390X else value
    found = [
        sp(0, cfa(most), size=size),
        sp(4, cfa(least), size=size, **saved_for(machine, even(least), even(most))),
        fp(8, cfa(-1), size=size, **saved_for(machine, -8, -16)),
        fp(12, cfa(0), size=size, **saved_for(machine, even(most), even(least))),
        sp(16, cfa(1), size=size),
    ]
    yield Vector(
        "rows",
        f"words-{size}-{machine.name}",
        f"Signed words of {size} byte{'s' * (size > 1)}, up to the largest and the smallest",
        one(version, machine, found),
    )


def broken_rows(version):
    cases = [
        ("size-code-3", Row(0, None, info=0x63, words=[8] + [0] * 7), "The size code 3 is not defined."),
        ("size-code-3-two-words", Row(0, None, info=0x65, words=[8] + [0] * 15), "The size code 3 is not defined."),
        ("words-outside", Row(0, None, info=0x07, words=[8]), "The row's words end after the FRE sub-section."),
        ("many-words-outside", Row(0, None, info=0x5F, words=[8]), "The row's words end after the FRE sub-section."),
    ]
    for name, broken, reason in cases:
        yield Vector(
            "row-info",
            name,
            reason.removesuffix("."),
            one(version, AMD64, [broken]),
            kind=MALFORMED,
            reason=reason,
        )
    cut = one(version, AARCH64, [sp(0, 0), sp(4, 16, ra=-8, fp=-16)])
    cut.header = {"fre_len": (5 if version == 3 else 0) + 3 + 4}
    yield Vector(
        "rows",
        "last-row-outside",
        "An FRE sub-section that ends in the last row",
        cut,
        kind=MALFORMED,
        reason="The last row ends after the FRE sub-section.",
        refuse=[CODE + 4, CODE + 63],
    )


def odd_rows(version):
    low, high = "r7+8 *(cfa-8) unchanged", "r7+16 *(cfa-8) unchanged"
    yield Vector(
        "rows",
        "equal-starts",
        "Two rows with the same start",
        one(version, AMD64, [sp(0, 8), sp(8, 16), sp(8, 24)]),
        kind=DIFFERING,
        reason="A row's range begins at its start and ends at the next row's, so that the first of the two is empty; kernels refuse both.",
        others={CODE + 8: [high, None], CODE + 63: [high, None]},
        may_refuse=True,
    )
    yield Vector(
        "rows",
        "descending-starts",
        "Rows that do not ascend",
        one(version, AMD64, [sp(0, 8), sp(16, 24), sp(8, 16)]),
        kind=DIFFERING,
        reason="No text says that rows ascend; a search may end at the first row that starts after the PC, or use the last one.",
        others={
            CODE + pc: [low, high, "r7+24 *(cfa-8) unchanged", None] for pc in (7, 8, 15, 16, 63)
        },
        may_refuse=True,
    )
    beyond = one(version, AMD64, [sp(0, 8), sp(16, 16), sp(32, 24)], size=32)
    yield Vector(
        "rows",
        "start-at-the-end",
        "A last row that starts at the end of the function: it applies to no PC",
        beyond,
        kind=DIFFERING,
        reason="GNU as writes such rows; a reader may refuse them.",
        or_nothing=True,
        may_refuse=True,
    )


def row_info(version):
    for machine in BY_VERSION[version]:
        base = entry_offset(machine)
        yield Vector(
            "row-info",
            f"base-{machine.name}",
            "CFAs from SP and from FP",
            one(version, machine, [sp(0, base), fp(4, base + 16), sp(8, base + 32), fp(12, base)]),
        )
        mixed = [sp(4 * i, base + 8 * (i + 1), size=size) for i, size in enumerate((1, 4, 2, 1, 2, 4, 1))]
        yield Vector(
            "row-info",
            f"sizes-{machine.name}",
            "Words of 1, 2 and 4 bytes in one function",
            one(version, machine, mixed),
        )
    for machine in ARM:
        signed = [
            sp(0, 0),
            sp(4, 0, signed=True),
            sp(8, 16, ra=-8, fp=-16, signed=True),
            fp(12, 16, ra=-8, fp=-16, size=2, signed=True),
            sp(60, 0),
        ]
        yield Vector(
            "row-info",
            f"signed-{machine.name}",
            "Return addresses that are signed in some rows",
            one(version, machine, signed),
        )
    plain = "r7+8 *(cfa-8) unchanged"
    yield Vector(
        "row-info",
        "signed-amd64",
        "The bit for signed return addresses on a machine that does not sign",
        one(version, AMD64, [sp(0, 8, signed=True)]),
        kind=DIFFERING,
        reason="The bit has a meaning only on AArch64; the text does not limit it to that machine.",
        others={CODE: [plain, None], CODE + 63: [plain, None]},
        may_refuse=True,
        only_lookups=True,
    )
    extra = one(version, AMD64, [Row(0, Rule(SP, 8), None, saved(-16), words=[8, -16, -24])])
    yield Vector(
        "row-info",
        "three-words-amd64",
        "More words than AMD64 uses",
        extra,
        kind=DIFFERING,
        reason="Up to 3 words are allowed, and AMD64 gives no meaning to the third; a reader may ignore it or refuse the row.",
        others={CODE: [None], CODE + 63: [None]},
        may_refuse=True,
        only_lookups=True,
    )
    if version == 1:
        yield without_words_in_version_1()


def without_words_in_version_1():
    return Vector(
        "row-info",
        "no-words",
        "A row without data words",
        one(1, AMD64, [sp(0, 8), outermost(4)]),
        kind=DIFFERING,
        reason="Only errata 2 of version 2 defines such rows; in version 1 they have no CFA.",
        others={CODE + 4: [None], CODE + 63: [None]},
        may_refuse=True,
        only_lookups=True,
    )


def aarch64_rows(version):
    """In version 3 there is a clause of its own; before, the clause about rows has the order of words."""
    subject = "aarch64-rows" if version == 3 else "rows"
    prefix = "" if version == 3 else "aarch64-"
    for machine in ARM:
        yield Vector(
            subject,
            f"{prefix}one-or-three-{machine.name}",
            "CFA alone, and CFA, RA and FP in this order",
            one(version, machine, [sp(0, 0), sp(4, 32, ra=-24, fp=-32), fp(8, 32, ra=-24, fp=-32), sp(60, 0)]),
            hand=[
                (CODE, "r31+0 unchanged unchanged"),
                (CODE + 4, "r31+32 *(cfa-24) *(cfa-32)"),
                (CODE + 8, "r29+32 *(cfa-24) *(cfa-32)"),
            ],
        )
        yield Vector(
            subject,
            f"{prefix}ra-at-cfa-{machine.name}",
            "RA saved at the CFA itself: a word of 0 is padding on s390x only",
            one(version, machine, [sp(0, 0), sp(4, 16, ra=0, fp=-16)]),
            hand=[(CODE + 4, "r31+16 *(cfa+0) *(cfa-16)")],
        )
        other = "r31+16 unchanged *(cfa-8)"
        yield Vector(
            subject,
            f"{prefix}two-{machine.name}",
            "CFA and one more word: RA's, because AArch64 tracks RA",
            one(version, machine, [sp(0, 0), sp(4, 16, ra=-8)]),
            kind=DIFFERING,
            reason="The text says 1 or 3 words; GNU as writes 2 if only RA is saved. If RA were not tracked, the word would be FP's.",
            others={CODE + 4: [other, None], CODE + 63: [other, None]},
            may_refuse=True,
            only_lookups=True,
        )


def amd64_rows():
    yield Vector(
        "amd64-rows",
        "one-or-two",
        "CFA alone, and CFA and FP; RA is at the header's fixed offset",
        one(3, AMD64, prologue(AMD64).rows),
        hand=[
            (CODE, "r7+8 *(cfa-8) unchanged"),
            (CODE + 1, "r7+16 *(cfa-8) *(cfa-16)"),
            (CODE + 4, "r6+16 *(cfa-8) *(cfa-16)"),
        ],
    )
    yield Vector(
        "amd64-rows",
        "saved-elsewhere",
        "FP saved far below the CFA, and at the CFA",
        one(3, AMD64, [sp(0, 8), sp(4, 4096, fp=-4096, size=2), sp(8, 8, fp=8), sp(12, 8, fp=0)]),
    )


def s390x_rows(version):
    subject = "s390x-rows"
    yield Vector(
        subject,
        "scaled",
        "CFA offsets are stored less 160 and divided by 8",
        one(version, S390X, [sp(0, 160), sp(6, 168), sp(12, 320), fp(18, 160 + 127 * 8), sp(24, 160 - 128 * 8)]),
        hand=[(CODE, "r15+160 unchanged unchanged"), (CODE + 6, "r15+168 unchanged unchanged")],
    )
    yield Vector(
        subject,
        "scaled-wide",
        "Large CFA offsets in words of 2 and 4 bytes",
        one(version, S390X, [sp(0, 160), sp(6, 160 + 32_767 * 8, size=2), sp(12, 160 + 40_000 * 8, size=4)]),
    )
    yield Vector(
        subject,
        "scaled-beyond-32-bits",
        "CFA offsets of more than 32 bits, from words of 4 bytes",
        one(version, S390X, [sp(0, 160), sp(6, 160 + (1 << 31) * 8 - 8, size=4), sp(12, 160 - (1 << 31) * 8, size=4)]),
    )
    yield Vector(
        subject,
        "ra-without-fp",
        "RA saved, FP not: two words",
        one(version, S390X, [sp(0, 160), sp(6, 160, ra=-48), sp(12, 320, ra=-48)]),
    )
    yield Vector(
        subject,
        "fp-without-ra",
        "FP saved, RA not: RA's word is 0, and RA is unchanged",
        one(version, S390X, [sp(0, 160), sp(6, 160, fp=-72), fp(12, 320, fp=-72)]),
        hand=[(CODE + 6, "r15+160 unchanged *(cfa-72)"), (CODE + 12, "r11+320 unchanged *(cfa-72)")],
    )
    yield Vector(
        subject,
        "fp-base",
        "CFAs from FP",
        one(version, S390X, [sp(0, 160), fp(6, 160, ra=-48, fp=-72), fp(12, 512, ra=-48, fp=-72, size=2)]),
    )
    if version == 3:
        yield Vector(
            subject,
            "odd-slots",
            "Odd offsets of RA and FP: in version 3, they are no registers",
            one(3, S390X, [sp(0, 160), sp(6, 160, ra=-47, fp=-71), sp(12, 160, fp=33)]),
            hand=[(CODE + 6, "r15+160 *(cfa-47) *(cfa-71)"), (CODE + 12, "r15+160 unchanged *(cfa+33)")],
        )
    if version == 2:
        in_registers = [
            sp(0, 160),
            sp(4, 160, ra=register(16), fp=register(17)),
            sp(8, 160, ra=-48, fp=register(24)),
            sp(12, 160, ra=register(16), fp=-72),
            sp(16, 160, fp=register(31)),
        ]
        yield Vector(
            subject,
            "in-registers",
            "RA and FP saved in registers: odd words, twice the DWARF number plus 1",
            one(2, S390X, in_registers),
            hand=[
                (CODE + 4, "r15+160 r16+0 r17+0"),
                (CODE + 8, "r15+160 *(cfa-48) r24+0"),
                (CODE + 16, "r15+160 unchanged r31+0"),
            ],
        )


def outermost_rows(version):
    for machine in BY_VERSION[version]:
        base = entry_offset(machine)
        yield Vector(
            "outermost-rows" if version == 2 else "row-info",
            f"{'' if version == 2 else 'outermost-'}{machine.name}",
            "Rows without data words, whose RA is undefined, before and between others",
            one(version, machine, [outermost(0), sp(8, base), outermost(16), sp(24, base + 16)]),
            hand=[(CODE, "undefined"), (CODE + 7, "undefined"), (CODE + 16, "undefined")],
        )


def outermost_functions():
    for machine in BY_VERSION[3]:
        functions = [Function(CODE, 32, []), leaf(machine), Function(CODE + 0x80, 16, [])]
        yield Vector(
            "outermost-functions",
            machine.name,
            "Default functions without rows, at whose PCs RA is undefined",
            Section(3, machine, functions),
            hand=[(CODE, "undefined"), (CODE + 31, "undefined"), (CODE + 32, None)],
        )
    yield Vector(
        "outermost-functions",
        "signal",
        "A signal frame without rows",
        Section(3, AMD64, [Function(CODE, 32, [], signal=True)]),
        kind=DIFFERING,
        reason="The text makes it an outermost frame; GNU as also writes it for signal frames that it cannot describe.",
        others={CODE: [None], CODE + 31: [None]},
    )
    yield Vector(
        "outermost-functions",
        "flexible",
        "A flexible function without rows",
        Section(3, AMD64, [Function(CODE, 32, [], flex=True)]),
        kind=DIFFERING,
        reason="The text makes only default functions without rows outermost ones; no reader distinguishes them.",
        others={CODE: ["undefined"], CODE + 31: ["undefined"]},
    )


def vectors():
    for version in (1, 2, 3):
        yield from rows(version)
        yield from row_info(version)
        yield from aarch64_rows(version)
    for version in (2, 3):
        yield from s390x_rows(version)
        yield from outermost_rows(version)
    yield from amd64_rows()
    yield from outermost_functions()
