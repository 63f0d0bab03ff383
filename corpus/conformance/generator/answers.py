"""The expected answers for a described section: header, functions, rows, and the row at every boundary PC.

They come from the description and the specification's rules for looking up a PC, not from the assembled bytes."""

from assemble import base_register
from section import CFA, Rule


def text(section, rule):
    """A rule in the notation of the schema: `r7+8`, `*(cfa-16)`."""
    base = "cfa" if rule.base == CFA else f"r{base_register(section, rule.base)}"
    plain = f"{base}{rule.offset:+d}"
    return f"*({plain})" if rule.load else plain


def frame(section, row):
    """What a row says about the caller."""
    if row.cfa is None:
        return {"ra": "undefined"}
    ra = row.ra
    if ra is None and section.ra_offset != 0:
        ra = Rule(CFA, section.ra_offset, True)
    fp = row.fp
    if fp is None and section.fixed_fp != 0:
        fp = Rule(CFA, section.fixed_fp, True)
    rules = {"cfa": text(section, row.cfa)}
    rules |= {name: text(section, rule) if rule else "unchanged" for name, rule in (("ra", ra), ("fp", fp))}
    return rules | {"signed": row.signed}


def is_outermost(section, function):
    """V3 1.2: a default function without rows marks an outermost frame."""
    return section.version == 3 and not function.rows and not function.flex


def functions(section):
    described = []
    for function in section.functions:
        rows = [{"start": row.start} | frame(section, row) for row in function.rows]
        item = {"start": hex(function.start), "size": function.size}
        if section.version > 1:
            item["repeat"] = function.repeat or 0
        item["type"] = "flex" if function.flex else "default"
        item["signal"] = function.signal
        if section.machine.name.startswith("aarch64"):
            item["key"] = "b" if function.key_b else "a"
        described.append(item | {"rows": rows})
    return described


def covers(function, pc):
    return function.start <= pc < function.start + function.size


def place_in(function, pc):
    """The offset that is compared with the rows' starts."""
    offset = pc - function.start
    return offset if function.repeat is None else offset % function.repeat


def lookup(section, pc):
    """The function and the frame at a PC, each None if there is none."""
    for function in section.functions:
        if not covers(function, pc):
            continue
        if is_outermost(section, function):
            return function, {"ra": "undefined"}
        rows = [row for row in function.rows if row.start <= place_in(function, pc)]
        return function, frame(section, rows[-1]) if rows else None
    return None, None


def boundaries(section):
    """Every PC at which an answer may change, and the one before, with the reason. The first reason is kept."""
    found = {}
    add = lambda pc, why: found.setdefault(pc, why) if 0 <= pc < 1 << 64 else None
    for index, function in enumerate(section.functions):
        start, end = function.start, function.start + function.size
        if function.size:
            add(start, f"first byte of function {index}")
            add(end - 1, f"last byte of function {index}: one before the return address of a final call")
        blocks = range(start, end, function.repeat) if function.repeat else [start]
        for block in list(blocks)[:3]:
            for row_index, row in enumerate(function.rows):
                if block + row.start < end:
                    add(block + row.start, f"start of row {row_index} of function {index}")
                    add(block + row.start - 1, f"one before row {row_index} of function {index}")
    for index, function in enumerate(section.functions):
        add(function.start - 1, f"one before function {index}")
        add(function.start + function.size, f"one after function {index}")
    ordered = sorted(section.functions, key=lambda function: function.start)
    for before, after in zip(ordered, ordered[1:]):
        gap = after.start - (before.start + before.size)
        if gap > 1:
            add(before.start + before.size + gap // 2, "in a gap between functions")
    if not ordered:
        add(section.address, "a section without functions")
    return sorted(found.items())


def answer(section, pc):
    function, found = lookup(section, pc)
    return {"function": hex(function.start) if found else None, "frame": found}


def lookups(section):
    return [{"pc": hex(pc), "why": why} | answer(section, pc) for pc, why in boundaries(section)]
