"""Vectors about what no text says: `docs/ERRATA.md` has the readers' answers to them."""

from machines import AARCH64_BE, AMD64
from section import FRAME_POINTER, PCREL, SP, Function, Row, Rule, Section, outermost, saved, sp
from shapes import CODE, leaf, pair, prologue
from vector import DIFFERING, Vector

R7 = 7
PLAIN = "r7+8 *(cfa-8) unchanged"


def vectors():
    for version in (1, 2, 3):
        yield from totals(version)
        yield from empty_functions(version)
        yield tracked_on_amd64(version)
        yield at_odd_address(version)
        yield without_order(version)
        yield surplus_words(version)
    yield from padding()
    yield without_words_of_reserved_size()
    yield ordered_by_stored_value()
    yield frame_pointer_without_order()


def totals(version):
    """Readers that swap bytes walk over all rows first, and may compare what they find with the header."""
    cases = (
        ("num-fres-too-large", "A total of rows that is larger than the number of rows", {"header": {"num_fres": 0xFFFF}}),
        ("num-fres-too-small", "A total of rows that is smaller than the number of rows", {"header": {"num_fres": 1}}),
        ("trailing", "Bytes after the end of the FRE sub-section", {"trailing": b"\xff" * 16}),
        ("trailing-zeros", "Zeros after the end of the FRE sub-section", {"trailing": bytes(4)}),
    )
    for name, title, more in cases:
        yield Vector(
            "header",
            f"{name}-aarch64_be",
            f"{title}, in the other byte order",
            pair(version, AARCH64_BE, **more),
            kind=DIFFERING,
            reason="Nothing that a reader needs depends on it; or a reader may compare it, and refuse the section.",
            may_refuse=True,
        )


def empty_functions(version):
    """GCC leaves empty functions, which GNU as and ld keep."""
    empty = Function(CODE, 0, [sp(0, 8)])
    function = prologue(AMD64)
    for name, functions in (("size-0-first", [empty, function]), ("size-0-last", [function, empty])):
        yield Vector(
            "functions",
            name,
            "An empty function at the start of another: it covers no PC",
            Section(version, AMD64, [*functions, leaf(AMD64)]),
            kind=DIFFERING,
            reason="An empty function covers nothing; a search for the last start before a PC may find it instead.",
            others={pc: [None] for pc in range(CODE, CODE + 32)},
        )


def tracked_on_amd64(version):
    """A fixed RA offset of 0 means that RA is not fixed, which no text says."""
    rows = [sp(0, 8, ra=-8), sp(4, 32, ra=-8, fp=-16)]
    first = ["r7+8 unchanged *(cfa-8)", "r7+8 *(cfa+0) *(cfa-8)", None]
    second = ["r7+32 unchanged *(cfa-8)", "r7+32 *(cfa+0) *(cfa-8)", None]
    return Vector(
        "header",
        "fixed-ra-0-amd64",
        "A fixed RA offset of 0 on AMD64: RA has a word in each row",
        Section(version, AMD64, [Function(CODE, 32, rows)], fixed_ra=0),
        kind=DIFFERING,
        reason="The text has a fixed offset 'if any', but does not say that 0 means none; for AMD64, it has no word for RA.",
        others={CODE: first, CODE + 3: first, CODE + 4: second, CODE + 31: second},
        may_refuse=True,
        only_lookups=True,
    )


def at_odd_address(version):
    return Vector(
        "header",
        "odd-address",
        "A section at an odd address: no field is aligned",
        pair(version, AMD64, address=0x40_2001),
        kind=DIFFERING,
        reason="The text says that the header and the table are naturally aligned, but not how the section is; a reader may require it.",
        or_nothing=True,
        may_refuse=True,
    )


def without_order(version):
    """A PC at which a function ends, and a later entry's function starts."""
    functions = [Function(CODE + 0x20, 16, [sp(0, 24)]), Function(CODE, 32, [sp(0, 8)]), Function(CODE + 0x30, 16, [sp(0, 40)])]
    flags = PCREL if version == 3 else 0
    more = {}
    if version < 3:
        reason = "The text calls the table a sorted array, and defines a flag that says whether it is sorted."
        more = {"kind": DIFFERING, "reason": reason, "or_nothing": True}
    return Vector(
        "flags",
        "unsorted-adjacent",
        "No SFRAME_F_FDE_SORTED, and functions without a gap: the end of each is the start of the next",
        Section(version, AMD64, functions, flags=flags),
        **more,
    )


