"""Walks of small memory images. `machine.py` builds the stacks forwards."""

from machine import Machine
from machines import AMD64, ARM, BY_VERSION, S390X
from section import Function, Row, Rule, Section, fp, outermost, register, sp
from shapes import CODE, entry_offset, leaf
from vector import DIFFERING, Vector

# Addresses: a stack, code that no function covers, and a frame pointer of unknown code.
STACK, OUTSIDE, FIRST_FP = 0x7FFF_0000_1000, 0x50_0124, 0x7FFF_0000_2000
A, B, LEAF = CODE, CODE + 0x40, CODE + 0x80


def saved(machine):
    """Where a prologue saves registers, and the distance of the CFA from FP afterwards."""
    if machine is AMD64:
        return {"fp": -16}, 16
    if machine is S390X:
        return {"ra": -48, "fp": -72}, 320
    return {"ra": -24, "fp": -32}, 32


def framed(machine, start, size=0x40, signed=False, **more):
    """A function whose body begins at 8."""
    slots, distance = saved(machine)
    mark = {"signed": True} if signed else {}
    return Function(start, size, [sp(0, entry_offset(machine)), fp(8, distance, **slots, **mark)], **more)


def begin(machine):
    """A machine in code that no function covers."""
    return Machine(machine, STACK, FIRST_FP)


def enter(simulated, return_address, signed=False):
    simulated.call(return_address)
    simulated.prologue(signed)


def chain(version, machine):
    """Two functions with frames and a leaf."""
    functions = [framed(machine, A), framed(machine, B), leaf(machine, LEAF)]
    inner = begin(machine)
    enter(inner, OUTSIDE)
    enter(inner, A + 0x10)
    inner.call(B + 0x20)
    body = begin(machine)
    enter(body, OUTSIDE)
    enter(body, A + 0x10)
    first = begin(machine)
    enter(first, OUTSIDE)
    first.call(A + 0x10)
    return Vector(
        "walks",
        f"chain-{machine.name}",
        "Calls of two functions with frames, up to code that no function covers",
        Section(version, machine, functions),
        walks=[
            inner.walk("from a leaf", LEAF + 4, "uncovered"),
            body.walk("from a function's body", B + 0x24, "uncovered"),
            first.walk("from a function's first instruction", B, "uncovered"),
            begin(machine).walk("from code that no function covers", OUTSIDE, "uncovered"),
        ],
    )


def final_call(version, machine):
    """A call that does not return is the last instruction: the return address is the next function's first byte."""
    functions = [framed(machine, A), framed(machine, B), leaf(machine, LEAF)]
    simulated = begin(machine)
    enter(simulated, OUTSIDE)
    # What a walker takes for a return address if it looks up B instead of A: a word of A's locals.
    if machine is AMD64:
        simulated.put(simulated.sp, 0x60_0000)
    top, base = simulated.sp, simulated.fp
    simulated.call(B)
    here = (LEAF + 4, simulated.sp, simulated.fp)
    other = [here, (B, top, base)]
    if machine is AMD64:
        others = [(other + [(0x60_0000, top + 8, base)], "uncovered")]
    else:
        # The next function's first row says that RA is in its register, which is unknown in a caller.
        others = [(other, "error")]
    return Vector(
        "walks",
        f"final-call-{machine.name}",
        "The return address after a final call belongs to the next function; the call is one byte before",
        Section(version, machine, functions),
        kind=DIFFERING,
        reason="No text says that a walker looks up the byte before a return address; some walkers do, some do not.",
        walks=[simulated.walk("from the function that does not return", LEAF + 4, "uncovered", others=others)],
    )


def last_byte(version, machine):
    """A return address that is its function's last byte, as in `call f; ret` of AMD64."""
    simulated = begin(machine)
    enter(simulated, OUTSIDE)
    enter(simulated, A + 0x3F)
    simulated.call(B + 0x2F)
    functions = [framed(machine, A), framed(machine, B, 0x30), leaf(machine, LEAF)]
    return Vector(
        "walks",
        f"last-byte-{machine.name}",
        "Return addresses that are the last bytes of their functions",
        Section(version, machine, functions),
        walks=[simulated.walk("from a leaf", LEAF + 4, "uncovered")],
    )


