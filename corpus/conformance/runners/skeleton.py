#!/usr/bin/env python3
"""The frame of a reader under test, to be copied: it finds no rows yet. `../README.md` describes requests and answers.

    conformance.py --only v2/2.1-preamble --list ./skeleton.py

SPDX-License-Identifier: CC0-1.0"""

import json
import sys


def my_open(data, address):
    """The section, as lookups need it. A reader raises ValueError if the bytes are malformed."""
    if len(data) < 28:
        raise ValueError("the header has 28 bytes")
    return data, address


def my_lookup(section, pc):
    """The row at a PC: None if there is none, or for instance
    {"cfa": "r7+16", "ra": "*(cfa-8)", "fp": "*(cfa-16)", "signed": False}, or {"ra": "undefined"}."""
    return None


def is_supported(section):
    """Which sections the reader is made for: here those of version 2 for AMD64. The others are not counted."""
    version = section["hex"][4:6]
    return section["machine"] == "amd64" and version in ("", "02")


opened = None
for line in sys.stdin:
    request = json.loads(line)
    try:
        if request["op"] == "open":
            section = request["section"]
            if is_supported(section):
                opened = my_open(bytes.fromhex(section["hex"]), int(section["address"], 16))
                answer = {"opened": {}}
            else:
                answer = {"unsupported": "the version or the machine"}
        elif request["op"] == "lookup":
            frame = my_lookup(opened, int(request["pc"], 16))
            answer = {"found": None if frame is None else {"frame": frame}}
        else:
            answer = {"unsupported": request["op"]}
    except ValueError as error:
        answer = {"refused": str(error)}
    print(json.dumps(answer), flush=True)
