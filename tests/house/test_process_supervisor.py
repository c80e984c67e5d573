"""Children that are kept alive, with small programs in the place of servers."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from brigade import process_supervisor
from brigade.paths import base_dir
from brigade.process_supervisor import (
    ChildProcess,
    keep_running,
    last_lines,
    open_log,
    restart_delay,
    run_once,
)


def program(tmp_path: Path, name: str, code: str, **more: float) -> ChildProcess:
    """A child that runs this Python code."""
    return ChildProcess(name, [sys.executable, "-c", code], tmp_path / f"{name}.log", os.environ, **more)  # type: ignore[arg-type]


@asynccontextmanager
async def kept(child: ChildProcess, said: list[str]) -> AsyncIterator[None]:
    """Has the child kept alive for a while; it has ended then."""
    keeping = asyncio.create_task(keep_running(child, said.append))
    yield
    keeping.cancel()
    await asyncio.wait([keeping])
    assert not child.running


async def until(true: Callable[[], bool]) -> None:
    """Come back when it is so."""
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.02)


def test_the_first_restart_is_at_once_and_later_ones_wait_longer() -> None:
    assert [restart_delay(deaths) for deaths in (1, 2, 3, 4)] == [0.0, 0.5, 1.0, 2.0]
    assert restart_delay(50) == restart_delay(5000) == process_supervisor.LONGEST_WAIT


async def test_what_ends_by_itself_is_started_again_with_its_last_words(tmp_path: Path) -> None:
    said: list[str] = []
    child = program(tmp_path, "short", "print('last words'); raise SystemExit(3)")
    async with kept(child, said):
        await until(lambda: child.deaths == 2)
    assert said[:2] == ["short ended with code 3: starting it again", "  short: last words"]
    assert said[2] == "short ended with code 3: starting it again in 0.5 s"


ORPHANS = """
import os
from brigade import process_supervisor as own
others, ours = (os.spawnlp(os.P_NOWAIT, "true", "true") for _ in range(2))
for pid in (others, ours):
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
own._STARTED.add(ours)
for _ in range(3):
    own.collect_ended_orphans()
print(os.waitpid(ours, 0) == (ours, 0))
own.collect_ended_orphans()
try:
    os.waitpid(others, 0)
except ChildProcessError:
    print("collected")
"""


def test_ended_processes_of_killed_programs_are_collected() -> None:
    """A process whose exit code somebody waits for stays until they have it."""
    done = subprocess.run(
        [sys.executable, "-c", ORPHANS], capture_output=True, text=True, check=True, cwd=base_dir()
    )
    assert done.stdout.split() == ["True", "collected"]


async def test_one_that_is_killed_again_and_again_is_soon_there_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert process_supervisor.KILLED_WAIT <= 1
    monkeypatch.setattr(process_supervisor, "KILLED_WAIT", 0.05)
    said: list[str] = []
    child = program(tmp_path, "victim", "import time; print(1, flush=True); time.sleep(60)")
    async with kept(child, said):
        while len(said) < 3:
            child.tell(signal.SIGKILL)
            await asyncio.sleep(0.01)
    assert set(said) == {"victim was killed by SIGKILL: starting it again in 0.05 s"}
    assert child.deaths == 0, "none of its own"


def test_a_kill_is_somebody_elses_and_a_crash_is_not() -> None:
    assert process_supervisor.was_killed(-signal.SIGKILL)
    assert not any(
        process_supervisor.was_killed(code) for code in (0, 1, 9, -signal.SIGSEGV, -signal.SIGABRT)
    )


async def test_one_that_ran_well_for_a_while_is_started_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_supervisor, "STEADY", 0.0)
    said: list[str] = []
    child = program(tmp_path, "steady", "")
    async with kept(child, said):
        await until(lambda: len(said) >= 3)
    assert set(said) == {"steady ended with code 0: starting it again"}


async def test_however_many_live_the_end_of_each_is_heard_of(tmp_path: Path) -> None:
    """More than the threads that asyncio has, which on two cores are as many as `make run` has programs."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    lasting = [program(tmp_path, f"lasting-{number}", "import time; time.sleep(60)") for number in range(3)]
    async with AsyncExitStack() as all_of_them, asyncio.timeout(10):
        for child in lasting:
            await all_of_them.enter_async_context(kept(child, []))
        await until(lambda: all(child.running for child in lasting))
        assert await run_once(program(tmp_path, "short", "raise SystemExit(3)")) == 3


STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"


async def test_one_that_will_not_end_is_killed_when_its_time_is_over(tmp_path: Path) -> None:
    child = program(tmp_path, "stubborn", STUBBORN, seconds_to_end=0.2)
    async with kept(child, []):
        await until(lambda: last_lines(child.log) != [])
        began = time.monotonic()
    assert child.process
    assert child.process.returncode == -signal.SIGKILL
    assert time.monotonic() - began < 15


async def test_after_ctrl_c_no_program_has_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that was asked to end before, while another took over."""
    monkeypatch.setattr(process_supervisor, "INTERRUPT_SECONDS", 0.2)
    child = program(tmp_path, "stubborn", STUBBORN, seconds_to_end=50)
    child.interrupted = asyncio.Event()
    running = asyncio.create_task(run_once(child))
    await until(lambda: last_lines(child.log) != [])
    running.cancel()
    await asyncio.wait([running], timeout=0.3)
    assert child.running
    child.interrupted.set()
    running.cancel()
    async with asyncio.timeout(15):
        await asyncio.wait([running])
    assert running.cancelled()
    assert child.process
    assert child.process.returncode == -signal.SIGKILL


async def test_one_that_ends_when_it_is_asked_to_is_not_killed(tmp_path: Path) -> None:
    child = program(tmp_path, "willing", "import time; print(1, flush=True); time.sleep(60)")
    async with kept(child, []):
        await until(lambda: last_lines(child.log) != [])
    assert child.process
    assert child.process.returncode == -signal.SIGTERM


async def test_what_is_heard_prints_where_we_do_and_complains_to_its_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    child = program(tmp_path, "told", "import sys; print('word'); sys.exit('complaint')", prints_output=True)
    assert await run_once(child) == 1
    assert capfd.readouterr().out == "word\n"
    assert last_lines(child.log) == ["complaint"]


@pytest.mark.parametrize("words", ["", "new words"])
async def test_only_words_since_this_start_are_said(tmp_path: Path, words: str) -> None:
    child = program(tmp_path, "fails", f"print({words!r}); raise SystemExit(3)")
    child.log.write_text("Traceback of an earlier start\n")
    said: list[str] = []
    async with kept(child, said):
        await until(lambda: child.deaths == 2)
    assert {line for line in said if line.startswith("  ")} == ({f"  fails: {words}"} if words else set())


async def test_one_that_cannot_be_started_is_no_secret(tmp_path: Path) -> None:
    child = ChildProcess("none", [str(tmp_path / "none")], tmp_path / "none.log", os.environ)
    with pytest.raises(FileNotFoundError):
        await keep_running(child, print)


def test_a_large_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_supervisor, "LARGEST_LOG", 3)
    log = tmp_path / "some.log"
    for text in (b"long enough\n", b"new\n"):
        with open_log(log) as stream:
            stream.write(text)
    assert log.read_bytes() == b"new\n"
    assert (tmp_path / "some.log.1").read_bytes() == b"long enough\n"
