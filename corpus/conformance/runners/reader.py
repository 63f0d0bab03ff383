"""A reader of SFrame sections in plain Python, for the line protocol (`../README.md`). It needs nothing but this file.

It is written to be read beside the specification: one function for each structure. `../mutants/` changes it in many
ways, to measure which mistakes the vectors find."""

MAGIC = 0xDEE2
HEADER_SIZE = 28
ENTRY_SIZES = {1: 17, 2: 20, 3: 16}
ATTRIBUTE_SIZE = 5
PCREL = 4
# ABI: SP, FP, RA (DWARF numbers). AMD64 has no register for RA.
ABIS = {1: (31, 29, 30), 2: (31, 29, 30), 3: (7, 6, None), 4: (15, 11, 14)}
S390X = 4
AARCH64 = (1, 2)
ADDRESSES = 1 << 64


class Refused(Exception):
    """The bytes have no meaning."""


def number(data, at, size, order, signed=False):
    if at + size > len(data):
        raise Refused(f"{size} bytes at {at:#x} are outside")
    return int.from_bytes(data[at : at + size], order, signed=signed)


class Section:
    def __init__(self, data, address):
        self.data, self.address = data, address
        magic = number(data, 0, 2, "little")
        if magic == MAGIC:
            self.order = "little"
        elif number(data, 0, 2, "big") == MAGIC:
            self.order = "big"
        else:
            raise Refused("another magic number")
        self.version = number(data, 2, 1, self.order)
        if self.version not in ENTRY_SIZES:
            raise Refused(f"version {self.version}")
        self.read_header()
        self.find_tables()
        self.functions = [self.function(index) for index in range(self.header["num_fdes"])]

    def read_header(self):
        byte = lambda at, signed=False: number(self.data, at, 1, self.order, signed)
        word = lambda at: number(self.data, at, 4, self.order)
        self.header = {
            "version": self.version,
            "flags": byte(3),
            "abi_arch": byte(4),
            "cfa_fixed_fp_offset": byte(5, True),
            "cfa_fixed_ra_offset": byte(6, True),
            "auxhdr_len": byte(7),
            "num_fdes": word(8),
            "num_fres": word(12),
            "fre_len": word(16),
            "fdeoff": word(20),
            "freoff": word(24),
        }
        self.abi = self.header["abi_arch"]
        if self.abi not in ABIS:
            raise Refused(f"ABI {self.abi}")
        self.sp, self.fp, self.ra = ABIS[self.abi]
        self.fixed_ra = self.header["cfa_fixed_ra_offset"]
        self.fixed_fp = self.header["cfa_fixed_fp_offset"]

    def find_tables(self):
        end = HEADER_SIZE + self.header["auxhdr_len"]
        self.table = end + self.header["fdeoff"]
        rows = end + self.header["freoff"]
        # The function table is refused where it is read.
        if rows + self.header["fre_len"] > len(self.data):
            raise Refused("rows outside the section")
        self.rows = self.data[rows : rows + self.header["fre_len"]]

    def function(self, index):
        at = self.table + index * ENTRY_SIZES[self.version]
        read = lambda offset, size, signed=False: number(self.data, at + offset, size, self.order, signed)
        width = 8 if self.version == 3 else 4
        base = at if self.header["flags"] & PCREL and self.version > 1 else 0
        start = (self.address + base + read(0, width, True)) % ADDRESSES
        found = {"start": start, "size": read(width, 4), "rows_at": read(width + 4, 4), "info2": 0, "repeat": 0}
        if self.version == 3:
            return found | self.attributes(found["rows_at"])
        found |= {"count": read(12, 4), "info": read(16, 1)}
        if self.version == 2:
            found["repeat"] = read(17, 1)
        return found

    def attributes(self, at):
        read = lambda offset, size: number(self.rows, at + offset, size, self.order)
        return {
            "count": read(0, 2),
            "info": read(2, 1),
            "info2": read(3, 1),
            "repeat": read(4, 1),
            "rows_at": at + ATTRIBUTE_SIZE,
        }

    def stored_rows(self, function):
        """Start, info byte and words of each row; words as pairs of their signed and unsigned values."""
        code = function["info"] & 0xF
        if code > 2:
            raise Refused(f"FRE type {code}")
        width, at = 1 << code, function["rows_at"]
        for _ in range(function["count"]):
            start = number(self.rows, at, width, self.order)
            info = number(self.rows, at + width, 1, self.order)
            count, code = info >> 1 & 0xF, info >> 5 & 3
            if code > 2:
                raise Refused("size code 3")
            size, at = 1 << code, at + width + 1
            words = []
            for _ in range(count):
                signed = number(self.rows, at, size, self.order, True)
                words.append((signed, number(self.rows, at, size, self.order)))
                at += size
            yield start, info, words

    def row_frames(self, function):
        kind = function["info2"] & 0x1F
        if kind > 1:
            raise Refused(f"FDE type {kind}")
        for start, info, words in self.stored_rows(function):
            yield start, self.flexible(words, info) if kind else self.default(words, info)

    def cfa_offset(self, word):
        return word * 8 + 160 if self.abi == S390X else word

    def is_signed(self, info):
        return self.abi in AARCH64 and info >> 7 & 1 == 1

    def fixed(self, offset):
        return ("cfa", offset, True) if offset else None

    def default(self, words, info):
        if not words:
            return self.without_words()
        values = [signed for signed, _ in words]
        base = self.sp if info & 1 else self.fp
        ra, fp, rest = self.fixed(self.fixed_ra), self.fixed(self.fixed_fp), values[1:]
        if not self.fixed_ra and rest:
            word = rest.pop(0)
            ra = None if self.abi == S390X and word == 0 else self.slot(word)
        if not self.fixed_fp and rest:
            fp = self.slot(rest.pop(0))
        if rest:
            raise Refused(f"{len(words)} words")
        return {"cfa": (base, self.cfa_offset(values[0]), False), "ra": ra, "fp": fp, "signed": self.is_signed(info)}

    def without_words(self):
        if self.version == 1:
            raise Refused("a row without words")
        return {"ra": "undefined"}

    def slot(self, word):
        """A stack slot or, on s390x in version 2, a register in an odd word."""
        if self.abi == S390X and self.version == 2 and word & 1:
            return (word >> 1, 0, False)
        return ("cfa", word, True)

    def flexible(self, words, info):
        if not words:
            return {"ra": "undefined"}
        rest = list(words)
        cfa = self.pair(rest)
        if cfa is None or cfa[0] == "cfa":
            raise Refused("a CFA without a register")
        base, offset, load = cfa
        ra = self.pair(rest) if rest else None
        fp = self.pair(rest) if rest else None
        if rest:
            raise Refused(f"{len(words)} words")
        return {
            "cfa": (base, self.cfa_offset(offset), load),
            "ra": ra or self.fixed(self.fixed_ra),
            "fp": fp or self.fixed(self.fixed_fp),
            "signed": self.is_signed(info),
        }

    def pair(self, rest):
        """Takes the next control word and its offset; a control word of 0 has none."""
        control = rest.pop(0)[1]
        if control == 0:
            return None
        if not rest:
            raise Refused("a control word without an offset")
        return (control >> 3 if control & 1 else "cfa", rest.pop(0)[0], bool(control & 2))

    def find_function(self, pc):
        for function in self.functions:
            if (pc - function["start"]) % ADDRESSES < function["size"]:
                return function
        return None

    def find(self, pc):
        """The function that covers a PC, and the frame there; None for what there is none of."""
        function = self.find_function(pc)
        if function is None:
            return None, None
        if self.version == 3 and function["count"] == 0 and function["info2"] & 0x1F == 0:
            return function, {"ra": "undefined"}
        place = (pc - function["start"]) % ADDRESSES
        if function["info"] & 0x10:
            if function["repeat"] == 0:
                raise Refused("blocks of unknown size")
            place %= function["repeat"]
        found = None
        for start, frame in self.row_frames(function):
            if start > place:
                break
            found = frame
        return function, found


