"""What each consumer answers to sections written by hand. The comments name the functions of the consumer's source from which
the answers follow."""

from sections import AARCH64, FP, SP, row, row_info, v1, v2, v3, words

SEGV, FPE, ABORT = "-11", "-8", "-6"
START, END = 0x401000, 0x401020


def lookup(pc):
    return {"op": "lookup", "pc": hex(pc)}


def found(cfa, ra="*(cfa-8)", fp="unchanged"):
    return {"found": {"frame": {"cfa": cfa, "ra": ra, "fp": fp}}}


def walk(pc, sp, fp, address, memory, *more):
    """A walk in a part of memory, or more of them."""
    parts = [(address, memory), *more]
    return {"op": "walk", "pc": hex(pc), "registers": {"7": hex(sp), "6": hex(fp)},
            "memory": [{"address": hex(at), "hex": content} for at, content in parts]}


def pcs(*values):
    return {"walked": {"frames": [{"pc": hex(value)} for value in values]}}


OPENED = {"opened": {}}
STACK = 0x7FFF00001000
# One function with two rows: at its start, and after `push %rbp; mov %rsp,%rbp`.
ROWS = row(0, SP, 8) + row(4, FP, 16, -16)
ONE = [(START, 0x20, 0, 2, 0, 0)]
ONE_V3 = [(START, 0x20, 0, 0, 0, [row(0, SP, 8), row(4, FP, 16, -16)])]


def both_rows(none):
    """Lookups at the first and last byte of each row, one before the function and one after it."""
    first, second = found("r7+8"), found("r6+16", fp="*(cfa-16)")
    return [(lookup(START), first), (lookup(START + 3), first), (lookup(START + 4), second), (lookup(END - 1), second),
            (lookup(START - 1), none), (lookup(END), none)]


def glibc():
    none = {"found": None, "code": 5, "then": "redoes the whole trace with DWARF"}
    refused = {"refused": "__sframe_decode", "code": 5}
    return [
        ("a sound section", "amd64", v2(ONE, ROWS), [("open", OPENED), *both_rows(none)]),
        # sframe_decoder_get_secrel_func_start_addr
        ("PC-relative starts", "amd64", v2(ONE, ROWS, flags=5), [("open", OPENED), *both_rows(none)]),
        # sframe_header_sanity_check_p
        ("version 3", "amd64", v3(ONE_V3), [("open", refused)]),
        ("an unknown flag", "amd64", v2(ONE, ROWS, flags=9), [("open", refused)]),
        ("rows before the table", "amd64", v2(ONE, ROWS, table_at=24, rows_at=20), [("open", refused)]),
        # __sframe_decode takes the rows to follow the table: with a gap of four zeros, each row starts at 0 without words.
        ("a gap before the rows", "amd64", v2(ONE, ROWS, gap=4), [("open", OPENED), (lookup(START), none)]),
        ("a table offset, which is ignored", "amd64", v2(ONE, ROWS, table_at=4, rows_at=24), [("open", OPENED), *both_rows(none)]),
        # __sframe_decode has no length.
        ("27 bytes of a header", "amd64", v2(ONE, ROWS)[:27], [("open", SEGV)]),
        # sframe_get_funcdesc_with_addr_internal
        ("not sorted", "amd64", v2(ONE, ROWS, flags=0), [("open", OPENED), (lookup(START), none)]),
        # sframe_fre_check_range_p
        ("a block of 0 bytes", "amd64", v2([(START, 0x20, 0, 2, 0x10, 0)], ROWS), [("open", OPENED), (lookup(START), FPE)]),
        # sframe_get_fre_offset: no words, four words, size code 3
        ("a row without words", "amd64", v2(ONE, row(0, SP) + row(4, SP, 8)),
         [("open", OPENED), (lookup(START), none), (lookup(START + 4), found("r7+8"))]),
        ("a row of four words", "amd64", v2(ONE, row(0, SP, 8, 0, 0, 0) + row(4, SP, 8)),
         [("open", OPENED), (lookup(START), none), (lookup(START + 4), found("r7+8"))]),
        # sframe_fre_offset_bytes_size: words of size code 3 have one byte.
        ("size code 3", "amd64", v2(ONE, bytes([0, row_info(SP, 1, 3), 8]) + row(4, SP, 8)),
         [("open", OPENED), (lookup(START), none), (lookup(START + 4), found("r7+8"))]),
        # __sframe_fre_get_ra_offset: RA is in a register.
        ("RA not saved", "aarch64", v2(ONE, row(0, SP, 0) + row(4, SP, 16, -8, -16), abi=AARCH64, ra=0),
         [("open", OPENED), (lookup(START), none), (lookup(START + 4), found("r31+16", "*(cfa-8)", "*(cfa-16)"))]),
        # __stacktrace_sframe looks up return addresses themselves, so that one at a function's end is not found. It returns
        # the frames if FP is 0 where no row is found, and `__backtrace` takes them if there is more than one.
        ("a final call", "amd64", v2(ONE, ROWS),
         [("open", OPENED), (walk(START, STACK, STACK + 64, STACK, words(END)),
                             pcs(START, END) | {"then": "redoes the whole trace with DWARF"})]),
        ("FP is 0 in the last frame", "amd64", v2(ONE, ROWS),
         [("open", OPENED), (walk(START + 1, STACK, 0, STACK, words(START + 2, END)),
                             pcs(START + 1, START + 2, END) | {"then": "returns the frames"})]),
        # x86_64_decode_signal_frame: `mov $15,%rax; syscall` at the PC, and a `ucontext_t` at SP, with RBP, RSP and RIP at 120,
        # 160 and 168.
        ("a signal frame", "amd64", v2(ONE, ROWS),
         [("open", OPENED), (walk(0x700000, STACK, 8, STACK, words(*[0] * 20, STACK + 0x800, START), (STACK + 0x800, words(END)),
                                  (0x700000, "48c7c00f0000000f05")),
                             pcs(0x700000, START, END) | {"then": "returns the frames"})]),
        ("one frame is not enough", "amd64", v2(ONE, ROWS),
         [("open", OPENED), (walk(START, STACK, 0, STACK, words(END)),
                             pcs(START, END) | {"then": "redoes the whole trace with DWARF"})]),
    ]


