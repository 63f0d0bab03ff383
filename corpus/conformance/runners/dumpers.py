#!/usr/bin/env python3
"""Programs that print SFrame sections as readers under test: GNU objdump and readelf, and llvm-readobj.

    conformance.py dumpers.py objdump PATH
    conformance.py dumpers.py llvm-readobj PATH

They read ELF files, so each section is put into a small one. What they print is compared as functions and rows. They
look up no PCs, and walk no stacks. Objdump's file format depends on the machine; readelf reads any."""

import json
import re
import struct
import subprocess
import sys
import tempfile

import reader

MACHINES = {"amd64": 62, "aarch64": 183, "aarch64_be": 183, "s390x": 22}
SP = {"amd64": 7, "aarch64": 31, "aarch64_be": 31, "s390x": 15}
FP = {"amd64": 6, "aarch64": 29, "aarch64_be": 29, "s390x": 11}
PROGBITS, STRTAB, GNU_SFRAME = 1, 3, 0x6FFFFFF4
# Seconds and bytes, after which a program is stopped.
PATIENCE, MOST = 5, 1 << 22
# The largest number of words of a row that have a meaning: two each for CFA, RA and FP.
MOST_WORDS = 6


class Unsupported(Exception):
    """The program does not read this version or machine, or has no answer that is always the same."""


class Refused(Exception):
    """The program reports that the section is malformed."""


class Crash(Exception):
    """The program crashed."""


def elf(section, data, sh_type):
    """A linked ELF file with the section."""
    order = "<" if section["byte_order"] == "little" else ">"
    names = b"\0.sframe\0.shstrtab\0"
    address, at = int(section["address"], 16), 64
    names_at = at + len(data)
    headers_at = (names_at + len(names) + 7) & ~7
    ident = b"\x7fELF" + bytes([2, 1 if order == "<" else 2, 1]) + bytes(9)
    machine = MACHINES[section["machine"]]
    header = ident + struct.pack(order + "HHIQQQIHHHHHH", 2, machine, 1, 0, 0, headers_at, 0, 64, 0, 0, 64, 3, 2)
    entry = lambda *values: struct.pack(order + "IIQQQQIIQQ", *values)
    table = bytes(64) + entry(1, sh_type, 2, address, at, len(data), 0, 0, 1, 0)
    table += entry(9, STRTAB, 0, 0, names_at, len(names), 0, 0, 1, 0)
    return (header + data + names).ljust(headers_at, b"\0") + table


def has_row_with_more_words(section):
    """Whether a row has more words than its CFA, RA and FP need."""
    try:
        found = reader.Section(bytes.fromhex(section["hex"]), int(section["address"], 16))
        rows = [row for function in found.functions for row in found.stored_rows(function)]
    except reader.Refused:
        return False
    return any(len(words) > MOST_WORDS for _, _, words in rows)


def run(words, file):
    """Standard output and error."""
    with tempfile.NamedTemporaryFile(suffix=".elf") as place:
        place.write(file)
        place.flush()
        found = subprocess.run([*words, place.name], capture_output=True, timeout=PATIENCE, check=False)
    if found.returncode < 0:
        raise Crash(f"{words[0]} crashed with signal {-found.returncode}")
    if len(found.stdout) > MOST:
        sys.exit(f"{words[0]} printed {len(found.stdout)} bytes")
    return found.stdout.decode(errors="replace"), found.stderr.decode(errors="replace")