def frame_pointer_without_order():
    """The flag next to SFRAME_F_FDE_SORTED does not promise an order."""
    functions = [leaf(AMD64, CODE + 0x80), prologue(AMD64), leaf(AMD64)]
    return Vector(
        "flags",
        "frame-pointer-unsorted",
        "SFRAME_F_FRAME_POINTER in a table without order",
        Section(3, AMD64, functions, flags=FRAME_POINTER | PCREL),
        kind=DIFFERING,
        reason="Undefined bits must be zero; the text does not say whether a reader has to refuse the section.",
        may_refuse=True,
    )


def surplus_words(version):
    """Nine words: the count needs all four of its bits, and the next row follows all words. The second and third would be a
    row: start 0xf0, info 3."""
    words = [8, -16, 3, -32, -40, -48, -56, -64, -72]
    rows = [Row(0, Rule(SP, 8), None, saved(-16), words=words), sp(8, 16)]
    return Vector(
        "row-info",
        "nine-words-amd64",
        "More words than any machine uses, and a row after them",
        Section(version, AMD64, [Function(CODE, 64, rows)]),
        kind=DIFFERING,
        reason="The machine gives no meaning to more words; a reader may ignore them, or refuse the row.",
        others={pc: [None] for pc in (CODE, CODE + 7, CODE + 8, CODE + 63)},
        may_refuse=True,
        only_lookups=True,
    )


def padding():
    """A control word of 0 that nothing follows, or that stands for FP."""
    cases = (
        ("padding-alone", [0x39, 8, 0], "A padding word at the end: RA has no rule, and FP has none"),
        ("padding-twice", [0x39, 8, 0, 0], "Two padding words: neither RA nor FP has a rule"),
        ("padding-for-fp", [0x39, 8, 0x02, -8, 0], "A padding word for FP after RA's rule"),
    )
    row = lambda words: Row(0, Rule(R7, 8), words=words)
    yield Vector(
        "flexible-rows",
        "padding-for-fp-with-offset",
        "A control word of 0 for FP that an offset follows, after RA's rule",
        Section(3, AMD64, [Function(CODE, 64, [row([0x39, 8, 0x02, -8, 0, -48])], flex=True)]),
        kind=DIFFERING,
        reason="A control word of 0 means that no further words follow for FP; a reader may refuse the surplus one.",
        others={CODE: [None], CODE + 63: [None]},
        may_refuse=True,
        only_lookups=True,
    )
    for name, words, title in cases:
        yield Vector(
            "flexible-rows",
            name,
            title,
            Section(3, AMD64, [Function(CODE, 64, [row(words)], flex=True)]),
            kind=DIFFERING,
            reason="The text has a padding word only for RA, and only before FP's words; a control word of 0 has a meaning for each value.",
            others={CODE: [None], CODE + 63: [None]},
            may_refuse=True,
            only_lookups=True,
        )


def without_words_of_reserved_size():
    return Vector(
        "row-info",
        "outermost-size-code-3",
        "A row without data words whose size code is undefined",
        Section(3, AMD64, [Function(CODE, 32, [sp(0, 8), outermost(4, info=0x60)])]),
        kind=DIFFERING,
        reason="A row without words has no size, but the code 3 is not among the valid values.",
        others={pc: [None] for pc in (CODE, CODE + 3, CODE + 4, CODE + 31)},
        may_refuse=True,
        only_lookups=True,
    )


def ordered_by_stored_value():
    """Functions that are closer to each other than their entries: the addresses ascend, the stored values descend."""
    far, near = Function(CODE + 0x40, 16, [sp(0, 16)]), Function(CODE + 0x38, 8, [sp(0, 8)])
    return Vector(
        "flags",
        "sorted-by-value",
        "SFRAME_F_FDE_SORTED, and a table that is ordered by address: the stored values descend",
        Section(3, AMD64, [near, far, leaf(AMD64, CODE + 0x50, 6), leaf(AMD64, CODE + 0x56, 6)]),
        hand=[
            (CODE + 0x38, PLAIN),
            (CODE + 0x40, "r7+16 *(cfa-8) unchanged"),
            (CODE + 0x55, PLAIN),
            (CODE + 0x56, PLAIN),
            (CODE + 0x5C, None),
        ],
    )