def stuck(version, machine):
    """Damaged stacks on which a walker must not run in circles."""
    slot = {"amd64": 0, "s390x": 88 + 160}.get(machine.name, 0)
    around = begin(machine)
    enter(around, OUTSIDE)
    enter(around, A + 0x10)
    # The saved FP is the function's own, and so on for ever.
    around.put(around.fp + slot, around.fp)
    below = begin(machine)
    enter(below, OUTSIDE)
    enter(below, A + 0x10)
    below.put(below.fp + slot, below.fp - 0x800)
    first = begin(machine)
    enter(first, OUTSIDE)
    first.sp += 0x800
    # The CFA is SP or FP plus the distance; on s390x, the caller's SP is 160 bytes below it.
    caller = lambda m: (A + 0x10, m.fp + saved(machine)[1] - (160 if machine is S390X else 0))
    rounds = lambda m, fp: [(B + 0x20, m.sp, m.fp), (*caller(m), fp)]
    return Vector(
        "walks",
        f"stuck-{machine.name}",
        "Stacks that do not grow: a walk ends where the caller's SP is not above the callee's",
        Section(version, machine, [framed(machine, A), framed(machine, B), leaf(machine, LEAF)]),
        walks=[
            around.walk("FP leads back to the frame", B + 0x20, "error", rounds(around, around.fp)),
            below.walk("FP leads below the frame", B + 0x20, "error", rounds(below, below.fp - 0x800)),
            first.walk("FP is below SP", A + 0x10, "error", [(A + 0x10, first.sp, first.fp)]),
        ],
    )


def missing_memory(version, machine):
    """The saved registers cannot be read."""
    simulated = begin(machine)
    enter(simulated, OUTSIDE)
    simulated.memory.clear()
    here = [(A + 0x10, simulated.sp, simulated.fp)]
    return Vector(
        "walks",
        f"missing-memory-{machine.name}",
        "A stack that cannot be read",
        Section(version, machine, [framed(machine, A)]),
        walks=[simulated.walk("without memory", A + 0x10, "error", here)],
    )


def unknown_ra(version, machine):
    """A caller whose row says that RA is in its register: only the innermost frame's registers are known."""
    simulated = begin(machine)
    enter(simulated, OUTSIDE)
    simulated.call(LEAF + 8)
    frames = [(B + 0x10, simulated.sp, simulated.fp)]
    simulated.prologue()
    frames = [(B + 0x10, simulated.sp, simulated.fp), (LEAF + 8, *frames[0][1:])]
    functions = [framed(machine, A), framed(machine, B), leaf(machine, LEAF)]
    return Vector(
        "walks",
        f"unknown-ra-{machine.name}",
        "A return address into a leaf, whose own return address is in a register",
        Section(version, machine, functions),
        walks=[simulated.walk("through a leaf", B + 0x10, "error", frames)],
    )


def signed(version, machine):
    """Return addresses in memory have authentication codes, which a walker removes."""
    functions = [framed(machine, A, signed=True), framed(machine, B, signed=True), leaf(machine, LEAF)]
    simulated = begin(machine)
    enter(simulated, OUTSIDE, signed=True)
    enter(simulated, A + 0x10, signed=True)
    simulated.call(B + 0x20)
    kernel = 0xFFFF_8000_1008_0000
    moved = [Function(kernel + f.start, f.size, f.rows, f.width, key_b=True) for f in functions]
    high = Machine(machine, 0xFFFF_8000_2000_1000, 0xFFFF_8000_2000_2000)
    enter(high, kernel + OUTSIDE, signed=True)
    enter(high, kernel + A + 0x10, signed=True)
    high.call(kernel + B + 0x20)
    for name, code, walk in (
        ("signed", functions, simulated.walk("user space", LEAF + 4, "uncovered", pointer_bits=48)),
        ("signed-kernel", moved, high.walk("kernel", kernel + LEAF + 4, "uncovered", pointer_bits=48)),
    ):
        address = 0x40_2000 if code is functions else kernel + 0x40_2000
        yield Vector(
            "walks",
            f"{name}-{machine.name}",
            "Signed return addresses: bit 55 fills the bits above the address",
            Section(version, machine, code, address=address),
            walks=[walk],
        )


def outermost_frame(version, machine):
    """The first function of a thread has no caller."""
    first = Function(A, 0x40, [outermost(0)])
    simulated = begin(machine)
    simulated.call(A + 0x10)
    simulated.prologue()
    simulated.call(B + 0x20)
    return Vector(
        "walks",
        f"outermost-{machine.name}",
        "A walk ends at a row without words",
        Section(version, machine, [first, framed(machine, B), leaf(machine, LEAF)]),
        walks=[simulated.walk("from a leaf", LEAF + 4, "outermost")],
    )


def outermost_function(machine):
    """Version 3: a default function without rows."""
    simulated = begin(machine)
    simulated.call(A + 0x10)
    simulated.prologue()
    return Vector(
        "walks",
        f"outermost-function-{machine.name}",
        "A walk ends at a function without rows",
        Section(3, machine, [Function(A, 0x40, []), framed(machine, B)]),
        walks=[simulated.walk("from its callee", B + 0x20, "outermost")],
    )