class Gnu:
    """The output of `--sframe`: a line for each row with STARTPC, CFA, FP and RA."""

    FUNCTION = re.compile(r"func idx \[\d+\]: pc = 0x([0-9a-f]+), size = (-?\d+) bytes")
    ROW = re.compile(r"^    ([0-9a-f]{16})  (.*)$")
    VALUE = re.compile(r"(?:\(?(?:sp|fp|c|r\d+)(?:\+?[+-]\d+)?\)?|[uUf])(?:\[s\])?")
    # The versions that a release reads, and whether it knows the first erratum of version 2.
    READS = {"2.40": ((1,), False), "2.44": ((2,), False)}
    LATER = ((2, 3), True)

    def __init__(self, path):
        self.path = path
        text = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        self.release = re.search(r"(\d+\.\d+)[.\d]*$", text.splitlines()[0])[1]
        self.versions, self.has_erratum = self.READS.get(self.release, self.LATER)

    def check_supported(self, section):
        data = bytes.fromhex(section["hex"])
        if data[:2] not in (b"\xe2\xde", b"\xde\xe2") or len(data) < 5 or not 1 <= data[2] <= 3:
            return
        is_new = data[3] & 4 or section["machine"] == "s390x"
        if data[2] not in self.versions or (is_new and not self.has_erratum):
            raise Unsupported("another version")
        if self.has_erratum and has_row_with_more_words(section):
            # 2.47.50 prints what it has not written, or crashes, which depends on its C library.
            raise Unsupported("no answer that is always the same")

    def read(self, section):
        self.check_supported(section)
        data = bytes.fromhex(section["hex"])
        file = elf(section, data, GNU_SFRAME if self.has_erratum else PROGBITS)
        output, error = run([self.path, "--sframe=.sframe"], file)
        if "Function Index" not in output or re.search(r"[Ee]rror|[Ww]arning|corrupt", error + output):
            raise Refused((error.strip() or "nothing is printed").splitlines()[-1])
        return self.parse(section, output)

    def parse(self, section, output):
        fixed = re.search(r"CFA fixed RA offset: (-?\d+)", output)
        self.fixed_ra = int(fixed[1]) if fixed else 0
        functions, current, is_mask = [], None, False
        for line in output.splitlines():
            if found := self.FUNCTION.search(line):
                current = {"start": int(found[1], 16), "size": int(found[2]), "rows": []}
                functions.append(current)
            elif "STARTPC" in line:
                is_mask = "[m]" in line
            elif current and (found := self.ROW.match(line)):
                start = int(found[1], 16) - (0 if is_mask else current["start"])
                current["rows"].append({"start": start % (1 << 64)} | self.frame(section, found[2]))
        for function in functions:
            function["start"] = hex(function["start"])
            function["size"] %= 1 << 32
        return {"header": self.header(output), "functions": functions}

    @staticmethod
    def header(output):
        find = lambda pattern: re.search(pattern, output)
        found = {"num_fdes": int(find(r"Num FDEs: (\d+)")[1]), "num_fres": int(find(r"Num FREs: (-?\d+)")[1])}
        if version := find(r"SFRAME_VERSION_(\d)"):
            found["version"] = int(version[1])
        return found

    def frame(self, section, text):
        if "RA undefined" in text:
            return {"ra": "undefined"}
        # Columns that are too narrow for their values are not separated.
        cfa, fp, ra = self.VALUE.findall(text)
        found = {"cfa": self.rule(section, cfa), "signed": ra.endswith("[s]")}
        found["fp"] = "unchanged" if fp in "uU" else self.saved(section, fp)
        ra = ra.removesuffix("[s]")
        if ra in ("u", "U", "f"):
            if self.fixed_ra:
                found["ra"] = f"*(cfa{self.fixed_ra:+d})"
            elif self.release != "2.40" or section["machine"] != "amd64":
                found["ra"] = "unchanged"
        else:
            found["ra"] = self.saved(section, ra)
        return found

    def saved(self, section, text):
        rule = self.rule(section, text)
        return f"*({rule})" if rule.startswith("cfa") else rule

    @staticmethod
    def rule(section, text):
        found = re.fullmatch(r"(\()?(sp|fp|c|r\d+)(?:\+?([+-]?\d+))?\)?", text)
        bases = {"sp": f"r{SP[section['machine']]}", "fp": f"r{FP[section['machine']]}", "c": "cfa"}
        plain = f"{bases.get(found[2], found[2])}{int(found[3] or 0):+d}"
        return f"*({plain})" if found[1] else plain


