"""Fixtures: the program, a corpus planned in shards, the store of a run without an engine, and the driver."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster import IMPATIENT, alive, processes_with, wait_for

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[3]
SHARDS = 8
# Copies of the golden corpus, so that a shard takes long enough to be stopped in the middle.
COPIES = int(os.environ.get("SFRAME_TEST_COPIES", "10"))


@pytest.fixture(scope="session")
def program() -> Path:
    """`$SFRAME_CHECK`, or the program built by `cargo build --release`."""
    path = Path(os.environ.get("SFRAME_CHECK", REPOSITORY / "target" / "release" / "sframe-check"))
    assert path.exists(), f"{path} is missing: cargo build --release -p sframe-check, or SFRAME_CHECK=PATH"
    return path.resolve()


@pytest.fixture(scope="session")
def manifest(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for copy in range(COPIES):
        shutil.copytree(REPOSITORY / "corpus" / "golden", folder / "inputs" / f"copy-{copy}")
    manifest = folder / "manifest"
    plan: list[str | Path] = [program, "shard", "plan", folder / "inputs", "--shards", str(SHARDS), "--output", manifest]
    subprocess.run(plan, check=True)
    return manifest


@pytest.fixture(scope="session")
def expected(program: Path, manifest: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The store of a run without an engine: a loop over the shards, then merge."""
    store = tmp_path_factory.mktemp("loop") / "store"
    for shard in range(SHARDS):
        subprocess.run([program, "shard", "scan", "--manifest", manifest, "--shard", str(shard), "--store", store], check=True)
    subprocess.run([program, "shard", "merge", "--manifest", manifest, "--store", store], check=True)
    return contents(store)


def contents(store: Path) -> dict[str, bytes]:
    """The results in a store. Names with a leading dot are temporary files; `work` has the journals of processes that died,
    or that were disconnected and ended late."""
    files = (path for path in store.rglob("*") if path.is_file() and not path.name.startswith("."))
    names = {str(path.relative_to(store)): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith("work/")}


@dataclass
class Run:
    """One run of the driver on hindered programs."""

    folder: Path
    program: Path
    manifest: Path

    def __post_init__(self) -> None:
        self.store = self.folder / "store"
        self.hindrances = self.folder / "hindrances"
        self.hindrances.mkdir()
        (self.hindrances / "program").symlink_to(self.program)

    def hinder(self, shard: int, *obstacles: int | str) -> None:
        (self.hindrances / f"{shard}.json").write_text(json.dumps(obstacles))

    def attempts(self, shard: int) -> int:
        return len(list(self.hindrances.glob(f"{shard}.attempt.*")))

    def held(self, shard: int) -> tuple[int, int, int]:
        """Waits until the shard is held. Returns the pids of the worker, the wrapper and the program."""
        path = self.hindrances / f"{shard}.held"
        wait_for(f"shard {shard} held", path.exists)
        worker, hindrance, program = json.loads(path.read_text())
        return worker, hindrance, program

    def release(self, shard: int) -> None:
        (self.hindrances / f"{shard}.release").touch()

    def start(self, *options: str, prefix: list[str] | None = None) -> subprocess.Popen[str]:
        inputs = ["--manifest", str(self.manifest), "--store", str(self.store), "--program", str(HERE / "hindered.py")]
        return subprocess.Popen(
            [*(prefix or []), sys.executable, str(HERE.parent / "sframe_dask.py"), *inputs, *options],
            env=os.environ | IMPATIENT | {"HINDRANCES": str(self.hindrances)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Background jobs ignore this signal, and so would everything that they start.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def whole(self) -> list[int]:
        """The finished shards, according to the program."""
        status: list[str | Path] = [
            self.program,
            "shard",
            "status",
            "--manifest",
            self.manifest,
            "--store",
            self.store,
            "--format",
            "json",
        ]
        report = json.loads(subprocess.run(status, capture_output=True).stdout)
        return list(report["whole"])

    def assert_same(self, expected: dict[str, bytes]) -> None:
        """Checks that the store equals that of a run without an engine."""
        found = contents(self.store)
        assert sorted(found) == sorted(expected)
        assert [name for name in expected if found[name] != expected[name]] == []

    def assert_nothing_runs(self) -> None:
        wait_for("no process works on the store", lambda: not processes_with(str(self.store)), seconds=10)


@pytest.fixture
def run(tmp_path: Path, program: Path, manifest: Path) -> Iterator[Run]:
    run = Run(tmp_path, program, manifest)
    yield run
    for path in run.hindrances.glob("*.held"):
        for pid in json.loads(path.read_text())[1:]:
            if alive(pid) and processes_with(str(run.store)):
                os.kill(pid, signal.SIGKILL)
