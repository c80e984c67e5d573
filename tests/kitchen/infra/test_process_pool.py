"""Work in processes of its own: what is promised of the children, and of whoever sends it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

import pytest

from brigade.paths import base_dir
from kitchen.agents.make_situation import make_situation
from kitchen.infra import process_pool, process_pool_worker
from kitchen.infra.forked_process import ForkedProcess
from kitchen.infra.log_context import error_location, error_traceback
from kitchen.infra.process_pool import (
    BusyError,
    ChildDiedError,
    ChildLimits,
    ChildMemoryError,
    ChildTimeoutError,
    ProcessPool,
)
from kitchen.registry.agent_registry import decide_with_settings
from kitchen.registry.world_registry import get_world
from tests.kitchen.infra import pool_functions
from tests.servers import wait_until

SECONDS = 60
"""Longer than anything here takes."""


def one() -> int:
    return 1


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    """One child for all tests that leave it well."""
    made = ProcessPool(one)
    yield made
    end(made)


@pytest.fixture
def own() -> Iterator[Callable[..., ProcessPool]]:
    """Pools of a test's own."""
    made: list[ProcessPool] = []

    def make(processes: int = 1, **more: Any) -> ProcessPool:
        made.append(ProcessPool(lambda: processes, **more))
        return made[-1]

    yield make
    for each in made:
        end(each)


def end(pool: ProcessPool) -> None:
    """Its children have nothing to do any more; they end with this process, and one of them now."""
    with pytest.raises(ChildDiedError):
        pool.submit(pool_functions.end_at_once).result(SECONDS)


def test_a_planner_decides_there_as_here_and_needs_no_django(pool: ProcessPool) -> None:
    world = get_world("cuisine").create(seats=3, settings={"level": "level_3"})
    situation = make_situation(world, (1,), seed=4)
    assert pool.submit(decide_with_settings, "planner", {}, situation).result(
        SECONDS
    ) == decide_with_settings("planner", {}, situation)
    loaded = pool.submit(pool_functions.packages).result(SECONDS)
    assert "kitchen" in loaded
    assert loaded & {"django", "channels", "celery", "study", "brigade", "daphne"} == set()


def test_what_the_sender_runs_is_not_run_again(pool: ProcessPool) -> None:
    assert pool.submit(pool_functions.main_file).result(SECONDS) == process_pool_worker.__file__


def test_what_is_raised_there_is_raised_here_and_says_where(pool: ProcessPool) -> None:
    with pytest.raises(KeyError, match="sesame") as caught:
        pool.submit(pool_functions.fail, "sesame").result(SECONDS)
    line = pool_functions.fail.__code__.co_firstlineno + 2
    assert error_location(caught.value) == f"KeyError in pool_functions.py, line {line}"
    assert "in fail" in error_traceback(caught.value)
    assert "sesame" not in error_traceback(caught.value)


def test_what_cannot_be_sent_back_is_told_by_its_name(pool: ProcessPool) -> None:
    with pytest.raises(RuntimeError, match=r"^FussyError$") as caught:
        pool.submit(pool_functions.fail_fussily).result(SECONDS)
    assert error_location(caught.value).startswith("FussyError in pool_functions.py")


def test_what_cannot_be_sent_is_refused_at_once(pool: ProcessPool) -> None:
    with pytest.raises((AttributeError, TypeError)):
        pool.submit(str, threading.Lock())
    with pytest.raises((AttributeError, TypeError)):
        pool.submit(lambda: 1)


async def test_many_at_once_from_a_loop_each_get_their_own(pool: ProcessPool) -> None:
    calls = [asyncio.wrap_future(pool.submit(abs, -number)) for number in range(50)]
    assert await asyncio.gather(*calls) == list(range(50))


def test_a_thread_that_ends_takes_no_child_with_it(own: Callable[..., ProcessPool]) -> None:
    pool, found = own(), []
    thread = threading.Thread(target=lambda: found.append(pool.submit(os.getpid).result(SECONDS)))
    thread.start()
    thread.join()
    assert pool.submit(os.getpid).result(SECONDS) == found[0] != os.getpid()


def test_a_killed_child_fails_its_own_call_only(own: Callable[..., ProcessPool], tmp_path: Path) -> None:
    pool = own(2)
    other = pool.submit(pool_functions.wait_for, str(tmp_path / "go"))
    with pytest.raises(ChildDiedError, match="code -9"):
        pool.submit(pool_functions.end_at_once).result(SECONDS)
    assert pool.submit(abs, -1).result(SECONDS) == 1
    (tmp_path / "go").touch()
    assert other.result(SECONDS) != os.getpid()