class Llvm:
    """llvm-readobj, which prints every field; version 2 only."""

    def __init__(self, path):
        self.path = path

    def read(self, section):
        data = bytes.fromhex(section["hex"])
        is_section = data[:2] in (b"\xe2\xde", b"\xde\xe2") and len(data) > 4 and 1 <= data[2] <= 3
        if is_section and (data[2] != 2 or section["machine"] == "s390x"):
            raise Unsupported("another version or machine")
        output, error = run([self.path, "--sframe"], elf(section, data, GNU_SFRAME))
        if "Function Index" not in output or "warning" in error or "error" in error:
            raise Refused((error.strip() or "nothing is printed").splitlines()[-1])
        number = lambda name: int(re.search(rf"{name}: (-?\d+|0x[0-9A-F]+)", output)[1], 0)
        header = {
            "version": 2,
            "cfa_fixed_ra_offset": self.number(output, r"CFA fixed RA offset[^:]*"),
            "cfa_fixed_fp_offset": self.number(output, r"CFA fixed FP offset[^:]*"),
            "auxhdr_len": number("Auxiliary header length"),
            "num_fdes": number("Num FDEs"),
            "num_fres": number("Num FREs"),
            "fre_len": number("FRE subsection length"),
            "fdeoff": number("FDE subsection offset"),
            "freoff": number("FRE subsection offset"),
        }
        parts = output.split("FuncDescEntry [")[1:]
        return {"header": header, "functions": [self.function(section, part) for part in parts]}

    @staticmethod
    def number(text, name):
        found = re.search(rf"{name}: (-?0x[0-9A-Fa-f]+|-?\d+)", text)
        return int(found[1], 0) if found else None

    def function(self, section, text):
        head, *rows = text.split("Frame Row Entry {")
        start = re.search(r"Start Address[^:]*: (?:\S+ \()?(0x[0-9A-F]+)", head) or re.search(r"PC: (0x[0-9A-F]+)", head)
        self.start = int(start[1], 16)
        self.is_mask = "PCMask" in head
        found = {"start": hex(self.start), "size": self.number(head, "Size"), "rows": [self.row(section, row) for row in rows]}
        if section["machine"].startswith("aarch64"):
            found["key"] = "b" if re.search(r"PAuth Key: B", head) else "a"
        found["repeat"] = self.number(head, r"Repetitive block size[^:]*") if self.is_mask else 0
        return found

    def row(self, section, text):
        slot = lambda value: "unchanged" if value is None else f"*(cfa{value:+d})"
        base = SP if re.search(r"Base Register: SP", text) else FP
        start = self.number(text, "Start Address")
        if not self.is_mask:
            start = (start - self.start) % (1 << 64)
        cfa = self.number(text, "CFA Offset")
        if cfa is None:
            return {"start": start, "ra": "undefined"}
        return {
            "start": start,
            "cfa": f"r{base[section['machine']]}{cfa:+d}",
            "ra": slot(self.number(text, "RA Offset")),
            "fp": slot(self.number(text, "FP Offset")),
            "signed": "Return Address Signed: Yes" in text,
        }


def answer(reader, request):
    if request["op"] != "open":
        return {"unsupported": "lookups and walks"}
    try:
        return {"opened": reader.read(request["section"])}
    except Unsupported as error:
        return {"unsupported": str(error)}
    except Refused as error:
        return {"refused": str(error)}


def main():
    kind, path = sys.argv[1:]
    reader = Llvm(path) if kind == "llvm-readobj" else Gnu(path)
    for line in sys.stdin:
        try:
            print(json.dumps(answer(reader, json.loads(line))), flush=True)
        except Crash as crash:
            # As the crash of a reader would end it.
            sys.exit(str(crash))


if __name__ == "__main__":
    main()
