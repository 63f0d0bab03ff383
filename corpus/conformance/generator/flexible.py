"""Vectors about flexible rows (V3 3.2): pairs of control and offset words for CFA, RA and FP."""

from machines import AMD64, ARM, BY_VERSION, S390X
from section import CFA, Function, Row, Rule, Section, outermost, register, saved
from shapes import CODE
from vector import DIFFERING, MALFORMED, Vector

R10, RBP, RSP = 10, 6, 7


def one(machine, rows, **more):
    return Section(3, machine, [Function(CODE, 64, rows, flex=True, **more)])


def rule(start, base, offset, load=False, ra=None, fp=None, **more):
    return Row(start, Rule(base, offset, load), ra, fp, **more)


def vectors():
    yield by_hand()
    for machine in BY_VERSION[3]:
        yield from every_layout(machine)
    yield from every_control()
    yield from widths()
    yield fixed_offsets()
    yield from unusual()
    yield from malformed()


def by_hand():
    """What GCC does to realign the stack: the words are those of the specification's examples."""
    rows = [
        rule(0, RSP, 8),
        rule(5, R10, 0),
        rule(12, R10, 0, fp=register(RBP, 0, True)),
        rule(17, RBP, -8, True, fp=register(RBP, 0, True)),
        rule(40, R10, 0, fp=register(RBP, 0, True)),
        rule(46, RSP, 8),
    ]
    assert rows[3].words is None
    return Vector(
        "flexible-rows",
        "realigned-stack",
        "A function that realigns its stack: CFA = r10, then CFA = *(rbp-8)",
        one(AMD64, rows),
        hand=[
            (CODE, "r7+8 *(cfa-8) unchanged"),
            (CODE + 5, "r10+0 *(cfa-8) unchanged"),
            (CODE + 12, "r10+0 *(cfa-8) *(r6+0)"),
            (CODE + 17, "*(r6-8) *(cfa-8) *(r6+0)"),
            (CODE + 39, "*(r6-8) *(cfa-8) *(r6+0)"),
            (CODE + 46, "r7+8 *(cfa-8) unchanged"),
        ],
    )


def every_layout(machine):
    """2, 4, 5 and 6 words. On s390x the CFA's offset is scaled; for that, no text exists, but for its default rows."""
    base = machine.sp
    offset = 160 if machine is S390X else 16
    differs = {}
    if machine is S390X:
        differs = {
            "kind": DIFFERING,
            "reason": "The clause about flexible rows does not mention the scaling of CFA offsets on s390x; producers and readers apply it.",
            "others": {CODE: ["r15+0 unchanged unchanged"]},
        }
    yield Vector(
        "flexible-rows",
        f"layouts-{machine.name}",
        "2, 4, 5 and 6 words: CFA, then RA or a zero, then FP",
        one(
            machine,
            [
                rule(0, base, offset),
                rule(4, base, offset, ra=saved(-8)),
                rule(8, base, offset, fp=saved(-16)),
                rule(12, base, offset, ra=saved(-8), fp=saved(-16)),
                outermost(16),
                rule(20, base, offset),
            ],
        ),
        **differs,
    )


def every_control():
    """Each combination of the two flags, for each of the three values."""
    cases = [
        ("register", register(11)),
        ("register-offset", register(3, 24)),
        ("register-memory", register(12, -8, True)),
        ("cfa-memory", saved(-24)),
        ("cfa-memory-0", saved(0)),
        ("cfa-value", Rule(CFA, -32)),
    ]
    for machine in (AMD64, ARM[1], ARM[0]):
        for name, value in cases:
            if value.base == CFA and not value.load:
                continue
            rows = [
                rule(0, machine.sp, 16, ra=value),
                rule(4, machine.sp, 16, fp=value),
                rule(8, machine.fp, 16, ra=saved(-8), fp=value),
                rule(12, machine.sp, 16, ra=value, fp=saved(-40)),
            ]
            yield Vector(
                "flexible-rows",
                f"{name}-{machine.name}",
                f"RA and FP by a rule: {name.replace('-', ' ')}",
                one(machine, rows),
            )
    for number in (0, 1, 6, 7, 15, 16, 31):
        if number > 15:
            continue
        rows = [rule(0, number, 8), rule(4, number, -8, True)]
        yield Vector("flexible-rows", f"cfa-r{number}", f"CFAs from register {number}", one(AMD64, rows))
    rows = [rule(0, 15, 160, ra=register(16), fp=register(17)), rule(6, 11, 320, ra=register(18), fp=saved(-72))]
    yield Vector(
        "flexible-rows",
        "in-registers-s390x",
        "s390x: RA and FP in floating-point registers",
        one(S390X, rows),
        kind=DIFFERING,
        reason="The clause about flexible rows does not mention the scaling of CFA offsets on s390x; producers and readers apply it.",
        others={CODE: ["r15+0 r16+0 r17+0"], CODE + 6: ["r11+20 r18+0 *(cfa-72)"]},
    )