def text(rule):
    """A rule in the notation of the vectors."""
    if rule is None:
        return "unchanged"
    base, offset, load = rule
    plain = f"{base if base == 'cfa' else f'r{base}'}{offset:+d}"
    return f"*({plain})" if load else plain


def frame_text(frame):
    if frame["ra"] == "undefined":
        return frame
    return {name: text(frame[name]) for name in ("cfa", "ra", "fp")} | {"signed": frame["signed"]}


class Walk:
    """A walk of a stack, in which each step applies the row of a PC."""

    LONGEST = 64

    def __init__(self, section, request):
        self.section = section
        self.memory = [(int(part["address"], 16), bytes.fromhex(part["hex"])) for part in request["memory"]]
        self.bits = request.get("pointer_bits")
        self.registers = {int(key): int(value, 16) for key, value in request["registers"].items()}
        self.pc = int(request["pc"], 16)

    def load(self, address):
        for start, data in self.memory:
            if start <= address and address + 8 <= start + len(data):
                return number(data, address - start, 8, self.section.order)
        raise Refused(f"no memory at {address:#x}")

    def value(self, rule, cfa):
        base, offset, load = rule
        if base != "cfa" and base not in self.registers:
            raise Refused(f"register {base} is unknown")
        address = ((cfa if base == "cfa" else self.registers[base]) + offset) % ADDRESSES
        return self.load(address) if load else address

    def frame(self):
        fp = self.registers.get(self.section.fp)
        return {"pc": hex(self.pc), "sp": hex(self.registers[self.section.sp]), "fp": fp if fp is None else hex(fp)}

    def step(self, frame):
        """The caller's registers: only SP and FP, because nothing recovers the others."""
        section = self.section
        cfa = self.value(frame["cfa"], None)
        ra = self.value(frame["ra"] or (section.ra, 0, False), cfa)
        if frame["signed"]:
            ra = self.without_signature(ra)
        try:
            fp = self.value(frame["fp"] or (section.fp, 0, False), cfa)
        except Refused:
            fp = None
        sp = cfa - 160 if section.abi == S390X else cfa
        self.pc, self.registers = ra, {section.sp: sp} | ({} if fp is None else {section.fp: fp})

    def without_signature(self, ra):
        """Bit 55 fills the bits above the address."""
        mask = (1 << self.bits) - 1
        return ra | (ADDRESSES - 1) ^ mask if ra >> 55 & 1 else ra & mask

    def run(self):
        frames, is_call = [self.frame()], False
        while len(frames) < self.LONGEST:
            try:
                # A return address may belong to the next row; the call is before it.
                function, frame = self.section.find(self.pc - is_call)
                if frame is None:
                    return frames, "uncovered"
                if frame["ra"] == "undefined":
                    return frames, "outermost"
                before = self.registers[self.section.sp]
                self.step(frame)
                if self.registers[self.section.sp] < before + (len(frames) > 1):
                    return frames, "error"
            except Refused:
                return frames, "error"
            is_call = not (self.section.version == 3 and function["info"] & 0x80)
            frames.append(self.frame())
        return frames, "error"


