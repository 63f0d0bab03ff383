#!/usr/bin/env python3
"""Writes the vectors into `../vectors`, or, with `--check`, compares them with the files there.

    corpus/conformance/generator/generate.py [--check]
"""

import json
import pathlib
import sys

import flexible
import headers
import rows
import silences
import tables
import walks
from vector import as_json

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "vectors"


def files():
    """The text of each vector by its path."""
    found = {}
    for module in (headers, tables, rows, flexible, walks, silences):
        for vector in module.vectors():
            assert vector.path not in found, f"two vectors are {vector.path}"
            found[vector.path] = compact(as_json(vector)) + "\n"
    return found


# The longest value on one line.
LONGEST = 240


def compact(value, indent=0):
    """JSON in which a value that fits is on one line: a row, a lookup, a frame."""
    line = json.dumps(value)
    if not isinstance(value, (dict, list)) or len(line) <= LONGEST and indent:
        return line
    margin = "\n" + " " * (indent + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {compact(part, indent + 1)}" for key, part in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [compact(part, indent + 1) for part in value]
        opening, closing = "[", "]"
    return opening + margin + f",{margin}".join(parts) + "\n" + " " * indent + closing


def main():
    expected = files()
    if sys.argv[1:] == ["--check"]:
        actual = {str(path.relative_to(FOLDER)): path.read_text() for path in FOLDER.rglob("*.json")}
        wrong = sorted(path for path in expected.keys() | actual.keys() if expected.get(path) != actual.get(path))
        for path in wrong:
            print(f"{path}: not what the generator writes")
        sys.exit(1 if wrong else 0)
    for path in FOLDER.rglob("*.json"):
        path.unlink()
    for name, text in expected.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(f"{len(expected)} vectors in {len({str((FOLDER / name).parent) for name in expected})} folders")


if __name__ == "__main__":
    main()