def libsframe(version):
    """2.44 reads version 2, and misreads version 1; 2.47 reads 2 and 3. SFRAME_ERR_BUF_INVAL is 2003, SFRAME_ERR -1. 2.44
    reports SFRAME_ERR_NOMEM, 2001, for a header that it refuses."""
    none = {"found": None, "code": -1}
    invalid = {"refused": "sframe_decode", "code": 2003}
    refused = invalid if version == 3 else {"refused": "sframe_decode", "code": 2001}
    sound = v3(ONE_V3) if version == 3 else v2(ONE, ROWS)
    shared = [
        ("a sound section", "amd64", sound, [("open", OPENED), *both_rows(none)]),
        # sframe_decode
        ("27 bytes of a header", "amd64", sound[:27], [("open", invalid)]),
        ("another magic number", "amd64", b"\x7fE" + sound[2:], [("open", invalid)]),
        # sframe_header_sanity_check_p
        ("an unknown flag", "amd64", sound[:3] + bytes([sound[3] | 0x80]) + sound[4:], [("open", refused)]),
        # sframe_get_funcdesc_with_addr_internal
        ("not sorted", "amd64", sound[:3] + bytes([sound[3] & ~1]) + sound[4:], [("open", OPENED), (lookup(START), none)]),
    ]
    if version == 3:
        return shared
    return [
        *shared,
        ("version 3", "amd64", v3(ONE_V3), [("open", refused)]),
        ("PC-relative starts", "amd64", v2(ONE, ROWS, flags=5), [("open", refused)]),
        # sframe_fre_check_range_p
        ("a block of 0 bytes", "amd64", v2([(START, 0x20, 0, 2, 0x10, 0)], ROWS), [("open", OPENED), (lookup(START), FPE)]),
    ]


