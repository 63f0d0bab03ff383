#!/usr/bin/env python3
"""Tests a reader of SFrame sections on the conformance vectors. Needs nothing but Python 3.9 and the vectors.

    conformance.py [--vectors FOLDER] [--only TEXT] [--list] [--json] COMMAND...

COMMAND reads requests from its standard input and writes answers to its standard output, a line of JSON each:
`../README.md` describes them. It is a program and its arguments, or all of them in one argument with quotes, as
`sframe-check conformance --reader` takes them.

The exit status is 0 if the reader gives no wrong answer, 1 if it gives one, 2 if it supports none of the vectors, and
3 if there are no vectors or the reader cannot be started."""

import argparse
import collections
import json
import pathlib
import selectors
import shlex
import shutil
import subprocess
import sys

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "vectors"
# Seconds for an answer, after which a reader is said to hang.
PATIENCE = 10
# An answer has one of these.
KEYS = {"opened", "found", "walked", "refused", "unsupported"}


class Gone(Exception):
    """The reader has crashed, hangs, or wrote something else than an answer."""


class Command:
    """A reader in a process of its own, which is started again after a crash."""

    def __init__(self, command):
        self.command, self.process = command, None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = selectors.DefaultSelector()
        self.ready.register(self.process.stdout, selectors.EVENT_READ)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def answer(self, request):
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline() if self.ready.select(PATIENCE) else None
            if line is None:
                raise Gone("hangs")
            if not line:
                raise Gone(f"crashed with status {self.process.wait()}")
            answer = json.loads(line)
            if not isinstance(answer, dict) or not KEYS & answer.keys():
                raise Gone(f"wrote something else than an answer: {line[:80]}")
            return answer
        except (OSError, ValueError) as error:
            self.stop()
            raise Gone(f"crashed: {error}") from error
        except Gone:
            self.stop()
            raise


class Result:
    """What became of a vector: `fail` with the disagreements, `pass`, or `unsupported`."""

    def __init__(self):
        self.wrong, self.checks, self.unsupported = [], 0, None
        # The vector has walks, and the reader does none.
        self.lacks_walks = False

    def check(self, is_right, message):
        self.checks += 1
        if not is_right:
            self.wrong.append(message() if callable(message) else message)

    @property
    def verdict(self):
        if self.wrong:
            return "fail"
        return "pass" if self.checks and not self.lacks_walks else "unsupported"


def frames_agree(expected, found):
    """Whether a frame is the expected one. A reader may leave out what it does not report, but not the CFA."""
    if expected is None or found is None:
        return expected is None and found is None
    if expected["ra"] == "undefined":
        return found.get("ra") == "undefined"
    return "cfa" in found and all(found[name] == value for name, value in expected.items() if name in found)


def same_fields(expected, found):
    """Whether the fields that a reader reports are the expected ones. Null is as good as no field."""
    names = [name for name in expected if name != "rows" and found.get(name) is not None]
    return all(same_value(expected[name], found[name]) for name in names)


def same_value(expected, found):
    """Addresses are text in hexadecimal, which has more than one spelling."""
    if isinstance(expected, str) and expected.startswith("0x"):
        return isinstance(found, str) and int(expected, 16) == int(found, 16)
    return expected == found


def check_header(expected, opened, result):
    found = opened.get("header", {})
    for name, value in expected.get("header", {}).items():
        if name in found:
            result.check(found[name] == value, f"header: {name} is {found[name]}, expected {value}")


def check_functions(expected, opened, result):
    if "functions" not in opened or "functions" not in expected:
        return
    found, wanted = opened["functions"], expected["functions"]
    result.check(len(found) == len(wanted), f"{len(found)} functions, expected {len(wanted)}")
    for index, (function, right) in enumerate(zip(found, wanted)):
        seen = {name: value for name, value in function.items() if name != "rows"}
        result.check(same_fields(right, function), lambda: f"function {index}: {seen}")
        if "rows" in function:
            check_rows(index, right["rows"], function["rows"], result)


def check_rows(index, wanted, found, result):
    result.check(len(found) == len(wanted), f"function {index}: {len(found)} rows, expected {len(wanted)}")
    for number, (row, right) in enumerate(zip(found, wanted)):
        frame = {name: value for name, value in right.items() if name != "start"}
        is_right = row["start"] == right["start"] and frames_agree(frame, row)
        result.check(is_right, lambda: f"function {index}, row {number}: {row}, expected {right}")


def check_lookup(expected, answer, result):
    """A refusal is as good as no row where none is expected."""
    if "unsupported" in answer:
        return
    found = answer.get("found")
    frame = found["frame"] if found else None
    wanted = [expected["frame"], *expected.get("or", [])]
    is_right = any(frames_agree(choice, frame) for choice in wanted)
    if found and expected["frame"] and "or" not in expected and "function" in found:
        is_right = is_right and same_value(expected["function"], found["function"])
    result.check(is_right, lambda: f"lookup of {expected['pc']} ({expected['why']}): {answer}, expected {wanted}")