def test_one_that_died_while_it_had_nothing_to_do_fails_no_call(own: Callable[..., ProcessPool]) -> None:
    pool = own()
    child = pool.submit(os.getpid).result(SECONDS)
    os.kill(child, signal.SIGKILL)
    wait_until(lambda: state(child) in "ZX", "the end of the child")
    assert pool.submit(os.getpid).result(SECONDS) != child


def test_signals_that_ask_a_whole_group_to_end_are_not_for_it(pool: ProcessPool) -> None:
    child = pool.submit(os.getpid).result(SECONDS)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(child, number)
    assert pool.submit(os.getpid).result(SECONDS) == child


def test_who_comes_when_too_many_wait_is_told_at_once(
    own: Callable[..., ProcessPool], tmp_path: Path
) -> None:
    pool, go = own(waiting=2), str(tmp_path / "go")
    running = pool.submit(pool_functions.wait_for, go)
    wait_until(running.running, "the first to be at work")
    waiting = [pool.submit(abs, -number) for number in (1, 2)]
    with pytest.raises(BusyError, match="2 calls wait already"):
        pool.submit(abs, -3)
    assert waiting.pop().cancel()
    Path(go).touch()
    assert running.result(SECONDS) and [each.result(SECONDS) for each in waiting] == [1]


def test_one_that_takes_too_long_is_ended(own: Callable[..., ProcessPool], tmp_path: Path) -> None:
    pool = own(limits=ChildLimits(0.5))
    with pytest.raises(ChildTimeoutError, match=r"no answer within 0\.5 s"):
        pool.submit(pool_functions.wait_for, str(tmp_path / "never")).result(SECONDS)
    pool.limits = ChildLimits(SECONDS)  # a new process may need longer than that on a busy machine
    assert pool.submit(abs, -1).result(SECONDS) == 1


def test_one_that_needs_too_much_memory_is_ended_and_the_next_has_a_new_child(
    own: Callable[..., ProcessPool],
) -> None:
    pool = own(limits=ChildLimits(SECONDS, memory=64 * 2**20, nice=3))
    child = pool.submit(os.getpid).result(SECONDS)
    with pytest.raises(ChildMemoryError, match="it needs more than 64 MiB"):
        pool.submit(bytes, 200 * 2**20).result(SECONDS)
    assert len(pool.submit(bytes, 2**20).result(SECONDS)) == 2**20
    assert pool.submit(os.getpid).result(SECONDS) != child
    assert pool.submit(os.nice, 0).result(SECONDS) == os.nice(0) + 3


def test_nothing_is_started_before_it_is_needed_and_all_of_it_to_be_ready(
    own: Callable[..., ProcessPool], tmp_path: Path
) -> None:
    pool = own(2)
    assert not pool._number
    pool.warm_up(partial(pool_functions.leave_a_mark, str(tmp_path)))
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2, "both")
    assert pool.submit(os.getpid).result(SECONDS) in {int(path.name) for path in tmp_path.iterdir()}


UNGUARDED = """
import sys, threading
from kitchen.infra import process_pool as apart
from tests.kitchen.infra import pool_functions

apart.warm_up(int)
thread = threading.Thread(target=apart.submit, args=(pool_functions.leave_a_mark, sys.argv[1]))
thread.start()
thread.join()
apart.submit(pool_functions.wait_for, sys.argv[1] + "/never")
apart.submit(pool_functions.wait_for, sys.argv[1] + "/never")
print("main", flush=True)
threading.Event().wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_the_children_die_with_their_parent_however_it_dies(tmp_path: Path, ending: signal.Signals) -> None:
    program, marks = tmp_path / "program.py", tmp_path / "marks"
    program.write_text(UNGUARDED)
    marks.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(base_dir()), "BRIGADE_PLANNERS": "2"}
    command = [sys.executable, str(program), str(marks)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout and parent.stdout.readline() == "main\n"
        wait_until(lambda: len(children_of(parent.pid)) == 2 and any(marks.iterdir()), "both children")
        children = children_of(parent.pid)
        parent.send_signal(ending)
        assert parent.wait(SECONDS) == -ending
        wait_until(lambda: all(state(child) in "ZX" for child in children), "the end of both", 10)
        assert parent.stdout.read() == ""


FORKING = """
import os
from kitchen.infra import process_pool as apart