def llvm():
    def functions(*rows, **fields):
        return {"opened": {"functions": [{"start": hex(START), "size": 0x20, "rows": list(rows)} | fields]}}

    first = {"start": 0, "cfa": "r7+8", "ra": "*(cfa-8)", "fp": "unchanged"}
    second = {"start": 4, "cfa": "r6+16", "ra": "*(cfa-8)", "fp": "*(cfa-16)"}
    return [
        ("a sound section", "amd64", v2(ONE, ROWS), [("open", functions(first, second))]),
        # SFrameParser::create
        ("version 3", "amd64", v3(ONE_V3), [("open", {"code": 1})]),
        ("27 bytes of a header", "amd64", v2(ONE, ROWS)[:27], [("open", {"code": 1})]),
        # SFrameParser::getFREBase takes the rows to follow the table: four zeros are two rows at 0 without words.
        ("a gap before the rows", "amd64", v2(ONE, ROWS, gap=4), [("open", functions({"start": 0}, {"start": 0}))]),
        # SFrameParser::usesFixedRAOffset, by the ABI alone: the second word is RA's.
        ("a fixed RA on AArch64", "aarch64", v2(ONE[:1], row(0, SP, 32, -24) + row(4, SP, 32), abi=AARCH64, ra=-8),
         [("open", functions({"cfa": "r31+32", "ra": "*(cfa-24)", "fp": "unchanged"}, {"ra": "unchanged"}))]),
        # SFrameParser::usesFixedFPOffset
        ("a fixed FP", "amd64", v2(ONE, row(0, SP, 8) + row(4, SP, 16), fp=-16),
         [("open", functions({"fp": "unchanged"}, {"fp": "unchanged"}))]),
        # FallibleFREIterator::inc reads the words of a row at once: the second row's begin at 28 + 20 + 3 + 2 = 0x35.
        ("a row that is cut off", "amd64", v2(ONE, ROWS)[:-1], [("open", functions(first, error="unexpected end of data at "
                                                                 "offset 0x36 while reading [0x35, 0x37)"))]),
    ]