def check_walk(expected, answer, result):
    if "unsupported" in answer:
        result.lacks_walks = True
        return
    walked = answer.get("walked")
    wanted = [expected["expect"], *expected.get("or", [])]
    is_right = walked is not None and any(walks_agree(choice, walked) for choice in wanted)
    result.check(is_right, lambda: f"walk ({expected['title']}): {answer}, expected {wanted}")


def walks_agree(expected, walked):
    frames, wanted = walked["frames"], expected["frames"]
    if len(frames) != len(wanted) or walked.get("end", expected["end"]) != expected["end"]:
        return False
    return all(same_fields(right, frame) for frame, right in zip(frames, wanted))


def check_malformed(expect, opened, ask, result):
    if "refused" in opened:
        return result.check(True, "")
    for pc in expect["refuse"]:
        answer = ask({"op": "lookup", "pc": pc})
        refuses = "unsupported" not in answer and not answer.get("found")
        result.check(refuses, f"accepted: at {pc}, {answer}")
    return None


def check_sound(vector, opened, ask, result):
    expect = vector["expect"]
    if "refused" in opened:
        return result.check(expect.get("may_refuse", False), f"refused: {opened['refused']}")
    check_header(expect, opened["opened"], result)
    check_functions(expect, opened["opened"], result)
    for lookup in expect["lookups"]:
        check_lookup(lookup, ask({"op": "lookup", "pc": lookup["pc"]}), result)
    for walk in expect.get("walks", []):
        request = {name: walk[name] for name in ("pc", "registers", "memory", "pointer_bits") if name in walk}
        check_walk(walk, ask({"op": "walk"} | request), result)
    return None


def run(vector, ask):
    """The result of one vector. `ask` takes a request and returns the answer."""
    result = Result()
    try:
        opened = ask({"op": "open", "section": vector["section"]})
        if "unsupported" in opened:
            result.unsupported = opened["unsupported"]
        elif vector["kind"] == "malformed":
            check_malformed(vector["expect"], opened, ask, result)
        else:
            check_sound(vector, opened, ask, result)
    except Gone as error:
        result.check(False, str(error))
    return result


def load(folder, only=""):
    """The vectors below a folder, by name."""
    paths = sorted(pathlib.Path(folder).rglob("*.json"))
    found = [json.loads(path.read_text()) for path in paths if only in str(path)]
    needed = {"name", "kind", "section", "expect"}
    return [vector for vector in found if isinstance(vector, dict) and needed <= vector.keys()]


def words(command):
    """The program and its arguments. One argument may have all of them, if no program has that name."""
    if len(command) == 1 and shutil.which(command[0]) is None:
        try:
            command = shlex.split(command[0])
        except ValueError as error:
            raise ValueError(f"{command[0]}: {error}") from error
    if not command:
        raise ValueError("no command: name the program that starts the reader")
    if shutil.which(command[0]) is None:
        raise ValueError(f"{command[0]}: no such program")
    return command


def chosen(folder, only):
    """The vectors that are to be tested, of which there is at least one."""
    found = load(folder, only)
    if not found:
        having = f" whose path contains {only}" if only else ""
        raise ValueError(f"{folder}: no vectors{having}; --vectors names the folder `vectors` of corpus/conformance")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--vectors", default=VECTORS, help="the folder of the vectors")
    parser.add_argument("--only", default="", help="only vectors whose path contains this text")
    parser.add_argument("--list", action="store_true", help="list every disagreement")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each vector")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    try:
        reader = Command(words(arguments.command))
        vectors = chosen(arguments.vectors, arguments.only)
    except (OSError, ValueError, KeyError) as error:
        print(f"conformance.py: {error}", file=sys.stderr)
        sys.exit(3)
    clauses = collections.defaultdict(collections.Counter)
    for vector in vectors:
        result = run(vector, reader.answer)
        clause = "/".join(vector["name"].split("/")[:2])
        clauses[clause][result.verdict] += 1
        if arguments.json:
            print(json.dumps({"name": vector["name"], "verdict": result.verdict, "wrong": result.wrong}))
        elif arguments.list and result.wrong:
            about = " ".join(vector[name] for name in ("title", "reason") if name in vector)
            print(f"{vector['name']}: {about}", *result.wrong[:3], sep="\n    ")
    reader.stop()
    total = sum(clauses.values(), collections.Counter())
    if not arguments.json:
        for clause, counts in sorted(clauses.items()) + [("all", total)]:
            print(f"{clause:40} {counts['pass']:4} pass {counts['fail']:4} fail {counts['unsupported']:4} unsupported")
    sys.exit(1 if total["fail"] else 0 if total["pass"] else 2)


if __name__ == "__main__":
    main()
