#!/usr/bin/env python3
"""A wrapper around `sframe-check` that makes some of its runs fail or wait; the tests' engines run it instead.

`$HINDRANCES` is a folder. `program` in it is a link to the real program. `N.json` lists what happens to the attempts at shard
N, in order: a number is an exit status that is returned at once; "hold" lets the program start writing and then stops it
until a file `N.release` exists. Each attempt creates `N.attempt.I`. A held attempt also creates `N.held` with the pids of the
worker, this process and the program.
"""

import ctypes
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

PR_SET_PDEATHSIG = 1


def main() -> NoReturn:
    folder = Path(os.environ["HINDRANCES"])
    command = [str(folder / "program"), *sys.argv[1:]]
    if sys.argv[1:3] == ["shard", "scan"]:
        shard = sys.argv[sys.argv.index("--shard") + 1]
        store = Path(sys.argv[sys.argv.index("--store") + 1])
        attempt = count(folder, shard)
        obstacles = folder / f"{shard}.json"
        hindrances = json.loads(obstacles.read_text()) if obstacles.exists() else []
        if attempt < len(hindrances):
            if hindrances[attempt] == "hold":
                sys.exit(hold(command, folder, shard, store))
            print(f"hindered: {hindrances[attempt]} for a test", file=sys.stderr)
            sys.exit(hindrances[attempt])
    os.execv(command[0], command)


def count(folder: Path, shard: str) -> int:
    for attempt in itertools.count():
        try:
            (folder / f"{shard}.attempt.{attempt}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return attempt
    raise AssertionError


def hold(command: list[str], folder: Path, shard: str, store: Path) -> int:
    """Stops the program when it has started to write its shard."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    worker = os.getppid()
    with subprocess.Popen(command) as program:
        while not writes(program.pid, store):
            if program.poll() is not None:
                print(f"hindered: shard {shard} was done before it could be held", file=sys.stderr)
                return 64
        program.send_signal(signal.SIGSTOP)
        held = folder / f"{shard}.held.new"
        held.write_text(json.dumps([worker, os.getpid(), program.pid]))
        held.rename(folder / f"{shard}.held")
        while not (folder / f"{shard}.release").exists():
            time.sleep(0.05)
        program.send_signal(signal.SIGCONT)
        return program.wait()


def writes(pid: int, store: Path) -> bool:
    """Whether the process has a non-empty temporary file open among the shards."""
    # Descriptors and files may disappear before they are read.
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            target = Path(os.readlink(descriptor))
            if target.parent == store / "shards" and target.name.startswith(".") and target.stat().st_size > 0:
                return True
    return False


if __name__ == "__main__":
    main()
