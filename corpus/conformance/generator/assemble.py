"""The bytes of a described section, by the layouts of V1 1.1 to 1.4, V2 2.1 to 2.4, and V3 2.1 to 2.4 and 3.1 to 3.2."""

from section import CFA, FP, PCREL, SP, Rule

HEADER = 28
ENTRY = {1: 17, 2: 20, 3: 16}
SIZE_CODES = {1: 0, 2: 1, 4: 2}
WIDTH_CODES = {1: 0, 2: 1, 4: 2}
# V3 3.1.3: the stored CFA offset of s390x is (offset - 160) / 8.
S390X_ADJUSTMENT, S390X_FACTOR = 160, 8


def number(value, size, order, signed=False):
    return value.to_bytes(size, order, signed=signed)


def stored_cfa(section, offset):
    if section.machine.name != "s390x":
        return offset
    scaled, rest = divmod(offset - S390X_ADJUSTMENT, S390X_FACTOR)
    assert rest == 0, f"s390x cannot store the CFA offset {offset}"
    return scaled


def stored_slot(section, rule):
    """A default row's word for RA or FP: an offset from the CFA or, on s390x in version 2, an odd word for a register."""
    if rule.base == CFA:
        assert rule.load
        return rule.offset
    assert section.machine.name == "s390x" and section.version == 2 and rule.offset == 0
    return rule.base * 2 + 1


def default_words(section, row):
    words = [stored_cfa(section, row.cfa.offset)]
    assert row.cfa.base in (SP, FP) and not row.cfa.load
    tracks_ra, tracks_fp = section.ra_offset == 0, section.fixed_fp == 0
    if tracks_ra:
        if row.ra is not None:
            words.append(stored_slot(section, row.ra))
        elif row.fp is not None:
            assert section.machine.name == "s390x", "only s390x can pad RA"
            words.append(0)
    else:
        assert row.ra is None, "RA is fixed"
    if row.fp is not None:
        assert tracks_fp
        words.append(stored_slot(section, row.fp))
    return words


def base_register(section, base):
    return {SP: section.machine.sp, FP: section.machine.fp}.get(base, base)


def pair(section, rule, offset):
    if rule.base == CFA:
        control = 0
    else:
        control = base_register(section, rule.base) << 3 | 1
    return [control | rule.load << 1, offset]


def flex_words(section, row):
    words = pair(section, row.cfa, stored_cfa(section, row.cfa.offset))
    if row.ra is not None:
        words += pair(section, row.ra, row.ra.offset)
    elif row.fp is not None:
        words.append(0)
    if row.fp is not None:
        words += pair(section, row.fp, row.fp.offset)
    return words


def words_of(section, function, row):
    if row.words is not None:
        return row.words
    if row.cfa is None:
        return []
    return flex_words(section, row) if function.flex else default_words(section, row)


def row_bytes(section, function, row):
    order = section.machine.order
    words = words_of(section, function, row)
    info = row.info
    if info is None:
        base = 1 if row.cfa is not None and not function.flex and row.cfa.base == SP else 0
        info = row.signed << 7 | SIZE_CODES[row.size] << 5 | len(words) << 1 | base
        info = 0 if row.cfa is None else info
    data = number(row.start, function.width, order) + bytes([info])
    for word in words:
        # Control words are unsigned, the others signed: only the range differs.
        data += number(word & ((1 << 8 * row.size) - 1), row.size, order)
        assert -(1 << 8 * row.size - 1) <= word < 1 << 8 * row.size
    return data


def info_byte(section, function):
    if function.info is not None:
        return function.info
    mask = function.repeat is not None
    return function.signal << 7 | function.key_b << 5 | mask << 4 | WIDTH_CODES[function.width]


def stored(value, implied):
    return implied if value is None else value


def rep_size(function):
    return stored(function.rep_size, function.repeat or 0)


def rows_of(section, function):
    """A function's part of the FRE sub-section: since version 3, its attributes come first."""
    rows = b"".join(row_bytes(section, function, row) for row in function.rows)
    rows = rows if function.raw is None else function.raw
    if section.version < 3:
        return rows
    count = stored(function.num_fres, len(function.rows))
    info2 = stored(function.info2, int(function.flex))
    attributes = [info_byte(section, function), info2, rep_size(function)]
    return number(count, 2, section.machine.order) + bytes(attributes) + rows


def entry_bytes(section, function, position, fre_off):
    order = section.machine.order
    base = section.address + (position if section.flags & PCREL else 0)
    value = function.start - base
    fre_off = stored(function.fre_off, fre_off)
    size = stored(function.stored_size, function.size)
    common = number(size, 4, order) + number(fre_off, 4, order)
    if section.version == 3:
        return number(value, 8, order, True) + common
    count = stored(function.num_fres, len(function.rows))
    data = number(value, 4, order, True) + common + number(count, 4, order)
    data += bytes([info_byte(section, function)])
    if section.version == 2:
        data += bytes([rep_size(function)]) + number(function.padding, 2, order)
    return data


def header_values(section, fre_len):
    """The fields of the header in stored order."""
    values = {
        "magic": 0xDEE2,
        "version": section.version,
        "flags": section.flags,
        "abi_arch": section.machine.abi,
        "cfa_fixed_fp_offset": section.fixed_fp,
        "cfa_fixed_ra_offset": section.ra_offset,
        "auxhdr_len": len(section.auxiliary),
        "num_fdes": len(section.functions),
        "num_fres": sum(len(function.rows) for function in section.functions),
        "fre_len": fre_len,
        "fdeoff": len(section.fde_gap),
        "freoff": len(section.fde_gap)
        + ENTRY[section.version] * len(section.functions)
        + len(section.fre_gap),
    }
    return values | section.header


def header_bytes(values, order):
    sizes = {"magic": 2, "version": 1, "flags": 1, "abi_arch": 1, "auxhdr_len": 1}
    data = b""
    for name, value in values.items():
        fixed = name.startswith("cfa_fixed")
        data += number(value, 1 if fixed else sizes.get(name, 4), order, fixed)
    assert len(data) == HEADER
    return data


def assemble(section):
    """The bytes, and the values in the header."""
    order = section.row_order or range(len(section.functions))
    rows, offsets = b"", {}
    for index in order:
        offsets[index] = len(rows)
        rows += rows_of(section, section.functions[index])
    values = header_values(section, len(rows))
    table_at = HEADER + len(section.auxiliary) + len(section.fde_gap)
    table = b""
    for index, function in enumerate(section.functions):
        table += entry_bytes(section, function, table_at + len(table), offsets[index])
    data = header_bytes(values, section.machine.order) + section.auxiliary + section.fde_gap
    return data + table + section.fre_gap + rows + section.trailing, values