def linux(version):
    """-22 is EINVAL, for which the walker tries frame pointers; -14 is EFAULT, which drops the section."""
    none = {"found": None, "code": -22}
    refused = {"refused": "sframe_add_section", "code": -22}
    drops = {"code": -14, "then": "drops the section for the whole process, and tries frame pointers"}

    def section(rows, size=0x20, info=0, block=0, **fields):
        if version == 3:
            return v3([(START, size, info, 0, block, rows)], **fields)
        return v2([(START, size, 0, len(rows), info, block)], b"".join(rows), **fields)

    good = [row(0, SP, 8), row(4, FP, 16, -16)]
    flags = 5 if version == 3 else 1
    shared = [
        ("a sound section", "amd64", section(good), [("open", OPENED), *both_rows(none)]),
        # sframe_read_header
        ("not sorted", "amd64", section(good, flags=flags & ~1), [("open", refused)]),
        ("an unknown flag, which is ignored", "amd64", section(good, flags=flags | 0x80), [("open", OPENED), *both_rows(none)]),
        ("an auxiliary header", "amd64", section(good, auxiliary=4), [("open", refused)]),
        ("no functions", "amd64", section(good, fdes=0), [("open", refused)]),
        ("no rows, says the header", "amd64", section(good, fres=0), [("open", refused)]),
        ("rows before the table", "amd64", section(good, rows_at=8), [("open", refused)]),
        ("rows beyond the section", "amd64", section(good, row_bytes=0x100), [("open", refused)]),
        ("27 bytes of a header", "amd64", section(good)[:27], [("open", {"code": -14})]),
        ("another machine's ABI, which is ignored", "amd64", section(good, abi=AARCH64), [("open", OPENED), *both_rows(none)]),
        # __find_fre
        ("rows with one start", "amd64", section([row(0, SP, 8), row(0, SP, 16)]), [("open", OPENED), (lookup(START), drops)]),
        ("a first row after the PC", "amd64", section([row(4, SP, 8)]), [("open", OPENED), (lookup(START), none)]),
        ("a block of 0 bytes", "amd64", section(good, info=0x10), [("open", OPENED), (lookup(START), FPE)]),
        # __read_fre: a start may equal the size of the function, not exceed it.
        ("a row after the end", "amd64", section([row(0, SP, 8), row(0x21, SP, 8)]),
         [("open", OPENED), (lookup(START + 1), drops)]),
        ("a row at the end", "amd64", section([row(0, SP, 8), row(0x20, SP, 8)]),
         [("open", OPENED), (lookup(START + 1), found("r7+8"))]),
        ("size code 3", "amd64", section([bytes([0, row_info(SP, 1, 3), 8])]), [("open", OPENED), (lookup(START), drops)]),
        ("too many words", "amd64", section([row(0, SP, 8, -16, 0)]), [("open", OPENED), (lookup(START), drops)]),
        ("an unknown size of starts", "amd64", section(good, info=3), [("open", OPENED), (lookup(START), drops)]),
        # unwind_user_next looks up return addresses themselves, so that one at a function's end is not found.
        ("a final call", "amd64", section(good),
         [("open", OPENED), (walk(START, STACK, STACK + 64, STACK, words(END)),
                             {"walked": {"frames": [{"pc": hex(START)}, {"pc": hex(END)}], "end": "uncovered"}})]),
    ]
    if version == 2:
        return [
            *shared,
            ("version 3", "amd64", v3(ONE_V3), [("open", refused)]),
            # sframe_read_header does not know the flag; __find_fde takes the start to be relative to the section. 28 bytes
            # lower, the rows are found 28 bytes too early.
            ("PC-relative starts, misread", "amd64", v2(ONE, ROWS, flags=5),
             [("open", OPENED), (lookup(START - 28), found("r7+8")), (lookup(START), found("r6+16", fp="*(cfa-16)")),
              (lookup(END - 1), none)]),
            # __read_fre
            ("a row without words", "amd64", section([row(0, SP)]), [("open", OPENED), (lookup(START), drops)]),
            ("RA not saved", "amd64", section([row(0, SP, 0)], ra=0), [("open", OPENED), (lookup(START), drops)]),
            # __find_fde compares distances from the section without a sign: a function that reaches across the section's
            # start has no PC, and one before the section ends after everything that follows the section.
            ("a function across the section's start", "amd64", v2([(START, 0x2000, 0, 2, 0, 0)], ROWS),
             [("open", OPENED), (lookup(START), none), (lookup(START + 0x1FFF), found("r6+16", fp="*(cfa-16)"))]),
            ("a PC after the section", "amd64", v2(ONE, ROWS),
             [("open", OPENED), (lookup(END), none), (lookup(0x403000), found("r6+16", fp="*(cfa-16)"))]),
            # __find_fde has 32 bits for the distance.
            ("a PC 4 GiB away", "amd64", v2(ONE, ROWS), [("open", OPENED), (lookup(START + (1 << 32)), found("r7+8"))]),
            # unwind_user_next_common: the CFA must be above SP, also in the innermost frame.
            ("a CFA at SP", "amd64", section([row(0, SP, 0)]),
             [("open", OPENED), (walk(START, STACK, 0, STACK - 8, words(START)), pcs(START))]),
        ]
    return [
        *shared,
        ("version 2", "amd64", v2(ONE, ROWS), [("open", refused)]),
        ("starts that are not PC-relative", "amd64", section(good, flags=1), [("open", refused)]),
        # sframe_init_cfa_rule_data refuses the CFA of an outermost frame, so that `outermost` is never set.
        ("an outermost frame", "amd64", section([row(0, SP)]), [("open", OPENED), (lookup(START), none)]),
        ("a function without rows", "amd64", section([]), [("open", OPENED), (lookup(START), none)]),
        # __read_default_fre_datawords takes FP at CFA + 0 as not saved.
        ("FP at CFA + 0", "amd64", section([row(0, SP, 8, 0)]), [("open", OPENED), (lookup(START), found("r7+8"))]),
        # __read_flex_fde_fre_datawords: CFA = r10, RA and FP in memory at r10 - 8 and - 16
        ("a flexible row", "amd64", v3([(START, 0x20, 0, 1, 0, [row(0, FP, 0x51, 0, 0x53, -8, 0x53, -16)])]),
         [("open", OPENED), (lookup(START), found("r10+0", "*(r10-8)", "*(r10-16)"))]),
        # unwind_user_next_common knows a saved CFA only for other registers than SP and FP.
        ("a CFA saved at FP - 8", "amd64", v3([(START, 0x20, 0, 1, 0, [row(0, FP, 0x33, -8)])]),
         [("open", OPENED), (lookup(START), found("*(r6-8)")),
          (walk(START, STACK, STACK + 8, STACK, words(STACK + 16, START + 8)), {"walked": {"end": "error"}})]),
    ]


