"""recorded.py CASES PAGE... : fails for pages whose requests and answers are no case in CASES/cases.py."""

import json
import sys

sys.path.insert(0, sys.argv[1])
import cases  # noqa: E402

SIGNALS = {
    "-8": ["Floating point exception", "(exit status 136)"],
    "-11": ["Segmentation fault", "(exit status 139)"],
}


def blocks(text):
    """The blocks of a page, by the line before each."""
    parts = text.split("\n```")
    return {before.strip().splitlines()[-1]: block for before, block in zip(parts[::2], parts[1::2])}


def lines(answers):
    """The answers as the page prints them."""
    return [line for answer in answers for line in (SIGNALS[answer] if isinstance(answer, str) else [json.dumps(answer)])]


for path in sys.argv[2:]:
    found = blocks(open(path, encoding="utf-8").read())
    requests = [json.loads(line) for line in found["`requests.json`:"].splitlines()[1:]]
    command, *printed = found["## Commands and what they print"].splitlines()[1:]
    name = command.split()[1]
    section = bytes.fromhex(requests[0]["section"]["hex"])
    own = [answers for _, _, content, answers in cases.CASES[name] if content == section]
    asked = [answers for answers in own if [request for request, _ in answers[1:]] == requests[1:]]
    if not any(lines(answer for _, answer in answers) == printed for answers in asked):
        sys.exit(f"{path}: no case of {name} has this section and these answers")
