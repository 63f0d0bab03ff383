"""Failing machines and processes: every shard's result is stored exactly once, and no process is left running."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import network
import pytest
from cluster import DEADLINE, Cluster, alive, wait_for
from conftest import SHARDS, Run

ALL_DONE = f"{SHARDS} of {SHARDS} shards done"


def finish(driver: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = driver.communicate(timeout=DEADLINE)
    return driver.returncode, errors


def test_temporary_cluster(run: Run, expected: dict[str, bytes]) -> None:
    status, errors = finish(run.start("--workers", "2"))
    assert (status, errors.splitlines()[-1]) == (0, ALL_DONE), errors
    assert [run.attempts(shard) for shard in range(SHARDS)] == [1] * SHARDS
    run.assert_same(expected)
    run.assert_nothing_runs()


def test_worker_killed(run: Run, expected: dict[str, bytes]) -> None:
    run.hinder(4, "hold")
    with Cluster(run.folder, run.hindrances) as cluster:
        driver = run.start("--scheduler", cluster.address)
        worker, _, program = run.held(4)
        os.kill(worker, signal.SIGKILL)
        wait_for("the program dies with its worker", lambda: not alive(program), seconds=5)
        status, errors = finish(driver)
        assert (status, errors.splitlines()[-1]) == (0, ALL_DONE), errors
        assert run.attempts(4) == 2
        run.assert_same(expected)
        run.assert_nothing_runs()


def test_worker_frozen_writes_late(run: Run, expected: dict[str, bytes]) -> None:
    run.hinder(4, "hold")
    # A nanny would kill the frozen worker and its program. Without one, the program continues unnoticed.
    with Cluster(run.folder, run.hindrances, nanny=False) as cluster:
        driver = run.start("--scheduler", cluster.address)
        worker, _, program = run.held(4)
        os.kill(worker, signal.SIGSTOP)
        status, errors = finish(driver)
        assert (status, errors.splitlines()[-1]) == (0, ALL_DONE), errors
        assert run.attempts(4) == 2
        assert alive(program)
        run.release(4)
        wait_for("the late writer ends", lambda: not alive(program))
        run.assert_same(expected)
        os.kill(worker, signal.SIGCONT)
        run.assert_nothing_runs()
        run.assert_same(expected)


@pytest.mark.skipif(not network.available(), reason="needs network namespaces: root and iproute2")
def test_worker_disconnected(run: Run, expected: dict[str, bytes]) -> None:
    run.hinder(4, "hold")
    with network.Network(4) as net:
        prefixes = [net.prefix(machine) for machine in range(4)]
        with Cluster(run.folder, run.hindrances, host=net.address(0), prefixes=prefixes) as cluster:
            driver = run.start("--scheduler", cluster.address, prefix=net.prefix(0))
            worker, _, program = run.held(4)
            machine = next(number for number in (1, 2, 3) if runs_on(worker, net.names[number]))
            net.cut(machine)
            status, errors = finish(driver)
            assert (status, errors.splitlines()[-1]) == (0, ALL_DONE), errors
            assert run.attempts(4) == 2
            run.assert_same(expected)
            wait_for("the disconnected machine gives up by itself", lambda: not alive(program))
            run.assert_nothing_runs()
            net.join(machine)
            run.assert_same(expected)


def runs_on(pid: int, namespace: str) -> bool:
    named = Path("/run/netns") / namespace
    return named.stat().st_ino == Path(f"/proc/{pid}/ns/net").stat().st_ino


def test_scheduler_killed_and_restarted(run: Run, expected: dict[str, bytes]) -> None:
    run.hinder(4, "hold")
    with Cluster(run.folder, run.hindrances) as cluster:
        driver = run.start("--scheduler", cluster.address)
        _, _, program = run.held(4)
        cluster.kill_scheduler()
        wait_for("the program ends when its task is lost", lambda: not alive(program), seconds=10)
        cluster.restart()
        status, errors = finish(driver)
        assert (status, errors.splitlines()[-1]) == (0, ALL_DONE), errors
        assert run.attempts(4) == 2
        run.assert_same(expected)
        run.assert_nothing_runs()


def test_status_64_is_not_retried(run: Run, expected: dict[str, bytes]) -> None:
    run.hinder(5, 64, 64, 64)
    status, errors = finish(run.start("--workers", "2"))
    assert status == 64
    assert "shard 5: status 64: hindered: 64 for a test" in errors
    assert errors.endswith(f"1 of {SHARDS} shards not done: 5\n")
    assert run.attempts(5) == 1
    assert run.whole() == [shard for shard in range(SHARDS) if shard != 5]
    # The other shards are unaffected: after scanning the fifth, the store is complete.
    run.hinder(5)
    assert finish(run.start("--workers", "1"))[0] == 0
    run.assert_same(expected)
    run.assert_nothing_runs()


def test_status_75_is_retried(run: Run, expected: dict[str, bytes]) -> None:
    run.hinder(5, 75, 75)
    status, errors = finish(run.start("--workers", "2"))
    assert (status, errors.splitlines()[-1]) == (0, ALL_DONE), errors
    assert errors.count("shard 5: status 75: hindered: 75 for a test") == 2
    assert [run.attempts(shard) for shard in range(SHARDS)] == [3 if shard == 5 else 1 for shard in range(SHARDS)]
    run.assert_same(expected)
    run.assert_nothing_runs()


def test_retries_are_bounded(run: Run) -> None:
    run.hinder(5, 75, 75, 75, 75)
    status, errors = finish(run.start("--workers", "2", "--retries", "1"))
    assert (status, errors.splitlines()[-1]) == (75, f"sframe_dask: 1 of {SHARDS} shards not done: 5")
    assert run.attempts(5) == 2
    run.assert_nothing_runs()


@pytest.mark.parametrize("own_cluster", [True, False])
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_driver_is_killed(run: Run, expected: dict[str, bytes], signal_number: signal.Signals, own_cluster: bool) -> None:
    run.hinder(4, "hold")
    with Cluster(run.folder, run.hindrances, workers=0 if own_cluster else 2) as cluster:
        where = ["--workers", "2"] if own_cluster else ["--scheduler", cluster.address]
        driver = run.start(*where)
        _, _, program = run.held(4)
        if signal_number == signal.SIGINT:
            # Like a terminal: send it to all processes at once.
            os.killpg(driver.pid, signal_number)
        else:
            driver.send_signal(signal_number)
        status, errors = finish(driver)
        assert status == (-signal.SIGKILL if signal_number == signal.SIGKILL else 130), errors
        run.assert_nothing_runs()
        assert not alive(program)
        assert 4 not in run.whole()
        # Started again, the driver continues.
        assert finish(run.start(*where))[0] == 0
        assert run.attempts(4) == 2
        run.assert_same(expected)


def test_no_scheduler(run: Run) -> None:
    status, errors = finish(run.start("--scheduler", "tcp://127.0.0.1:1", "--patience", "1", "--retries", "0"))
    assert status == 75
    assert errors.startswith("sframe_dask: no scheduler for 1 s: "), errors


def test_no_workers(run: Run) -> None:
    with Cluster(run.folder, run.hindrances, workers=0) as cluster:
        status, errors = finish(run.start("--scheduler", cluster.address, "--patience", "1"))
    assert (status, errors.splitlines()[-1]) == (75, "sframe_dask: no worker for 1 s")


@pytest.mark.parametrize("options", [["--workers", "0"], ["--retries", "-1"], ["--unknown"], ["--manifest", "/dev/null"]])
def test_wrong_usage(run: Run, options: list[str]) -> None:
    assert finish(run.start(*options))[0] == 64