def linux_v1():
    """The series of 2023; -22 is EINVAL. Variables that it does not set are zero."""
    refused = {"refused": "sframe_add_section", "code": -22}
    none = {"found": None, "code": -22}
    one = [(START, 0x20, 0, 2, 0)]
    first, second = found("r7+8"), found("r6+16", fp="*(cfa-16)")
    return [
        # find_fde does not look at the size of the function.
        ("a sound section", "amd64", v1(one, ROWS), [("open", OPENED), (lookup(START - 1), none), (lookup(START), first),
                                                     (lookup(END - 1), second), (lookup(END + 0x100), second)]),
        ("version 2", "amd64", v2(ONE, ROWS), [("open", refused)]),
        # __sframe_add_section negates the flags before it looks for SORTED, so that any flag will do.
        ("no flag", "amd64", v1(one, ROWS, flags=0), [("open", refused)]),
        ("another flag than SORTED", "amd64", v1(one, ROWS, flags=2), [("open", OPENED), (lookup(START), first)]),
        # find_fre reads the CFA's offset without a sign.
        ("a negative CFA offset", "amd64", v1(one, row(0, FP, -8) + row(4, SP, 8)), [("open", OPENED), (lookup(START), found("r6+248"))]),
        # find_fde reads the start of an entry after the table, for which three bytes of rows are not enough: EFAULT.
        ("one short row", "amd64", v1([(START, 0x20, 0, 1, 0)], row(0, SP, 8)), [("open", OPENED), (lookup(START), {"code": -14})]),
        # find_fre does not compare starts in repeated blocks, so that the last row is always taken.
        ("repeated blocks", "amd64", v1([(START, 0x20, 0, 2, 0x10)], ROWS), [("open", OPENED), (lookup(START), second)]),
        ("a row without words", "amd64", v1(one, row(0, SP) + row(4, SP, 8)), [("open", OPENED), (lookup(START), none)]),
    ]


def linux_partial():
    """A snapshot without flexible rows. An error at a lookup does not drop the section."""
    ignored = {"code": -14, "then": "tries frame pointers"}
    return [
        ("one row", "amd64", v3([(START, 0x20, 0, 0, 0, [row(0, SP, 8)])]), [("open", OPENED), (lookup(END - 1), found("r7+8"))]),
        # __read_fre computes the size of a row when the count of words is used up. So it takes the next row to be where the
        # first one's word is: a row that starts at 8 here, and at 0 below, where it is not after the first one.
        ("two rows", "amd64", v3([(START, 0x20, 0, 0, 0, [row(0, SP, 8), row(4, SP, 8)])]),
         [("open", OPENED), (lookup(START), found("r7+8")), (lookup(START + 4), found("r7+8"))]),
        ("two rows, misread as bad ones", "amd64", v3([(START, 0x20, 0, 0, 0, [row(0, SP, 0), row(4, SP, 8)])]),
         [("open", OPENED), (lookup(START), ignored)]),
        ("a flexible row", "amd64", v3([(START, 0x20, 0, 1, 0, [row(0, FP, 0x51, 0)])]), [("open", OPENED), (lookup(START), ignored)]),
        # __find_fre: it reaches the row, and `outermost` is set.
        ("an outermost frame", "amd64", v3([(START, 0x20, 0, 0, 0, [row(0, SP)])]),
         [("open", OPENED), (lookup(START), {"found": {"frame": {"ra": "undefined"}}})]),
    ]


