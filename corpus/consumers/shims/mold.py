#!/usr/bin/env python3
"""mold as a consumer: what it makes of an object with the section.

    mold.py PATH-OF-MOLD

mold reads `.sframe` in objects only, where a relocation says what each function is. So the section is put into an object with
as many functions of 16 bytes as its header counts, a relocation for the start of each, and linked into a shared object.
`opened` has the functions and rows of the section that mold wrote, with the starts of the input; `refused` is mold's message,
or that the result has none of them. It looks up no PCs.

With `--survive`, hundreds of sections are linked at once, as those of a program are, and a crash is an answer."""

import bisect
import collections
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "conformance" / "runners"))
sys.dont_write_bytecode = True

from dumpers import MACHINES  # noqa: E402
from reader import Reader, Refused, Section  # noqa: E402

PROGBITS, SYMTAB, STRTAB, RELA, GNU_SFRAME = 1, 2, 3, 4, 0x6FFFFFF4
ALLOC, EXEC, INFO_LINK = 2, 4, 0x40
# Relocations of PC-relative words of 8 and 4 bytes, by machine.
RELOCATIONS = {"amd64": (24, 2), "aarch64": (260, 261), "s390x": (23, 5)}
# The bytes of a function, the largest count of functions, seconds, and the largest number of sections in a link.
FUNCTION, MOST, PATIENCE, BATCH = 16, 4096, 10, 256


class Unsupported(Exception):
    """mold cannot be given such a section."""


