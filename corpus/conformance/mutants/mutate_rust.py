#!/usr/bin/env python3
"""Measures the power of the vectors on the reader of `sframe-validator`: changes a copy of it in many ways, one at a time,
builds each of these mutants with `rust/runner.rs`, and runs the vectors on it. Prints the mutants that survive; those that
behave like the reader are in `rust/equivalent.py`.

    corpus/conformance/mutants/mutate_rust.py [--list] [--jobs N] [--every N] [--only TEXT] [--check]

Each takes some seconds; `--check` builds none, and only compares the list in `rust/equivalent.py` with the reader. The exit
status is 0 if every other mutant that compiles fails a vector."""

import argparse
import collections
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "rust"))

from equivalent import EQUIVALENT
from source import changes

ROOT = HERE.parent.parent.parent
SOURCES = ROOT / "validator" / "src"
SCRATCH = ROOT / "target" / "mutants-of-reader"
# The files that read sections. `error.rs`, `field.rs` and `placement.rs` have messages, names and parameters.
FILES = [
    "section.rs", "section/bytes.rs", "section/function.rs", "section/header.rs", "section/interpret.rs",
    "section/lookup.rs", "section/plain.rs", "section/row.rs", "section/rows.rs", "section/stored_rows.rs",
]
# The places of fields for findings, the contents of errors, and questions that only rules and writers ask. An answer has
# none of these; the validator's own tests do.
LEFT_OUT = {
    "field", "in_table", "truncated", "truncated_attributes", "truncated_table", "reserved_word_size", "word_count_error",
    "info_offset", "word_offset", "max_rows", "defined_flags", "frame_pointer", "mangled_ra", "for_start", "before",
    "packed_words", "MASKS", "charge", "left", "padding", "size_hint", "remaining", "offset", "spend", "ALL",
}
# Seconds after which a mutant hangs.
PATIENCE = 60

WORKSPACE = """[workspace]
resolver = "3"
members = ["reader", "runner"]
[profile.dev]
debug = false
incremental = false
[profile.dev.package."*"]
opt-level = 1
"""
READER = """[package]
name = "mutant-of-reader"
version = "0.1.0"
edition = "2024"
[lib]
name = "sframe_validator"
[lints.rust]
unexpected_cfgs = "allow"
"""
RUNNER = """[package]
name = "runner"
version = "0.1.0"
edition = "2024"
[dependencies]
mutant-of-reader = {{ path = "../reader" }}
sframe-conformance = {{ path = "{}" }}
"""


class Mutant:
    """A change of one place in a file."""

    def __init__(self, kind, file, where, start, end, new):
        text = (SOURCES / file).read_text()
        self.kind, self.file, self.text = kind, file, text[:start] + new + text[end:]
        self.line = text.count("\n", 0, start) + 1
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        old = " ".join(text[first:last].split())
        changed = " ".join((text[first:start] + new + text[end:last]).split())
        self.key = f"{file} {where}: {old} -> {changed}"


def mutants():
    found, keys = [], collections.Counter()
    for file in FILES:
        for kind, where, start, end, new in changes((SOURCES / file).read_text()):
            if where in LEFT_OUT:
                continue
            mutant = Mutant(kind, file, where, start, end, new)
            keys[mutant.key] += 1
            if keys[mutant.key] > 1:
                mutant.key += f" #{keys[mutant.key]}"
            found.append(mutant)
    return found


def prepare(folder):
    """A workspace with a copy of the reader, and the runner."""
    shutil.rmtree(folder / "reader", ignore_errors=True)
    for name in ("reader", "runner/src"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    # Not the times of the files, by which cargo would take the last run's mutant for the reader.
    shutil.copytree(SOURCES, folder / "reader" / "src", copy_function=shutil.copyfile)
    shutil.copy(HERE / "rust" / "runner.rs", folder / "runner" / "src" / "main.rs")
    conformance = ROOT / "reports" / "conformance"
    shutil.copy(conformance / "src" / "validator.rs", folder / "runner" / "src")
    shutil.copy(ROOT / "Cargo.lock", folder)
    (folder / "Cargo.toml").write_text(WORKSPACE)
    (folder / "reader" / "Cargo.toml").write_text(READER)
    (folder / "runner" / "Cargo.toml").write_text(RUNNER.format(conformance))


def build(folder):
    environment = os.environ | {"CARGO_TARGET_DIR": str(folder / "target")}
    command = ["cargo", "build", "--quiet", "--offline", "--jobs", "1"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def run(folder):
    """The first wrong answer, or how the runner ended; None if all answers are right."""
    program = folder / "target" / "debug" / "runner"
    try:
        done = subprocess.run([program], capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode == 0:
        return None
    return done.stdout.splitlines()[0] if done.stdout else "crashes"


def judge(mutant):
    """The verdict on a mutant, in the workspace of this process."""
    folder = SCRATCH / multiprocessing.current_process().name
    if not (folder / "runner").exists() or folder not in READY:
        prepare(folder)
        READY.add(folder)
        built = build(folder)
        if built.returncode or run(folder):
            raise RuntimeError(f"the reader itself fails: {built.stderr}{run(folder)}")
    path = folder / "reader" / "src" / mutant.file
    original = path.read_text()
    path.write_text(mutant.text)
    try:
        if build(folder).returncode:
            return "does not compile", None
        wrong = run(folder)
        return ("killed" if wrong else "survived"), wrong
    finally:
        path.write_text(original)


READY = set()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--list", action="store_true", help="list every mutant")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--every", type=int, default=1, help="only every Nth mutant")
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument("--check", action="store_true", help="build none")
    arguments = parser.parse_args()
    everything = mutants()
    if arguments.check:
        print(f"{len(everything)} changes")
        sys.exit(1 if unknown(everything) else 0)
    chosen = [mutant for mutant in everything[:: arguments.every] if arguments.only in mutant.key]
    with multiprocessing.get_context("fork").Pool(arguments.jobs) as pool:
        verdicts = []
        for mutant, verdict in zip(chosen, pool.imap(judge, chosen)):
            verdicts.append(verdict)
            if verdict[0] == "survived" and mutant.key not in EQUIVALENT or arguments.list:
                print(f"{verdict[0]}: line {mutant.line}, {mutant.kind}: {mutant.key}" + (f" [{verdict[1]}]" if verdict[1] else ""), flush=True)
    sys.exit(report(everything, chosen, verdicts))


def unknown(everything):
    """The number of equivalents that are not among the mutants, because the reader has changed."""
    keys = sorted(EQUIVALENT.keys() - {mutant.key for mutant in everything})
    for key in keys:
        print(f"not a mutant: {key}")
    return len(keys)


def report(everything, chosen, verdicts):
    kinds, wrong = collections.defaultdict(collections.Counter), 0
    for mutant, (verdict, _) in zip(chosen, verdicts):
        if verdict == "survived" and mutant.key in EQUIVALENT:
            verdict = "equivalent"
        elif verdict == "survived":
            wrong += 1
        elif mutant.key in EQUIVALENT:
            print(f"not a survivor: {mutant.key}")
            wrong += 1
        if verdict != "does not compile":
            kinds[mutant.kind][verdict] += 1
    wrong += unknown(everything)
    print("| Change | Mutants | Killed | Equivalent | Survived |\n|---|---|---|---|---|")
    for kind, counts in sorted(kinds.items()) + [("all", sum(kinds.values(), collections.Counter()))]:
        print(f"| {kind} | {sum(counts.values())} | {counts['killed']} | {counts['equivalent']} | {counts['survived']} |")
    return 1 if wrong else 0


if __name__ == "__main__":
    main()