def linux_arm64():
    """A module's section; -22 is EINVAL, for which the trace is unreliable."""
    none = {"found": None, "code": -22}
    refused = {"refused": "sframe_module_init", "code": -22}
    rows = [row(0, SP, 0), row(4, SP, 16, -8, -16)]
    pair = [(END, 0x20, 0, 0, 0, [row(0, SP, 32)]), (START, 0x20, 0, 0, 0, rows)]
    fields = {"abi": AARCH64, "ra": 0}
    first, second = found("r31+0", "unchanged"), found("r31+16", "*(cfa-8)", "*(cfa-16)")
    return [
        ("a sound section", "aarch64", v3(pair[1:], **fields), [("open", OPENED), (lookup(START), first), (lookup(START + 4), second),
                                                                (lookup(START - 1), none), (lookup(END), none)]),
        # sframe_sort_fdes sorts it in place.
        ("not sorted", "aarch64", v3(pair, flags=4, **fields),
         [("open", OPENED), (lookup(START + 4), second), (lookup(END), found("r31+32", "unchanged"))]),
        # sframe_read_header
        ("starts that are not PC-relative", "aarch64", v3(pair[1:], flags=1, **fields), [("open", refused)]),
        ("an auxiliary header", "aarch64", v3(pair[1:], auxiliary=4, **fields), [("open", refused)]),
        # It copies the header before it tests the length.
        ("3 bytes of a header", "aarch64", v3(pair[1:], **fields)[:3], [("open", SEGV)]),
        # sframe_init_cfa_rule_data
        ("an outermost frame", "aarch64", v3([(START, 0x20, 0, 0, 0, [row(0, SP)])], **fields), [("open", OPENED), (lookup(START), none)]),
        # __read_default_fre_datawords takes RA at CFA + 0 as not saved.
        ("RA at CFA + 0", "aarch64", v3([(START, 0x20, 0, 0, 0, [row(0, SP, 16, 0, -16)])], **fields),
         [("open", OPENED), (lookup(START), found("r31+16", "unchanged", "*(cfa-16)"))]),
        # An error at a lookup does not remove the section.
        ("rows with one start", "aarch64", v3([(START, 0x20, 0, 0, 0, [row(0, SP, 0), row(0, SP, 0)])], **fields),
         [("open", OPENED), (lookup(START), {"found": None, "code": -14}), (lookup(START), {"found": None, "code": -14})]),
    ]


def java_profiler():
    """Its bits of a row's info byte: the base (1 is FP), two bits of size code, one for RA, one for FP."""
    refused = {"refused": "SFrameParser::parse"}
    guess = {"found": None, "then": "guesses the default frame"}
    own = bytes([0, 0, 8]) + bytes([4, 1 | 1 << 4, 16, 0xF0])
    return [
        ("rows in its own layout", "amd64", v2(ONE, own),
         [("open", OPENED), (lookup(START), found("r7+8")), (lookup(START + 4), found("r6+16", fp="*(cfa-16)")),
          # CodeCache::findFrameDesc knows no end of a function.
          (lookup(END + 0x1000), found("r6+16", fp="*(cfa-16)")), (lookup(START - 1), guess)]),
        # SFrameParser::parseFDE reads CFA = SP + 8 as relative to FP, with words of two bytes: 8 and the next row's start, 4.
        ("the specification's rows", "amd64", v2([(START, 0x20, 0, 1, 0, 0)], row(0, SP, 8) + row(4, SP, 8)),
         [("open", OPENED), (lookup(START), found(f"r6+{8 + (4 << 8)}"))]),
        ("version 3", "amd64", v3(ONE_V3), [("open", refused)]),
        ("PC-relative starts", "amd64", v2(ONE, own, flags=5), [("open", refused)]),
        ("another machine", "aarch64", v2(ONE, own, abi=AARCH64), [("open", refused)]),
        ("rows beyond the section", "amd64", v2(ONE, own, row_bytes=0x100), [("open", refused)]),
    ]


def libsframest():
    """With libsframe of binutils 2.44. 10 is SFRAME_BT_ERR_DECODE, 11 SFRAME_BT_ERR_CFA_OFFSET."""
    refused = {"refused": "sframest_get_sfinfo", "code": 10}
    fails = {"then": "returns an error, and no frame"}
    again = words(*[START + 1] * 70)
    return [
        ("a sound section", "amd64", v2(ONE, ROWS), [("open", OPENED), *both_rows({"found": None, "code": -1})]),
        ("version 3", "amd64", v3(ONE_V3), [("open", refused)]),
        ("27 bytes of a header", "amd64", v2(ONE, ROWS)[:27], [("open", refused)]),
        # sframe_unwind looks for one error of the CFA's offset. For another one, the library returns -1 as the offset.
        ("size code 3", "amd64", v2([(START, 0x20, 0, 1, 0, 0)], bytes([0, row_info(SP, 1, 3), 8]) + row(4, SP, 8)),
         [("open", OPENED), (lookup(START), found("r7-1")),
          (walk(START, STACK + 9, 0, STACK, words(END)), pcs(START, END))]),
        ("a row without words", "amd64", v2(ONE, row(0, SP) + row(4, SP, 8)),
         [("open", OPENED), (lookup(START), {"found": None, "code": 11}),
          (walk(START + 4, STACK, 0, STACK, words(START)), {"walked": {"end": "error"}} | fails)]),
        # The library's sframe_find_fre has 32 bits for the distance.
        ("a PC 4 GiB away", "amd64", v2(ONE, ROWS), [("open", OPENED), (lookup(START + (1 << 32)), found("r7+8"))]),
        # It looks up return addresses themselves, so that one at a function's end is not found.
        ("a final call", "amd64", v2(ONE, ROWS),
         [("open", OPENED), (walk(START, STACK, 0, STACK, words(END)), pcs(START, END) | {"then": "returns the frames"})]),
        ("a stack that ends", "amd64", v2(ONE, ROWS),
         [("open", OPENED), (walk(START, STACK, 0, STACK, words(START + 1)), {"walked": {"end": "error"}} | fails)]),
        # It leaves out the first return address, and counts it.
        ("more frames than it has room for", "amd64", v2(ONE, ROWS),
         [("open", OPENED), (walk(START, STACK, 0, STACK, again),
                             pcs(START, *[START + 1] * 63) | {"then": "returns the frames, of which the last is not set"})]),
    ]