def signal_frame():
    """A signal arrives at the first instruction of a row: the interrupted PC is looked up itself, not the byte before."""
    at = lambda offset: register(7, offset, True)
    # Like glibc's, the trampoline's function begins one byte early, because its address is looked up less 1.
    trampoline = Function(LEAF - 1, 0x11, [Row(0, at(160), at(168), at(120), size=2)], flex=True, signal=True)
    handler = leaf(AMD64, LEAF + 0x40)
    simulated = begin(AMD64)
    enter(simulated, OUTSIDE)
    # After B's `push %rbp`, `mov %rsp,%rbp`, at its row's first byte.
    simulated.call(A + 0x10)
    simulated.prologue()
    interrupted = (B + 8, simulated.sp, simulated.fp)
    frames = list(simulated.frames)
    simulated.sp -= 512
    base = simulated.sp
    for offset, value in ((120, interrupted[2]), (160, interrupted[1]), (168, interrupted[0])):
        simulated.put(base + offset, value)
    simulated.sp -= 8
    simulated.put(simulated.sp, LEAF)
    expected = [
        (LEAF + 0x44, simulated.sp, simulated.fp),
        (LEAF, base, simulated.fp),
        interrupted,
        *reversed(frames),
    ]
    return Vector(
        "walks",
        "signal-amd64",
        "A signal handler, its trampoline, and the interrupted function",
        Section(3, AMD64, [framed(AMD64, A), framed(AMD64, B, 0x30), trampoline, handler]),
        walks=[simulated.walk("from the handler", LEAF + 0x44, "uncovered", expected)],
    )


def realigned():
    """A function that realigns its stack: its CFA is in r10, then in memory; r10 is known in the innermost frame only."""
    rbp = lambda offset: register(6, offset, True)
    rows = [
        Row(0, Rule(7, 8)),
        Row(5, Rule(10, 0)),
        Row(0x10, rbp(-8), None, rbp(0)),
        Row(0x30, Rule(10, 0), None, rbp(0)),
    ]
    functions = [framed(AMD64, A), Function(B, 0x40, rows, flex=True), leaf(AMD64, LEAF)]
    simulated = begin(AMD64)
    enter(simulated, OUTSIDE)
    simulated.call(A + 0x10)
    cfa, old_fp = simulated.sp + 8, simulated.fp
    early = Machine(AMD64, simulated.sp & ~0x3F, old_fp)
    early.memory, early.frames, early.extra = dict(simulated.memory), list(simulated.frames), {10: cfa}
    # `lea 8(%rsp),%r10; and $-64,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10`
    simulated.sp &= ~0x3F
    simulated.sp -= 16
    simulated.put(simulated.sp, old_fp)
    simulated.fp = simulated.sp
    simulated.sp -= 8
    simulated.put(simulated.sp, cfa)
    body = simulated.walk("from the body, CFA = *(rbp-8)", B + 0x20, "uncovered")
    restored = Machine(AMD64, simulated.sp, simulated.fp)
    restored.memory, restored.frames, restored.extra = dict(simulated.memory), list(simulated.frames), {10: cfa}
    top, base = simulated.sp, simulated.fp
    simulated.call(B + 0x20)
    inner = simulated.walk("from a leaf that the body calls", LEAF + 4, "uncovered")
    late = Machine(AMD64, top, base)
    late.memory = dict(simulated.memory)
    late.call(B + 0x34)
    stuck = [(LEAF + 4, late.sp, late.fp), (B + 0x34, top, base)]
    return Vector(
        "walks",
        "realigned-stack",
        "A flexible function: registers other than SP and FP are known in the innermost frame only",
        Section(3, AMD64, functions),
        walks=[
            early.walk("after r10 is set", B + 6, "uncovered"),
            body,
            restored.walk("after r10 is restored", B + 0x34, "uncovered"),
            inner,
            late.walk("from a leaf that is called where the CFA is in r10", LEAF + 4, "error", stuck),
        ],
    )


def vectors():
    for version in (1, 2, 3):
        for machine in BY_VERSION[version]:
            yield chain(version, machine)
            yield final_call(version, machine)
            if machine is AMD64:
                yield last_byte(version, machine)
            yield stuck(version, machine)
            yield missing_memory(version, machine)
            if machine is not AMD64:
                yield unknown_ra(version, machine)
            if version > 1:
                yield outermost_frame(version, machine)
        for machine in ARM:
            yield from signed(version, machine)
    for machine in BY_VERSION[3]:
        yield outermost_function(machine)
    yield signal_frame()
    yield realigned()
