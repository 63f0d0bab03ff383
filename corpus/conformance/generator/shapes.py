"""Functions that many vectors share, by machine: what a compiler's prologue and epilogue look like."""

from section import Function, Section, fp, sp

CODE = 0x40_1000


def prologue(machine, **more):
    """A function of 32 bytes that saves the frame pointer, uses it as the base of the CFA, and restores it."""
    if machine.name == "amd64":
        rows = [sp(0, 8), sp(1, 16, fp=-16), fp(4, 16, fp=-16), sp(31, 8)]
    elif machine.name == "s390x":
        saved = {"ra": -48, "fp": -72}
        rows = [sp(0, 160), sp(6, 160, **saved), sp(12, 320, **saved), fp(16, 320, **saved), sp(28, 160)]
    else:
        saved = {"ra": -8, "fp": -16}
        rows = [sp(0, 0), sp(4, 16, **saved), fp(8, 32, **saved), sp(28, 0)]
    return Function(CODE, 32, rows, **more)


def entry_offset(machine):
    """The CFA's offset from SP at a function's first instruction."""
    return {"amd64": 8, "s390x": 160}.get(machine.name, 0)


def leaf(machine, start=CODE + 0x40, size=16, **more):
    """A function that touches neither SP nor FP."""
    return Function(start, size, [sp(0, entry_offset(machine))], **more)


def grown(machine, by):
    """The CFA's offset after a function has subtracted `by` from SP."""
    return entry_offset(machine) + by


def pair(version, machine, **more):
    """A function with a prologue, a gap, and a leaf."""
    return Section(version, machine, [prologue(machine), leaf(machine)], **more)