class Reader:
    """Answers requests of the line protocol."""

    def __init__(self):
        self.section = None

    def answer(self, request):
        try:
            return getattr(self, request["op"])(request)
        except Refused as error:
            return {"refused": str(error)}

    def open(self, request):
        part = request["section"]
        self.section = None
        self.section = Section(bytes.fromhex(part["hex"]), int(part["address"], 16))
        return {"opened": {"header": self.section.header, "functions": [self.describe(f) for f in self.section.functions]}}

    def describe(self, function):
        section = self.section
        return {
            "start": hex(function["start"]),
            "size": function["size"],
            "repeat": function["repeat"] if function["info"] & 0x10 else 0,
            "type": "flex" if function["info2"] & 0x1F == 1 else "default",
            "signal": section.version == 3 and function["info"] >> 7 == 1,
            "key": "b" if function["info"] & 0x20 else "a",
            "rows": [{"start": start} | frame_text(frame) for start, frame in section.row_frames(function)],
        }

    def lookup(self, request):
        function, frame = self.section.find(int(request["pc"], 16))
        if frame is None:
            return {"found": None}
        return {"found": {"function": hex(function["start"]), "frame": frame_text(frame)}}

    def walk(self, request):
        frames, end = Walk(self.section, request).run()
        return {"walked": {"frames": frames, "end": end}}


def serve():
    """Requests on standard input, one in a line; answers on standard output."""
    import json
    import sys

    reader = Reader()
    for line in sys.stdin:
        print(json.dumps(reader.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
