"""Runs the shards of a manifest on a Dask cluster, then merges them.

The driver keeps no records of its own: it works in rounds, and before each asks `sframe-check shard status` what is left to
do. The program ensures that every result arrives exactly once: a shard has the same bytes wherever and however often it is
scanned, and is moved into the store by a rename. `../README.md` describes that contract.

Exit status: 0 merged; 1 merge refused; 64 wrong usage, bad manifest, or a shard that must not be tried again; 75 try again
later; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from distributed import Client, LocalCluster, Status, get_worker

DONE, REFUSED, NEVER_RETRY, RETRY, INTERRUPTED = 0, 1, 64, 75, 130

# Intervals in seconds: for a worker to check whether its shard is still wanted, for the driver to check for finished
# shards and for the number of workers, and the longest pause before another round.
WATCH, POLL, COUNT, LONGEST_PAUSE = 1.0, 0.1, 5.0, 60.0


class ShardFailed(Exception):
    """The process of a shard ended with `status`; `message` is the last line that it printed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message

    def __str__(self) -> str:
        return f"status {self.status}: {self.message}"


class Stop(Exception):
    """The run ends here, with this exit status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def scan_shard(command: list[str], shard: int) -> None:
    """Scans one shard on a worker, in a process that ends when the worker ends or the shard is no longer wanted.

    Raises `ShardFailed` if the process does not end with 0.
    """
    worker = get_worker()
    task = worker.state.tasks[worker.get_current_task()]
    with subprocess.Popen(
        [*command, "--shard", str(shard)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        while True:
            try:
                _, errors = process.communicate(timeout=WATCH)
                break
            except subprocess.TimeoutExpired:
                # Dask does not end running tasks. It marks a task as cancelled when the driver gives up or disappears.
                # A worker that closes because it lost its scheduler waits for the task.
                if task.state == "cancelled" or worker.status in (Status.closing, Status.closed):
                    process.kill()
    if process.returncode != DONE:
        raise ShardFailed(process.returncode, last_line(errors))


def last_line(output: bytes) -> str:
    return output.decode(errors="replace").strip().rpartition("\n")[2]


@dataclass(frozen=True)
class Program:
    """`sframe-check` with a manifest and a store."""

    path: str
    manifest: Path
    store: str

    def command(self, name: str, *options: str) -> list[str]:
        return [self.path, "shard", name, "--manifest", str(self.manifest), "--store", self.store, *options]

    def unfinished(self) -> tuple[list[int], int]:
        """The shards that are missing or damaged, and the number of all shards."""
        # Status 1 means that there are unfinished shards.
        report = json.loads(self.run("status", "--format", "json", also=1))
        return sorted([*report["missing"], *(shard["shard"] for shard in report["damaged"])]), report["shards"]

    def run(self, name: str, *options: str, also: int = DONE) -> bytes:
        """The output of the command, which must exit with 0 or `also`."""
        try:
            ended = subprocess.run(self.command(name, *options), stdin=subprocess.DEVNULL, capture_output=True)
        except OSError as error:
            raise Stop(NEVER_RETRY, f"{self.path}: {error.strerror}") from error
        if ended.returncode in (DONE, also):
            return ended.stdout
        known = ended.returncode in (REFUSED, NEVER_RETRY)
        raise Stop(ended.returncode if known else RETRY, f"{name}: {last_line(ended.stderr)}")


class Progress:
    """Shows finished shards, rate and remaining time: on a terminal in one line, otherwise in a new line every half minute."""

    def __init__(self, shards: int, left: int) -> None:
        self.shards = shards
        self.done = self.done_before = shards - left
        self.start = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.next = self.start

    def show(self, workers: int) -> None:
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + (1 if self.terminal else 30)
        line = f"{self.done} of {self.shards} shards done, workers: {workers}"
        rate = (self.done - self.done_before) / max(now - self.start, 1)
        if rate:
            line += f", {60 * rate:.1f} shards/min, {(self.shards - self.done) / rate / 60:.0f} min left"
        self.say(line, end="" if self.terminal else "\n")

    def say(self, line: str, end: str = "\n") -> None:
        print(f"\r\033[K{line}" if self.terminal else line, end=end, file=sys.stderr, flush=True)


@contextmanager
def connected(scheduler: str | None, workers: int, patience: float) -> Iterator[Client]:
    """A client of the scheduler at this address, or of a temporary cluster on this machine.

    Raises `Stop` if there is no scheduler for `patience` seconds.
    """
    if not scheduler:
        # The driver reports problems with shards itself.
        local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL)
        with local as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(scheduler, timeout=patience)
    except OSError as error:
        raise Stop(RETRY, f"no scheduler for {patience:.0f} s: {error}") from error
    with client:
        yield client


def run_round(client: Client, command: list[str], shards: list[int], patience: float, progress: Progress) -> set[int]:
    """Runs the shards once, and returns those that must not be tried again.

    Ends early if the scheduler is lost, because the tasks are lost with it. If a worker is lost, the scheduler gives its
    shard to another. Raises `Stop` if there is no worker for `patience` seconds.
    """
    futures = dict(zip(shards, client.map(partial(scan_shard, command), shards, pure=False), strict=True))
    never: set[int] = set()
    workers, count_next, seen = 0, 0.0, time.monotonic()
    while futures and client.status == "running":
        time.sleep(POLL)
        for shard in [shard for shard, future in futures.items() if future.done()]:
            # Dropping the future discards the result, so that it is not computed again if the worker that had it is
            # lost.
            future = futures.pop(shard)
            if future.status == "finished":
                progress.done += 1
            elif future.status == "error":
                error = future.exception()
                progress.say(f"shard {shard}: {error}")
                if getattr(error, "status", RETRY) == NEVER_RETRY:
                    never.add(shard)
        now = time.monotonic()
        if now >= count_next:
            with suppress(OSError):
                workers = len(client.nthreads())
            count_next = now + COUNT
        if workers:
            seen = now
        elif now - seen > patience:
            raise Stop(RETRY, f"no worker for {patience:.0f} s")
        progress.show(workers)
    return never


def scan(program: Program, options: argparse.Namespace) -> None:
    """Runs unfinished shards, in rounds with growing pauses, until all are complete; raises `Stop` after the last round."""
    never: set[int] = set()
    unfinished, shards = program.unfinished()
    progress = Progress(shards, len(unfinished))
    command = program.command("scan", "--die-with-parent", "--threads", str(options.threads), *options.options)
    for attempt in range(options.retries + 1):
        todo = [shard for shard in unfinished if shard not in never]
        if not todo:
            break
        if attempt:
            pause = min(2.0**attempt, LONGEST_PAUSE)
            progress.say(f"{len(todo)} of {shards} shards to try again in {pause:.0f} s")
            time.sleep(pause)
        with connected(options.scheduler, options.workers, options.patience) as client:
            never |= run_round(client, command, todo, options.patience, progress)
        unfinished, _ = program.unfinished()
        progress.done = shards - len(unfinished)
    if unfinished:
        numbers = ", ".join(map(str, unfinished[:10])) + (", ..." if len(unfinished) > 10 else "")
        raise Stop(NEVER_RETRY if never else RETRY, f"{len(unfinished)} of {shards} shards not done: {numbers}")
    progress.say(f"{shards} of {shards} shards done")


def place(store: str) -> str:
    """The absolute path of a folder; the address of a bucket is returned unchanged."""
    return store if store.startswith("s3://") else str(Path(store).resolve())


class Arguments(argparse.ArgumentParser):
    """A parser that exits with the same status for wrong usage as a shard does."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(NEVER_RETRY, f"{self.prog}: {message}\n")


