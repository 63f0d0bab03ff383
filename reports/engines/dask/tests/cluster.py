"""Dask clusters of real processes, started with the usual command lines, on loopback or in a separate network."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

# By default, Dask waits minutes before it considers a machine lost; here it waits seconds (for TCP, at least 11).
IMPATIENT = {
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "10s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
}

DEADLINE = 180.0


def wait_for(what: str, ready: Callable[[], bool], seconds: float = DEADLINE) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.05)


def processes_with(words: str) -> list[str]:
    """The command lines of living processes that contain these words."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if words in command and state != "Z":
            found.append(command)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Cluster:
    """A scheduler and workers with one thread each; `prefixes` are commands to start them with, the scheduler's first."""

    def __init__(
        self,
        folder: Path,
        hindrances: Path,
        workers: int = 3,
        nanny: bool = True,
        host: str = "127.0.0.1",
        prefixes: list[list[str]] | None = None,
    ) -> None:
        self.folder = folder
        self.environment = os.environ | IMPATIENT | {"HINDRANCES": str(hindrances)}
        self.host = host
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://{host}:{self.port}"
        self.prefixes = prefixes or [[]] * (workers + 1)
        self.nanny = "--nanny" if nanny else "--no-nanny"
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker(number) for number in range(1, workers + 1)]

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        options = ["--host", self.host, "--port", str(self.port), "--no-dashboard"]
        return self.start("scheduler", self.prefixes[0], ["scheduler", *options])

    def start_worker(self, number: int) -> subprocess.Popen[bytes]:
        scratch = self.folder / f"worker-{number}"
        options = ["--nthreads", "1", "--no-dashboard", self.nanny, "--local-directory", str(scratch), "--name", str(number)]
        return self.start(f"worker-{number}", self.prefixes[number], ["worker", self.address, *options])

    def start(self, name: str, prefix: list[str], arguments: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [*prefix, sys.executable, "-m", "dask", *arguments],
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()

    def restart(self) -> None:
        """Restarts the scheduler, and the workers, which have ended because they lost it, like a service manager."""
        self.scheduler = self.start_scheduler()
        for number, worker in enumerate(self.workers, start=1):
            worker.wait(DEADLINE)
            self.workers[number - 1] = self.start_worker(number)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in [*self.workers, self.scheduler]:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