child = apart.submit(os.getpid).result(60)
if os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
raise SystemExit(7 if apart.submit(os.getpid).result(60) not in {child, os.getpid()} else 1)
"""


def test_a_process_that_is_forked_off_has_children_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORKING], cwd=base_dir(), check=False, timeout=SECONDS)
    assert done.returncode == 7


FORKING_CHILDREN = """
import os
import wave
from kitchen.infra import process_pool as apart
from tests.kitchen.infra import pool_functions

own = os.open("/dev/null", os.O_RDONLY)
for _ in range(2):
    apart.fork_children()
(forked,) = pool_functions.children()
apart.warm_up(int)
print(apart.submit(os.getpid).result(60) == forked)
print("wave" in apart.submit(pool_functions.packages).result(60))
print(apart.submit(pool_functions.open_files).result(60))
try:
    apart.submit(pool_functions.end_at_once).result(60)
except apart.ChildDiedError:
    print(apart.submit(os.getpid).result(60) not in {forked, os.getpid()}, len(pool_functions.children()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks, and looks into /proc")
def test_children_forked_early_have_the_code_but_no_files_and_are_replaced_if_they_die() -> None:
    environment = {**os.environ, "BRIGADE_PLANNERS": "1"}
    command = [sys.executable, "-c", FORKING_CHILDREN]
    done = subprocess.run(
        command,
        cwd=base_dir(),
        env=environment,
        check=True,
        timeout=SECONDS,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.stdout.splitlines() == ["True", "True", "4", "True 1"]


def test_children_that_cannot_be_forked_are_started_when_they_are_needed(
    own: Callable[..., ProcessPool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    forked: list[int] = []

    def fork(*told: Any) -> Any:
        if forked:
            raise BlockingIOError("too many processes")
        child = process_pool._start_child(*told)
        forked.append(child.pid)
        return child

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(process_pool, "_fork_child", fork)
    pool = own(2)
    pool.fork_children()
    assert [line.message for line in caplog.records] == [
        "only 1 child processes could be forked: too many processes"
    ]
    pool.warm_up(partial(pool_functions.leave_a_mark, str(tmp_path)))
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2, "both")
    assert forked[0] in {int(path.name) for path in tmp_path.iterdir()}


def test_a_process_with_several_threads_forks_no_children_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(threading, "active_count", lambda: 3)
    monkeypatch.setattr(process_pool, "_fork_child", lambda *told: pytest.fail("it was forked"))
    ProcessPool(one).fork_children()
    assert "this process has 3 threads" in caplog.text


def test_the_error_that_ends_a_forked_child_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*told: Any) -> None:
        raise MemoryError("no memory for a child")

    def leave(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(process_pool_worker, "run_forked", fail)
    monkeypatch.setattr(os, "fork", lambda: 0)
    monkeypatch.setattr(os, "_exit", leave)
    line, other = Pipe()
    with line, other, pytest.raises(SystemExit, match="1"):
        process_pool._fork_child(line, ChildLimits())
    assert "no memory for a child" in capsys.readouterr().err


def test_a_process_whose_end_was_noticed_elsewhere_has_ended() -> None:
    process = ForkedProcess(os.getpid())  # no child of ours, as one whose end was noticed
    assert (process.poll(), process.wait(), process.poll()) == (0, 0, 0)
    process.kill()


def children_of(pid: int) -> list[int]:
    """Processes that this one started, from whichever thread."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def state(pid: int) -> str:
    """The letter that the system has for it; X where there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def test_something_to_load_is_sent_to_each_child_though_one_is_busy_and_may_take_longer_than_a_call(
    own: Callable[..., ProcessPool], tmp_path: Path
) -> None:
    pool = own(2, limits=ChildLimits(seconds=SECONDS))
    file = tmp_path / "now"
    busy = pool.submit(pool_functions.wait_for, str(file))
    loads = pool.submit_to_each(os.getpid)
    wait_until(lambda: any(load.done() for load in loads), "the idle child's load")
    file.touch()
    assert len({load.result(SECONDS) for load in loads}) == 2
    assert busy.result(SECONDS) in {load.result() for load in loads}
    late = ProcessPool(one, limits=ChildLimits(seconds=0.000_1))
    assert late.submit_to_each(os.getpid)[0].result(SECONDS) != os.getpid()
    with pytest.raises(ChildDiedError):
        late.submit_to_each(pool_functions.end_at_once)[0].result(SECONDS)