def arguments() -> argparse.Namespace:
    parser = Arguments(prog="sframe_dask", description="Runs the shards of a manifest on a Dask cluster, then merges them.")
    parser.add_argument("--manifest", type=Path, required=True, help="the file written by `sframe-check shard plan`")
    parser.add_argument(
        "--store", type=place, required=True, help="a folder shared by all workers and this machine, or s3://BUCKET/NAME"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="address of a running cluster, such as tcp://host:8786")
    where.add_argument("--workers", type=int, default=1, metavar="N", help="workers of a cluster on this machine (default: 1)")
    parser.add_argument(
        "--program", default="sframe-check", metavar="PATH", help="program on all machines (default: %(default)s)"
    )
    parser.add_argument("--retries", type=int, default=5, metavar="N", help="number of further rounds (default: %(default)s)")
    parser.add_argument(
        "--patience",
        type=float,
        default=300,
        metavar="SECONDS",
        help="wait without scheduler or workers (default: %(default)s)",
    )
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of each shard (default: %(default)s)")
    parser.add_argument("options", nargs="*", metavar="OPTION", help="after --: options of scan, as for plan")
    options = parser.parse_args()
    if options.workers < 1 or options.retries < 0:
        parser.error("--workers must be at least 1, and --retries at least 0")
    return options


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    program = Program(options.program, options.manifest.resolve(), options.store)
    try:
        scan(program, options)
        program.run("merge")
    except Stop as stop:
        print(f"sframe_dask: {stop}", file=sys.stderr)
        return stop.status
    except KeyboardInterrupt:
        print("sframe_dask: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception:
        # Python would exit with 1, which means a refused merge.
        traceback.print_exc()
        return RETRY
    return DONE


if __name__ == "__main__":
    sys.exit(main())
