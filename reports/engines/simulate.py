#!/usr/bin/env python3
"""Simulates two nights of a distribution: this machine's own binaries, packed as Debian packages.

    simulate.py OUT --packages 2000 --plant 50 --binaries DIR... --with-sframe FILE...

writes OUT/monday/*.deb and OUT/tuesday/*.deb, and OUT/planted.tsv, which lists the packages that are worse on
Tuesday. Some packages are the same on both nights, and some have a new version of the same files. In the packages
with a planted defect, one library is broken (`bad-magic`) or has lost its section (`lost`). The same arguments
give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import random
import shutil
import struct
import tarfile
from pathlib import Path

ELF = b"\x7fELF"
# The type of a section header that is not in use.
SHT_NULL = 0


def ar_member(name: str, data: bytes) -> bytes:
    """A member of a `.deb` (deb(5), ar(5))."""
    head = f"{name:<16}{0:<12}{0:<6}{0:<6}{0o100644:<8o}{len(data):<10}`\n".encode()
    return head + data + b"\n" * (len(data) % 2)


def tar_gz(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o755
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(out.getvalue(), 1, mtime=0)


def deb(name: str, version: str, files: dict[str, bytes]) -> bytes:
    control = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nSource: {name[:-1]}\n"
    parts = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", tar_gz({"./control": control.encode()})),
        ("data.tar.gz", tar_gz(files)),
    ]
    return b"!<arch>\n" + b"".join(ar_member(part, data) for part, data in parts)


def sframe_header(elf: bytes) -> tuple[int, int]:
    """The file offsets of the section header of `.sframe` and of its bytes."""
    table, (count, names) = struct.unpack_from("<Q", elf, 40)[0], struct.unpack_from("<HH", elf, 60)
    strings = struct.unpack_from("<Q", elf, table + 64 * names + 24)[0]
    for number in range(count):
        at = table + 64 * number
        name = strings + struct.unpack_from("<I", elf, at)[0]
        if elf[name : name + 8] == b".sframe\0":
            return at, struct.unpack_from("<Q", elf, at + 24)[0]
    raise SystemExit("a file that should have .sframe has none")


def broken(elf: bytes, how: str) -> bytes:
    out = bytearray(elf)
    header, section = sframe_header(elf)
    if how == "bad-magic":
        out[section] ^= 0xFF
    else:
        # Removing its name and type hides the section from readers that look for either.
        struct.pack_into("<II", out, header, 0, SHT_NULL)
        drop_segments(out)
    return bytes(out)


def drop_segments(elf: bytearray) -> None:
    """Changes the type of PT_GNU_SFRAME segments to PT_NULL."""
    table, count = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    for number in range(count):
        if struct.unpack_from("<I", elf, table + 56 * number)[0] == 0x6474E554:
            struct.pack_into("<I", elf, table + 56 * number, 0)


def elf_files(folders: list[Path], largest: int) -> list[Path]:
    found = []
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if path.is_symlink() or not path.is_file() or path.stat().st_size > largest:
                continue
            with path.open("rb") as file:
                if file.read(4) == ELF:
                    found.append(path)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packages", type=int, default=2000)
    parser.add_argument("--plant", type=int, default=50)
    parser.add_argument("--binaries", type=Path, nargs="+", default=[Path("/usr/bin")])
    parser.add_argument("--with-sframe", type=Path, nargs="+", required=True)
    parser.add_argument("--largest", type=int, default=2 << 20, help="maximum size of a binary in bytes")
    args = parser.parse_args()

    chance = random.Random(1)
    binaries = elf_files(args.binaries, args.largest)
    libraries = [path.read_bytes() for path in args.with_sframe]
    planted = set(chance.sample(range(args.packages), args.plant))
    for night in ("monday", "tuesday"):
        shutil.rmtree(args.out / night, ignore_errors=True)
        (args.out / night).mkdir(parents=True)
    rows = []
    for number in range(args.packages):
        name = f"pkg{number:05}x"
        files = {f"./usr/bin/{path.name}": path.read_bytes() for path in chance.sample(binaries, min(3, len(binaries)))}
        soname = f"./usr/lib/lib{name}.so"
        library = libraries[number % len(libraries)]
        monday = deb(name, "1.0-1", files | {f"{soname}.1.0": library})
        (args.out / "monday" / f"{name}_1.0-1_amd64.deb").write_bytes(monday)
        if number in planted:
            how = chance.choice(["bad-magic", "lost"])
            rows.append(f"{name}\t{how}\n")
            library = broken(library, how)
        elif number % 10:
            (args.out / "tuesday" / f"{name}_1.0-1_amd64.deb").write_bytes(monday)
            continue
        tuesday = deb(name, "1.1-1", files | {f"{soname}.1.1": library})
        (args.out / "tuesday" / f"{name}_1.1-1_amd64.deb").write_bytes(tuesday)
    (args.out / "planted.tsv").write_text("".join(rows))


if __name__ == "__main__":
    main()