def widths():
    """Control words are unsigned: a register from 16 up sets the highest bit of a byte."""
    for machine in (AMD64, ARM[1]):
        rows = [
            rule(0, machine.sp, 8, ra=register(31, 0, True)),
            rule(4, machine.sp, 300, ra=register(40), fp=register(machine.fp, -300, True), size=2),
            rule(8, machine.fp, 70_000, True, fp=saved(-70_000), size=4),
            rule(12, machine.sp, 8, ra=register(16, -1), fp=register(30, -128)),
        ]
        yield Vector(
            "flexible-rows",
            f"widths-{machine.name}",
            "Control words and offsets of 1, 2 and 4 bytes; control words are unsigned, offsets signed",
            one(machine, rows),
        )


def fixed_offsets():
    """RA and FP without words are at the header's fixed offsets."""
    rows = [rule(0, RSP, 32), rule(4, R10, 0, fp=register(RBP, 0, True)), rule(8, RSP, 32, ra=register(11))]
    section = one(AMD64, rows)
    section.fixed_fp = -24
    return Vector(
        "flexible-rows",
        "fixed-offsets",
        "Fixed offsets of RA and FP apply where a row has no words for them",
        section,
        hand=[
            (CODE, "r7+32 *(cfa-8) *(cfa-24)"),
            (CODE + 4, "r10+0 *(cfa-8) *(r6+0)"),
            (CODE + 8, "r7+32 r11+0 *(cfa-24)"),
        ],
    )


def unusual():
    bit = [0x3D, 8]
    yield Vector(
        "flexible-rows",
        "unused-bit",
        "The unused bit 2 of a control word",
        one(AMD64, [Row(0, Rule(RSP, 8), words=bit)]),
        kind=DIFFERING,
        reason="A reader may ignore the unused bit, or refuse the row.",
        others={CODE: [None], CODE + 63: [None]},
        may_refuse=True,
    )
    value = one(AMD64, [rule(0, RSP, 16, ra=Rule(CFA, -32), fp=Rule(CFA, -48), words=[0x39, 16, 0, -32, 0, -48])])
    yield Vector(
        "flexible-rows",
        "control-0-with-offset",
        "Control words of 0 that offsets follow: 6 words",
        value,
        kind=DIFFERING,
        reason="A control word of 0 means that no further words follow for the value, so that RA or FP = CFA + offset cannot be expressed.",
        others={pc: ["r7+16 *(cfa-8) unchanged", "r7+16 *(cfa-8) cfa-48", "r7+16 cfa-32 unchanged", None] for pc in (CODE, CODE + 63)},
        may_refuse=True,
        only_lookups=True,
    )


def malformed():
    cases = (
        ("one-word", [0x39], "A control word without an offset."),
        ("three-words", [0x39, 8, 0x02], "RA's control word without an offset."),
        ("five-words-ra", [0x39, 8, 0x02, -8, 0x02], "FP's control word without an offset."),
        ("seven-words", [0x39, 8, 0x02, -8, 0x02, -16, 0x02], "More words than CFA, RA and FP have."),
    )
    for name, words, reason in cases:
        strict = name == "one-word"
        yield Vector(
            "flexible-rows",
            name,
            reason.removesuffix("."),
            one(AMD64, [Row(0, Rule(RSP, 8), words=words)]),
            kind=MALFORMED if strict else DIFFERING,
            reason=reason if strict else reason + " A reader may refuse the row, or use the words that have a meaning.",
            **({} if strict else lenient()),
        )
    yield Vector(
        "flexible-rows",
        "cfa-of-itself",
        "A CFA that is relative to the CFA",
        one(AMD64, [Row(0, Rule(RSP, 8), words=[0x02, 8])]),
        kind=MALFORMED,
        reason="CFA recovery must specify a base register (appendix A).",
    )
    yield Vector(
        "flexible-rows",
        "cfa-missing",
        "A CFA whose control word is 0",
        one(AMD64, [Row(0, Rule(RSP, 8), words=[0x00, 8])]),
        kind=MALFORMED,
        reason="CFA recovery must specify a base register (appendix A).",
    )


def lenient():
    saved_ra = ["r7+8 *(cfa-8) *(cfa-16)", None]
    return {"others": {CODE: saved_ra, CODE + 63: saved_ra}, "may_refuse": True, "only_lookups": True}
