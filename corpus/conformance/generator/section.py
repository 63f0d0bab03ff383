"""A section as a person describes it: functions and rows by their meaning. `assemble.py` makes bytes of a description,
`answers.py` the expected answers. Neither reads SFrame, so that no reader can agree with itself."""

from dataclasses import dataclass, field

from machines import Machine

# Values of `Rule.base` other than a DWARF register number.
CFA = "cfa"
SP = "sp"
FP = "fp"

SORTED, FRAME_POINTER, PCREL = 1, 2, 4


@dataclass(frozen=True)
class Rule:
    """The value `base + offset`, or, with `load`, the eight bytes in memory there."""

    base: object
    offset: int
    load: bool = False


def saved(offset):
    """In memory at an offset from the CFA."""
    return Rule(CFA, offset, True)


def register(number, offset=0, load=False):
    """A register plus an offset, or the memory there."""
    return Rule(number, offset, load)


@dataclass(frozen=True)
class Row:
    """A row. `ra` and `fp` are rules, or None if the row has no words for them. `cfa` None is a row without words, which
    marks an outermost frame."""

    start: int
    cfa: object
    ra: object = None
    fp: object = None
    size: int = 1
    signed: bool = False
    # What the bytes are if they are not those that the description implies: for malformed and unusual vectors.
    info: object = None
    words: object = None


def sp(start, offset, **more):
    """A row whose CFA is SP plus an offset."""
    return row(start, SP, offset, **more)


def fp(start, offset, **more):
    """A row whose CFA is FP plus an offset."""
    return row(start, FP, offset, **more)


def row(start, base, offset, ra=None, fp=None, **more):
    """A row of the default kind, with the stack slots of RA and FP as offsets from the CFA."""
    slot = lambda value: saved(value) if isinstance(value, int) else value
    return Row(start, Rule(base, offset), slot(ra), slot(fp), **more)


def outermost(start, **more):
    """A row without data words: RA is undefined (V2 errata 2, V3 2.4.1)."""
    return Row(start, None, **more)


@dataclass
class Function:
    start: int
    size: int
    rows: list
    # The width of the rows' start fields in bytes: 1, 2 or 4.
    width: int = 1
    # The size of a repeated block; None if the rows apply to the whole function.
    repeat: object = None
    flex: bool = False
    signal: bool = False
    key_b: bool = False
    # Stored values that differ from what the description implies.
    info: object = None
    info2: object = None
    rep_size: object = None
    padding: int = 0
    num_fres: object = None
    fre_off: object = None
    # The rows' bytes, if no description fits.
    raw: object = None
    stored_size: object = None


def relative(version, machine):
    """PCREL if starts are relative to their fields: in version 3, and since the erratum that added s390x."""
    return PCREL if version == 3 or (version == 2 and machine.name == "s390x") else 0


@dataclass
class Section:
    version: int
    machine: Machine
    functions: list
    address: int = 0x40_2000
    # What producers write for the version and the machine, if None.
    flags: object = None
    fixed_fp: int = 0
    fixed_ra: object = None
    auxiliary: bytes = b""
    # Bytes before the function table and between it and the rows.
    fde_gap: bytes = b""
    fre_gap: bytes = b""
    # Bytes after the section's contents.
    trailing: bytes = b""
    # The functions in the order of their rows in the FRE sub-section, by index; the table's order if None.
    row_order: object = None
    # Stored values of header fields that differ from what the description implies.
    header: dict = field(default_factory=dict)

    def __post_init__(self):
        if self.flags is None:
            self.flags = SORTED | relative(self.version, self.machine)

    @property
    def ra_offset(self):
        return self.machine.fixed_ra if self.fixed_ra is None else self.fixed_ra