def mold():
    """Observed: mold 3.0.0. The bytes of its output were read by hand."""
    skips = {"refused": "no .sframe in the result", "then": "links without the section"}

    def functions(*rows):
        return {"opened": {"functions": [{"start": hex(START), "size": 0x20, "rows": list(rows)}]}}

    first = {"start": 0, "cfa": "r7+8", "ra": "*(cfa-8)", "fp": "unchanged"}
    second = {"start": 4, "cfa": "r6+16", "ra": "*(cfa-8)", "fp": "*(cfa-16)"}
    wide = bytes([0, row_info(SP, 1, 3), 8, 0, 0, 0, 0, 0, 0, 0]) + row(4, SP, 8)
    return [
        ("a sound section", "amd64", v3(ONE_V3), [("open", functions(first, second))]),
        ("version 2", "amd64", v2(ONE, ROWS), [("open", skips)]),
        ("version 9", "amd64", v3(ONE_V3, version=3)[:2] + b"\x09" + v3(ONE_V3)[3:], [("open", skips)]),
        ("not sorted, says the header", "amd64", v3(ONE_V3, flags=4), [("open", functions(first, second))]),
        ("an unknown flag", "amd64", v3(ONE_V3, flags=0x85), [("open", functions(first, second))]),
        ("another machine's ABI", "amd64", v3(ONE_V3, abi=AARCH64), [("open", {"code": 1, "then": "fails to link"})]),
        ("27 bytes of a header", "amd64", v3(ONE_V3)[:27], [("open", {"code": 1, "then": "fails to link"})]),
        ("rows that are cut off", "amd64", v3(ONE_V3)[:-1], [("open", ABORT)]),
        # The header that it writes has its own fixed offsets.
        ("a fixed FP, which is lost", "amd64", v3([(START, 0x20, 0, 0, 0, [row(0, SP, 8)])], fp=-16), [("open", functions(first))]),
        # Words of size code 3 have 8 bytes: all of the rows' 10 + 3 bytes are copied, after 5 of attributes.
        ("size code 3", "amd64", v3([(START, 0x20, 0, 0, 0, [wide[:10], wide[10:]])]),
         [("open", {"output": "e2de03050300f8000100000002000000" + "12000000" + "0000000010000000" + "241000000000000020000000"
                    "00000000" + "0200000000" + wide.hex()})]),
    ]


CASES = {
    "glibc-2.43": glibc(),
    # sframe_header_sanity_check_p; SFRAME_ERR_NOMEM
    "libsframe-2.40": [("a sound section", "amd64", v1([(START, 0x20, 0, 2, 0)], ROWS), [("open", OPENED),
                                                                                         *both_rows({"found": None, "code": -1})]),
                       ("version 2", "amd64", v2(ONE, ROWS), [("open", {"refused": "sframe_decode", "code": 2001})])],
    "libsframe-2.44": libsframe(2),
    "libsframe-2.47": libsframe(3),
    "llvm-23": llvm(),
    "mold-3": mold(),
    "linux-user-v1": linux_v1(),
    "linux-user-v2": linux(2),
    "linux-user-v3": linux(3),
    "linux-user-v3-partial": linux_partial(),
    "linux-arm64-kernel": linux_arm64(),
    "java-profiler": java_profiler(),
    "libsframest": libsframest(),
}
