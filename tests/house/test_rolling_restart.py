"""Programs are exchanged one after the other, and never is there one less."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Timer

import pytest
import pytest_asyncio

from brigade import listen_address
from brigade import process_supervisor as module
from brigade.app_processes import children_environment, staff_process, web_processes
from brigade.listen_address import RunError, listening_socket, socket_address
from brigade.process_startup import report_ready
from brigade.process_supervisor import ChildProcess, ProcessGroup
from brigade.restart import RestartRecord, wait_for_restart
from brigade.server_limits import MOST_WEB_MEMORY
from kitchen.infra.os_processes import own_memory
from tests.servers import wait_until

WORKS = "from brigade.process_startup import report_ready; import time; report_ready(); time.sleep(60)"
IDLES = "import time; time.sleep(60)"


class Hired:
    """A crew, what it said, and children for it."""

    def __init__(self, group: asyncio.TaskGroup, folder: Path) -> None:
        self.lines: list[str] = []
        self.crew = ProcessGroup(group, self.lines.append)
        self.folder = folder

    def keep(self, name: str, program: str) -> ChildProcess:
        """One more, which is running."""
        child = ChildProcess(name, [sys.executable, "-c", program], self.folder / f"{name}.log", os.environ)
        self.crew.keep(child)
        return child


@pytest_asyncio.fixture
async def hired(tmp_path: Path) -> AsyncIterator[Hired]:
    """One whose programs end with the test."""
    async with asyncio.TaskGroup() as group:
        crew = Hired(group, tmp_path)
        yield crew
        for _, task in crew.crew._kept.values():
            task.cancel()


async def test_a_new_one_works_before_the_old_one_is_asked_to_end(hired: Hired) -> None:
    old = [hired.keep(name, WORKS) for name in ("one", "two")]
    await asyncio.sleep(0)
    assert await hired.crew.exchange()
    new = [child for child, _ in hired.crew._kept.values()]
    assert [child.running for child in old] == [False, False]
    assert [(child.name, child.running) for child in new] == [("one", True), ("two", True)]
    assert hired.lines == ["one: a new one has taken over", "two: a new one has taken over"]


async def test_where_no_new_one_comes_up_the_old_ones_go_on(
    hired: Hired, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "START_SECONDS", 0.2)
    old = [hired.keep(name, IDLES) for name in ("one", "two")]
    await asyncio.sleep(0)
    assert not await hired.crew.exchange()
    assert all(child.running for child in old)
    assert [child for child, _ in hired.crew._kept.values()] == old
    (line,) = hired.lines
    assert line.startswith("one: no new one comes up")


LARGE = f"held = b'x' * 50_000_000; {WORKS}"


async def test_a_program_with_too_much_memory_is_replaced_and_then_rests(hired: Hired) -> None:
    large, small = hired.keep("large", LARGE), hired.keep("small", WORKS)
    large.most_memory = small.most_memory = 40_000_000
    await asyncio.sleep(0)
    assert large.process
    wait_until(lambda: own_memory(large.process.pid) > 50_000_000, "its memory")  # type: ignore[union-attr]
    await hired.crew.replace_large()
    await hired.crew.replace_large()  # the new one is as large, and stays
    assert (large.running, small.running) == (False, True)
    new, _ = hired.crew._kept["large"]
    assert new.running
    replacing, taken_over = hired.lines
    assert replacing.startswith("large: replacing it, because it uses ")
    assert taken_over == "large: a new one has taken over"


async def test_a_program_that_was_replaced_meanwhile_is_not_replaced_for_the_memory_of_the_old_one(
    hired: Hired, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = hired.keep("large", WORKS)
    large.most_memory = 1000
    await asyncio.sleep(0)
    assert large.process
    old = large.process.pid
    monkeypatch.setattr(module, "own_memory", lambda pid: 2000 if pid == old else 500)
    async with hired.crew._exchanging:
        looking = asyncio.create_task(hired.crew.replace_large())
        await asyncio.sleep(0)
        assert await hired.crew._exchange_one("large")
    await looking
    assert hired.lines == ["large: a new one has taken over"]


async def test_the_memory_watcher_goes_on_where_no_new_one_can_be_started(
    hired: Hired, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: str) -> None:
        raise OSError("No space left on device")

    large = hired.keep("large", WORKS)
    large.most_memory = 1000
    await asyncio.sleep(0)
    monkeypatch.setattr(module, "own_memory", lambda _pid: 2**21)
    monkeypatch.setattr(module, "MEMORY_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    watching = asyncio.create_task(hired.crew.watch_memory())
    for _ in range(20):
        await asyncio.sleep(0)
    assert not watching.done()
    watching.cancel()
    assert not await hired.crew.exchange(), "a restart goes on, too"
    assert large.running
    replacing, *refused = hired.lines
    assert replacing == "large: replacing it, because it uses 2 MB of memory"
    assert set(refused) == {"large: no new one can be started: No space left on device; the old one stays"}


def test_all_that_answers_http_has_a_limit_of_memory() -> None:
    web, staff = web_processes({}, 3, 1)[0], staff_process({}, 3)
    assert web.most_memory == staff.most_memory == MOST_WEB_MEMORY
    assert 0 < own_memory(os.getpid()) < 10 * MOST_WEB_MEMORY


def test_a_program_that_nobody_listens_to_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere/notify")
    report_ready()


# As systemd starts it


def test_the_socket_of_systemd_is_used_and_its_variables_reach_no_other_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        monkeypatch.setattr(listen_address, "FIRST_PASSED", os.dup(held.fileno()))
        for name in listen_address.SYSTEMD_VARIABLES:
            monkeypatch.setenv(name, str(os.getpid()))
        monkeypatch.setenv("LISTEN_FDS", "1")
        with listening_socket() as listener:
            assert listener.getsockname() == held.getsockname()
            assert not listener.get_inheritable()
            children = children_environment(socket_address(listener))
    assert not children.keys() & set(listen_address.SYSTEMD_VARIABLES)


def test_a_unix_socket_of_systemd_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as held:
        held.bind(str(tmp_path / "socket"))
        monkeypatch.setattr(listen_address, "FIRST_PASSED", os.dup(held.fileno()))
        monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
        monkeypatch.setenv("LISTEN_FDS", "1")
        with pytest.raises(RunError, match="has no IP address"):
            listening_socket()


def test_a_second_socket_of_systemd_is_refused_since_nobody_would_answer_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    monkeypatch.setenv("LISTEN_FDS", "2")
    with pytest.raises(RunError, match=r"brigade\.socket passes 2 sockets"):
        listening_socket()


def test_variables_of_another_process_pass_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LISTEN_PID", "1")
    monkeypatch.setenv("BRIGADE_PORT", "0")
    with listening_socket() as listener:
        assert listener.getsockname()[1] > 0


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RestartRecord:
    """Return the restart record of a runner in this process. It is in an empty folder."""
    monkeypatch.setenv("BRIGADE_VAR", str(tmp_path))
    return RestartRecord()


@pytest.mark.parametrize("succeeded", [True, False])
def test_a_wait_ends_with_a_restart_that_began_after_the_request(
    record: RestartRecord, succeeded: bool
) -> None:
    record.begin()  # another one, which does not have the newest code
    before = RestartRecord.read(os.getpid())

    def end_both() -> None:
        record.end(True)
        record.begin()
        record.end(succeeded)

    ending = Timer(0.05, end_both)
    ending.start()
    assert wait_for_restart(os.getpid(), before) is succeeded
    ending.join()


def test_the_record_of_an_earlier_instance_does_not_count(record: RestartRecord) -> None:
    record.begin()
    record.end(True)
    assert RestartRecord.read(os.getpid() + 1) == RestartRecord()


def test_an_instance_with_the_process_id_of_an_earlier_one_begins_to_count_anew(
    record: RestartRecord,
) -> None:
    """As in a container, where it is always the same. A wait would not end with the first restart."""
    for _ in range(3):
        record.begin()
        record.end(True)
    started = RestartRecord.begin_instance()
    before = RestartRecord.read(os.getpid())
    assert before == RestartRecord()
    started.begin()
    started.end(True)
    assert wait_for_restart(os.getpid(), before)


def test_a_wait_ends_with_the_instance(record: RestartRecord) -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    with pytest.raises(ProcessLookupError):
        wait_for_restart(ended.pid, RestartRecord.read(ended.pid))
