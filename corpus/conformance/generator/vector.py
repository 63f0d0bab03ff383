"""A vector, and its form as JSON (`../schema.json`)."""

from dataclasses import dataclass, field

import answers
from assemble import assemble
from clauses import TITLES, folder, section_of

SCHEMA = 1
SOUND, MALFORMED, DIFFERING = "sound", "malformed", "differing"


@dataclass
class Vector:
    subject: str
    name: str
    title: str
    section: object
    kind: str = SOUND
    # Why readers must refuse it, or why they may differ.
    reason: str = ""
    # PCs whose answers were worked out by hand: (pc, "CFA RA FP"), or (pc, None) for no answer.
    hand: list = field(default_factory=list)
    walks: list = field(default_factory=list)
    # Malformed: no reader may give a frame at these PCs. None: wherever the functions are.
    refuse: object = None
    # Replaces the assembled bytes.
    data: object = None
    # Differing: other acceptable answers by PC (each a frame in JSON, or None), and whether a reader may refuse.
    others: dict = field(default_factory=dict)
    may_refuse: bool = False
    # Differing: a reader may give no frame at any PC.
    or_nothing: bool = False
    # Differing: there is no agreed set of functions and rows; only lookups are expected.
    only_lookups: bool = False

    @property
    def path(self):
        return f"{folder(self.subject, self.section.version)}/{self.name}.json"


def frame_of(text):
    """A frame from its short form: `r7+8 *(cfa-8) unchanged`, with `signed` added if it is, or `undefined`."""
    if text is None:
        return None
    words = text.split()
    if words == ["undefined"]:
        return {"ra": "undefined"}
    cfa, ra, fp, *rest = words
    assert rest in ([], ["signed"])
    return {"cfa": cfa, "ra": ra, "fp": fp, "signed": bool(rest)}


def check_hand(vector):
    """Answers worked out by hand are those that follow from the description."""
    for pc, expected in vector.hand:
        found = answers.answer(vector.section, pc)["frame"]
        assert found == frame_of(expected), f"{vector.path}: {pc:#x}: {found}, by hand {expected}"


def expected_lookups(vector):
    found = answers.lookups(vector.section)
    known = {int(item["pc"], 16) for item in found}
    by_hand = [{"pc": hex(pc), "why": "worked out by hand"} for pc, _ in vector.hand if pc not in known]
    others = [{"pc": hex(pc), "why": "readers differ here"} for pc in vector.others if pc not in known]
    for item in by_hand + others:
        found.append(item | answers.answer(vector.section, int(item["pc"], 16)))
    for item in found:
        alternatives = vector.others.get(int(item["pc"], 16))
        if alternatives is not None:
            item["or"] = [frame_of(text) if isinstance(text, str) else text for text in alternatives]
        elif vector.or_nothing and item["frame"] is not None:
            item["or"] = [None]
    return sorted(found, key=lambda item: int(item["pc"], 16))


def as_json(vector):
    section = vector.section
    data, header = assemble(section)
    if vector.data is not None:
        data = vector.data
    check_hand(vector)
    item = {
        "schema": SCHEMA,
        "name": vector.path.removesuffix(".json"),
        "title": vector.title,
        "clause": {
            "version": section.version,
            "section": section_of(vector.subject, section.version),
            "title": TITLES[vector.subject],
        },
        "kind": vector.kind,
    }
    if vector.reason:
        item["reason"] = vector.reason
    item["section"] = {
        "machine": section.machine.name,
        "byte_order": section.machine.order,
        "address": hex(section.address),
        "hex": data.hex(),
    }
    if vector.kind == MALFORMED:
        pcs = vector.refuse
        if pcs is None:
            pcs = [function.start for function in section.functions]
        return item | {"expect": {"refuse": [hex(pc) for pc in pcs]}}
    expect = {"may_refuse": True} if vector.may_refuse else {}
    if not vector.only_lookups:
        expect["header"] = {name: value for name, value in header.items() if name != "magic"}
        expect["functions"] = answers.functions(section)
    expect["lookups"] = expected_lookups(vector)
    if vector.walks:
        expect["walks"] = vector.walks
    return item | {"expect": expect}