def fields(data):
    """Where the starts of functions are, by the header, as far as they are inside the section."""
    if len(data) < 28:
        return [], 8
    entry, width = (16, 8) if data[2] == 3 else (20, 4)
    count, = struct.unpack_from("<I", data, 8)
    table, = struct.unpack_from("<I", data, 20)
    first = 28 + data[7] + table
    count = min(count, max(0, (len(data) - width - first) // entry + 1))
    if count > MOST:
        raise Unsupported(f"more than {MOST} functions")
    return [first + index * entry for index in range(count)], width


def made_object(machine, data):
    """An object with `.text`, `.sframe` and its relocations."""
    places, width = fields(data)
    kind = RELOCATIONS[machine][width == 4]
    relocations = b"".join(struct.pack("<QQq", place, 1 << 32 | kind, index * FUNCTION) for index, place in enumerate(places))
    # The null symbol, and that of .text.
    symbols = bytes(24) + struct.pack("<IBBHQQ", 0, 3, 0, 1, 0, 0)
    names = b"\0.text\0.sframe\0.rela.sframe\0.symtab\0.strtab\0"
    name = lambda text: names.index(b"\0" + text + b"\0") + 1
    parts = [
        (name(b".text"), PROGBITS, ALLOC | EXEC, bytes(FUNCTION * (len(places) + 1)), 0, 0, 0),
        (name(b".sframe"), GNU_SFRAME, ALLOC, data, 0, 0, 0),
        (name(b".rela.sframe"), RELA, INFO_LINK, relocations, 4, 2, 24),
        (name(b".symtab"), SYMTAB, 0, symbols, 5, 2, 24),
        (name(b".strtab"), STRTAB, 0, names, 0, 0, 0),
    ]
    body, table = b"", bytes(64)
    for label, sh_type, flags, content, link, info, entry in parts:
        body += bytes(-len(body) % 8)
        table += struct.pack("<IIQQQQIIQQ", label, sh_type, flags, 0, 64 + len(body), len(content), link, info, 8, entry)
        body += content
    body += bytes(-len(body) % 8)
    ident = b"\x7fELF\2\1\1" + bytes(9)
    header = struct.pack("<HHIQQQIHHHHHH", 1, MACHINES[machine], 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, 6, 5)
    return ident + header + body + table


def sections(file):
    """The sections of a linked file: name to address and content."""
    table, = struct.unpack_from("<Q", file, 40)
    count, names = struct.unpack_from("<HH", file, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", file, table + 64 * index) for index in range(count)]
    at = headers[names][4]
    label = lambda offset: file[at + offset : file.index(b"\0", at + offset)].decode()
    return {label(header[0]): (header[3], file[header[4] : header[4] + header[5]]) for header in headers}


def run(mold, objects):
    """mold's exit status, or a signal's number below zero; its message; the file that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        result, list_of_objects = pathlib.Path(folder, "out.so"), pathlib.Path(folder, "objects")
        sources = [f"{folder}/{index}.o" for index in range(len(objects))]
        for source, data in zip(sources, objects):
            pathlib.Path(source).write_bytes(data)
        list_of_objects.write_text("\n".join(sources))
        words = [mold, "-shared", "--no-fork", "--no-threads", "-o", str(result), f"@{list_of_objects}"]
        try:
            done = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return -signal.SIGPROF, "", b""
        message = done.stderr.decode(errors="replace").replace(folder + "/", "").strip()
        told = re.search(r"signal (\d+)|Segmentation", message)
        if told:
            return -int(told[1] or signal.SIGSEGV), message, b""
        return done.returncode, message, result.read_bytes() if done.returncode == 0 else b""


class Linked:
    """The section that mold wrote, and the address of the code before it."""

    def __init__(self, file):
        found = sections(file)
        self.data, self.functions, self.code = b"", [], 0
        if ".sframe" in found:
            address, self.data = found[".sframe"]
            self.code, _ = found[".text"]
            self.reader = Reader()
            self.reader.section = Section(self.data, address)
            self.functions = sorted(self.reader.section.functions, key=lambda function: function["start"])
        self.starts = [function["start"] for function in self.functions]

    def functions_between(self, start, end):
        return self.functions[bisect.bisect_left(self.starts, start) : bisect.bisect_left(self.starts, end)]


class Input:
    """A section, and the object with it."""

    def __init__(self, request):
        self.section = request["section"]
        self.machine = self.section["machine"]
        if self.machine not in RELOCATIONS or self.section["byte_order"] != "little":
            raise Unsupported("the machine")
        self.data = bytes.fromhex(self.section["hex"])
        if "--score" in sys.argv and self.data[:2] == b"\xe2\xde" and self.data[2:3] in (b"\1", b"\2"):
            raise Unsupported("the version")
        self.places, self.width = fields(self.data)
        self.object = made_object(self.machine, self.data)
        self.code_size = FUNCTION * (len(self.places) + 1)

    def opened(self, linked, code):
        """The functions that mold wrote, with the starts that they have in the input."""
        functions = []
        for function in linked.functions_between(code, code + FUNCTION * len(self.places)):
            place = self.places[(function["start"] - code) // FUNCTION]
            stored = int.from_bytes(self.data[place : place + self.width], "little", signed=True)
            base = place if self.data[3] & 4 else 0
            described = described_function(linked.reader, function)
            described["start"] = hex((int(self.section["address"], 16) + base + stored) % (1 << 64))
            functions.append(described)
        if not functions:
            return {"refused": "no .sframe in the result", "then": "links without the section"}
        return {"opened": {"functions": functions}}


def described_function(reader, function):
    try:
        return reader.describe(function)
    except Refused as error:
        return {"start": hex(function["start"]), "size": function["size"], "rows": [], "error": str(error)}


def answers(mold, inputs):
    """The answers for sections of one machine, which mold links at once. An input that ends the link is found by halving."""
    code, message, file = run(mold, [section.object for section in inputs])
    if code and len(inputs) > 1:
        half = len(inputs) // 2
        return answers(mold, inputs[:half]) + answers(mold, inputs[half:])
    if code < 0:
        return [{"crashed": -code}]
    if code:
        return [{"refused": (message.splitlines() or ["no message"])[0], "code": code, "then": "fails to link"}]
    try:
        linked = Linked(file)
        given, at = [], linked.code
        for section in inputs:
            given.append(section.opened(linked, at))
            at += section.code_size
        if len(inputs) == 1 and linked.data:
            given[0]["output"] = linked.data.hex()
        return given
    except (Refused, struct.error, ValueError) as error:
        return [{"refused": f"the result cannot be read: {error}", "then": "writes a broken section"}] * len(inputs)


def answer_all(mold, requests):
    """The answers to requests, in their order."""
    given, by_machine = [None] * len(requests), collections.defaultdict(list)
    for index, request in enumerate(requests):
        try:
            if request["op"] != "open":
                raise Unsupported("lookups and walks")
            section = Input(request)
            by_machine[section.machine].append((index, section))
        except Unsupported as error:
            given[index] = {"unsupported": str(error)}
    for inputs in by_machine.values():
        for (index, _), found in zip(inputs, answers(mold, [section for _, section in inputs])):
            given[index] = found
    return given


def batches(most):
    """Lists of requests: those that have arrived, in pieces."""
    rest = b""
    while True:
        data = os.read(0, 1 << 20)
        *lines, rest = (rest + data).split(b"\n")
        for first in range(0, len(lines), most):
            yield [json.loads(line) for line in lines[first : first + most]]
        if not data:
            return


def crash(number):
    """Ends like the consumer."""
    sys.stdout.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def main():
    survives = "--survive" in sys.argv
    for requests in batches(BATCH if survives else 1):
        for given in answer_all(sys.argv[1], requests):
            if "crashed" in given and not survives:
                crash(given["crashed"])
            print(json.dumps(given))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
