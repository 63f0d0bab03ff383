#!/usr/bin/env python3
"""mold as a consumer: what it makes of an object with the section.

    mold.py PATH-OF-MOLD

mold reads `.sframe` in objects only, where a relocation says what each function is. So the section is put into an object with
as many functions of 16 bytes as its header counts, a relocation for the start of each, and linked into a shared object.
`opened` has the functions and rows of the section that mold wrote, with the starts of the input; `refused` is mold's message,
or that the result has no section. It looks up no PCs."""

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
# The bytes of a function, the largest count of functions, and seconds.
FUNCTION, MOST, PATIENCE = 16, 4096, 10


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


def link(mold, data):
    """What mold makes of an object. If it crashes, so does this program."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = pathlib.Path(folder, "in.o"), pathlib.Path(folder, "out.so")
        source.write_bytes(data)
        words = [mold, "-shared", "-o", str(result), str(source)]
        try:
            done = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(words, -signal.SIGPROF)
        crashed = -done.returncode if done.returncode < 0 else re.search(rb"signal (\d+)|Segmentation", done.stderr or b"")
        if crashed:
            sys.stdout.flush()
            signal.signal(signal.SIGABRT, signal.SIG_DFL)
            os.kill(os.getpid(), crashed if isinstance(crashed, int) else signal.SIGSEGV)
        message = done.stderr.decode(errors="replace").replace(folder + "/", "").strip()
        return done.returncode, message, result.read_bytes() if done.returncode == 0 else b""


def opened(section, file):
    """The functions of the section that mold wrote, with the starts that they have in the input."""
    found = sections(file)
    if ".sframe" not in found:
        return {"refused": "no .sframe in the result", "then": "links without the section"}
    code = found[".text"][0]
    reader = Reader()
    reader.section = written = Section(found[".sframe"][1], found[".sframe"][0])
    data = bytes.fromhex(section["hex"])
    places, width = fields(data)
    functions = []
    for function in written.functions:
        index = (function["start"] - code) // FUNCTION
        described = described_function(reader, function)
        if 0 <= index < len(places):
            stored = int.from_bytes(data[places[index] : places[index] + width], "little", signed=True)
            base = places[index] if data[3] & 4 else 0
            described["start"] = hex((int(section["address"], 16) + base + stored) % (1 << 64))
        functions.append(described)
    return {"opened": {"functions": functions}, "output": found[".sframe"][1].hex()}


def described_function(reader, function):
    try:
        return reader.describe(function)
    except Refused as error:
        return {"start": hex(function["start"]), "size": function["size"], "rows": [], "error": str(error)}


def answer(mold, request):
    if request["op"] != "open":
        return {"unsupported": "lookups and walks"}
    section = request["section"]
    if section["machine"] not in RELOCATIONS or section["byte_order"] != "little":
        return {"unsupported": "the machine"}
    data = bytes.fromhex(section["hex"])
    if "--score" in sys.argv and data[:2] == b"\xe2\xde" and data[2:3] in (b"\1", b"\2"):
        return {"unsupported": "the version"}
    try:
        code, message, file = link(mold, made_object(section["machine"], data))
        if code:
            return {"refused": (message.splitlines() or ["no message"])[0], "code": code, "then": "fails to link"}
        return opened(section, file)
    except Unsupported as error:
        return {"unsupported": str(error)}
    except (Refused, struct.error, ValueError) as error:
        return {"refused": f"the result cannot be read: {error}", "then": "writes a broken section"}


def main():
    for line in sys.stdin:
        print(json.dumps(answer(sys.argv[1], json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
