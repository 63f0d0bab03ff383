"""Consecutive nights, interrupted nights and nights with new defects; the stores that are kept, and the link `latest`."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[3]
SOUND = REPOSITORY / "corpus" / "golden" / "2.47.50" / "x86_64" / "alloca.o"
# Not a known defect of a producer, which would be a warning.
WORSE = REPOSITORY / "corpus" / "malformed" / "function-outside-code" / "function-outside-code.elf"


class Nights:
    """A folder of stores, and a mirror with one file without findings."""

    def __init__(self, folder: Path) -> None:
        self.program = Path(os.environ.get("SFRAME_CHECK", REPOSITORY / "target" / "release" / "sframe-check")).resolve()
        assert self.program.exists(), f"{self.program} is missing: cargo build --release -p sframe-check, or SFRAME_CHECK=PATH"
        self.stores = folder / "stores"
        self.mirror = folder / "mirror"
        self.commands = folder / "commands"
        self.mirror.mkdir()
        self.commands.mkdir()
        shutil.copy(SOUND, self.mirror)

    def night(self, day: str, program: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the script on that day."""
        self.command("date", f"echo {day}")
        variables["PATH"] = f"{self.commands}:{os.environ['PATH']}"
        variables["SFRAME_CHECK"] = str(program or self.program)
        return subprocess.run(
            [HERE.parent / "sframe-nightly", self.stores, self.mirror],
            env=os.environ | variables,
            capture_output=True,
            text=True,
        )

    def command(self, name: str, script: str) -> Path:
        path = self.commands / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)
        return path

    def found(self) -> list[str]:
        """The names in the folder, and the target of `latest`."""
        latest = self.stores / "latest"
        names = sorted(path.name for path in self.stores.iterdir() if path != latest)
        return [*names, f"latest={latest.readlink()}"] if latest.is_symlink() else names

    def is_complete(self, day: str) -> bool:
        return bool(json.loads((self.stores / day / "run.json").read_text())["state"] == "complete")


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    return Nights(tmp_path)


def test_nothing_changed(nights: Nights) -> None:
    first = nights.night("2026-11-20")
    assert (first.returncode, nights.found()) == (0, ["2026-11-20", "latest=2026-11-20"]), first
    log = nights.commands / "log"
    second = nights.night("2026-11-21", nights.command("logs", f'echo "$*" >>{log}; exec {nights.program} "$@"'))
    assert second.returncode == 0, second
    # Unchanged results are taken from the previous store.
    assert f"--previous {nights.stores}/latest" in log.read_text().splitlines()[0]
    assert nights.found() == ["2026-11-20", "2026-11-21", "2026-11-21.md", "latest=2026-11-21"]
    assert nights.is_complete("2026-11-20")
    assert nights.is_complete("2026-11-21")


def test_something_got_worse(nights: Nights) -> None:
    nights.night("2026-11-20")
    shutil.copy(WORSE, nights.mirror)
    worse = nights.night("2026-11-21")
    assert worse.returncode == 1, worse
    assert "function-outside-code" in worse.stdout
    assert (nights.stores / "2026-11-21.md").read_text() in worse.stdout
    # A second start reports the same changes, without another scan.
    again = nights.night("2026-11-21", nights.command("no-scan", f'[[ $1 == compare ]] && exec {nights.program} "$@"; exit 3'))
    assert again.returncode == 1, again


def test_cut_short(nights: Nights) -> None:
    nights.night("2026-11-20")
    # A program that is killed before its last step leaves a store with all shards, but not merged.
    manifest = nights.commands / "manifest"
    killed = nights.command(
        "killed",
        f'{nights.program} shard plan "${{@: -1}}" --shards 1 --output {manifest} &&\n'
        f'{nights.program} shard scan --manifest {manifest} --shard 0 --store "$2" && kill -9 $$',
    )
    cut_short = nights.night("2026-11-21", killed)
    assert cut_short.returncode == 3, cut_short
    assert nights.found() == ["2026-11-20", "2026-11-21.partial", "latest=2026-11-20"]
    assert not nights.is_complete("2026-11-21.partial")
    again = nights.night("2026-11-21")
    assert again.returncode == 0, again
    assert nights.found() == ["2026-11-20", "2026-11-21", "2026-11-21.md", "latest=2026-11-21"]
    assert nights.is_complete("2026-11-21")


def test_cut_short_and_left(nights: Nights) -> None:
    nights.night("2026-11-20")
    nights.night("2026-11-21", nights.command("fails", 'mkdir "$2"; exit 3'))
    assert nights.found() == ["2026-11-20", "2026-11-21.partial", "latest=2026-11-20"]
    nights.night("2026-11-22")
    assert nights.found() == ["2026-11-20", "2026-11-22", "2026-11-22.md", "latest=2026-11-22"]


def test_retention(nights: Nights) -> None:
    for day in range(17, 22):
        assert nights.night(f"2026-11-{day}", SFRAME_KEEP="2").returncode == 0
    assert nights.found() == ["2026-11-20", "2026-11-20.md", "2026-11-21", "2026-11-21.md", "latest=2026-11-21"]


def test_one_at_a_time(nights: Nights) -> None:
    nights.stores.mkdir()
    lock = os.open(nights.stores, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert nights.night("2026-11-21").returncode == 75
    os.close(lock)
    assert nights.night("2026-11-21").returncode == 0


@pytest.mark.parametrize("keep", ["0", "-1", "many"])
def test_wrong_usage(nights: Nights, keep: str) -> None:
    assert nights.night("2026-11-21", SFRAME_KEEP=keep).returncode == 64
    assert not nights.stores.exists()
