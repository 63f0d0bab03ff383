#!/usr/bin/env python3
"""The reader in `reader.py`, but literally as the text has it in four places where no producer follows the text:

- the pseudocode for FP in flexible rows (V3, appendix A);
- the CFA's offset in flexible rows of s390x, without a scale (V3 3.2);
- PC % REP_BLOCK_SIZE, with the absolute PC (V2 2.3.2, V3 2.3.3.1);
- the lookup of `frame->pc` in every frame of a walk (V3, appendix A).

It shows what the text means for a reader that is written from it alone. `docs/ERRATA.md` has its answers.

SPDX-License-Identifier: CC0-1.0"""

import json
import sys

import reader


class Section(reader.Section):
    def flexible(self, words, info):
        if not words:
            return {"ra": "undefined"}
        rule = lambda at: self.rule(words, at)
        cfa, ra = rule(0), None
        if cfa is None or cfa[0] == "cfa":
            raise reader.Refused("a CFA without a register")
        if len(words) > 2 and words[2][1] != 0:
            ra, is_tracked, at = rule(2), len(words) > 3, 3
        else:
            is_tracked, at = len(words) > 4, 4
        fp = rule(at) if is_tracked else None
        return {"cfa": cfa, "ra": ra or self.fixed(self.fixed_ra), "fp": fp or self.fixed(self.fixed_fp), "signed": self.is_signed(info)}

    def rule(self, words, at):
        """The pair of words at an index."""
        if at + 2 > len(words):
            raise reader.Refused(f"no word {at + 1}")
        control, offset = words[at][1], words[at + 1][0]
        return (control >> 3 if control & 1 else "cfa", offset, bool(control & 2))

    def find(self, pc):
        function, frame = super().find(pc)
        if function is None or not function["info"] & 0x10 or not function["repeat"]:
            return function, frame
        rows = [row for start, row in self.row_frames(function) if start <= pc % function["repeat"]]
        return function, rows[-1] if rows else None


class AtReturnAddress:
    """A section that looks up the PC of a walk's last frame, and not the byte before."""

    def __init__(self, section, walk):
        self.section, self.walk = section, walk

    def __getattr__(self, name):
        return getattr(self.section, name)

    def find(self, _before):
        return self.section.find(self.walk.pc)


class Reader(reader.Reader):
    def open(self, request):
        part = request["section"]
        self.section = None
        self.section = Section(bytes.fromhex(part["hex"]), int(part["address"], 16))
        return {"opened": {"header": self.section.header, "functions": [self.describe(f) for f in self.section.functions]}}

    def walk(self, request):
        walk = reader.Walk(self.section, request)
        walk.section = AtReturnAddress(self.section, walk)
        frames, end = walk.run()
        return {"walked": {"frames": frames, "end": end}}


def serve():
    literal = Reader()
    for line in sys.stdin:
        print(json.dumps(literal.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
