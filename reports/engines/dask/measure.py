"""Measures the cost of the engine: scans the shards of a manifest in a plain loop, and with the driver and several numbers
of workers.

    python measure.py --program target/release/sframe-check --shards 64 --workers 1 2 4 -- INPUT...

Prints a table of wall and processor seconds (user and system, of all processes), and the additional cost of a shard compared
with the loop, in processor milliseconds. The cost of starting and ending an engine is excluded, and has a row of its own,
measured with one shard of one small file. All values are medians of `--times` runs. Exits with 1 if a store differs from the
loop's.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

DRIVER = Path(__file__).with_name("sframe_dask.py")


@dataclass(frozen=True)
class Cost:
    """Wall and processor time in seconds."""

    wall: float
    processor: float


@dataclass(frozen=True)
class Scan:
    """A manifest, and the folder for its stores."""

    program: str
    manifest: Path
    shards: int
    folder: Path

    def loop(self, store: Path) -> None:
        """Scans one shard after the other, like a shell script, each with one thread, like the driver."""
        where = ["--manifest", str(self.manifest), "--store", str(store)]
        for shard in range(self.shards):
            quiet([self.program, "shard", "scan", *where, "--shard", str(shard), "--threads", "1"])
        quiet([self.program, "shard", "merge", *where])

    def engine(self, workers: int, store: Path) -> None:
        """Runs the driver with a cluster on this machine."""
        where = ["--manifest", str(self.manifest), "--store", str(store)]
        quiet([sys.executable, str(DRIVER), *where, "--program", self.program, "--workers", str(workers)])


def quiet(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def planned(program: str, inputs: list[str], shards: int, folder: Path) -> Scan:
    folder.mkdir()
    manifest = folder / "manifest"
    quiet([program, "shard", "plan", *inputs, "--shards", str(shards), "--output", str(manifest)])
    return Scan(program, manifest, shards, folder)


def cost(work: Callable[[], None]) -> Cost:
    def processor() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    wall_before, processor_before = time.monotonic(), processor()
    work()
    return Cost(time.monotonic() - wall_before, processor() - processor_before)


def median(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(each.wall for each in costs), statistics.median(each.processor for each in costs))


def contents(store: Path) -> dict[Path, bytes]:
    """The result files of a store; names with a leading dot are not results."""
    files = (path for path in store.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(store): path.read_bytes() for path in files}


def measure(scan: Scan, workers: list[int], times: int) -> tuple[Cost, dict[int, Cost], bool]:
    """The cost of the loop, that of the engine by number of workers, and whether all stores are equal. Runs are interleaved."""
    loops: list[Cost] = []
    engines: dict[int, list[Cost]] = {number: [] for number in workers}
    same = True
    for turn in range(times):
        expected = scan.folder / f"loop-{turn}"
        loops.append(cost(partial(scan.loop, expected)))
        for number in workers:
            store = scan.folder / f"engine-{number}-{turn}"
            engines[number].append(cost(partial(scan.engine, number, store)))
            same &= contents(store) == contents(expected)
    return median(loops), {number: median(costs) for number, costs in engines.items()}, same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="sframe-check")
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("inputs", nargs="+", metavar="INPUT")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        small = planned(options.program, [str(DRIVER)], 1, folder / "small")
        small_loop, start, same_small = measure(small, options.workers, options.times)
        scan = planned(options.program, options.inputs, options.shards, folder / "scan")
        loop, engines, same = measure(scan, options.workers, options.times)
    print("| | wall s | processor s | more a shard, processor ms |")
    print("|---|---|---|---|")
    print(f"| loop, {options.shards} shards | {loop.wall:.2f} | {loop.processor:.2f} | |")
    for number, engine in engines.items():
        starting = start[number].processor - small_loop.processor
        more = 1000 * (engine.processor - loop.processor - starting) / options.shards
        print(f"| engine, workers: {number} | {engine.wall:.2f} | {engine.processor:.2f} | {more:.1f} |")
        print(f"| of it starting and ending | {start[number].wall - small_loop.wall:.2f} | {starting:.2f} | |")
    print("All stores are the same." if same and same_small else "Stores differ.")
    return 0 if same and same_small else 1


if __name__ == "__main__":
    sys.exit(main())
