"""Programs that are forked, by a fork server that loads nothing."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from brigade import fork_server
from brigade.fork_server import ForkServer
from brigade.process_supervisor import ChildProcess, last_lines
from tests.servers import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt others")

NOTHING_LOADED = "from brigade import fork_server as own; own.load_app = lambda: None; own.main()"
WAITS = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "0"]
FAILS, FAILED = [sys.executable, "-m", "json.tool", "/nowhere"], 2


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ForkServer]:
    """A fork server that is ready."""
    command = [sys.executable, "-c", NOTHING_LOADED]
    found = ForkServer("fork-server", command, tmp_path / "fork-server.log", dict(os.environ))
    found.start()
    wait_until(found.is_ready, "the fork server")
    yield found
    found.close()


def program(server: ForkServer, command: list[str]) -> ChildProcess:
    """A program that this server forks."""
    log = server.log.with_name("program.log")
    return ChildProcess("program", command, log, server.environment, forked_by=server.fork)


def name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def test_a_forked_program_has_its_name_its_log_and_its_exit_code(server: ForkServer) -> None:
    failing = program(server, FAILS)
    failing.log.write_text("words of an earlier start\n")
    process = failing.start()
    assert process.wait(60) == process.poll() == FAILED
    words = "\n".join(last_lines(failing.log, 100, since=failing.log_start))
    assert "/nowhere" in words and "earlier" not in words
    waiting = program(server, WAITS)
    pid = waiting.start().pid
    wait_until(lambda: name_of(pid) == "program", "its name")
    assert waiting.running
    waiting.tell(signal.SIGTERM)  # which is sent to its process group
    assert process_end(waiting) == -signal.SIGTERM


def process_end(child: ChildProcess) -> int:
    assert child.process
    return child.process.wait(60)


def test_what_the_server_logged_before_this_start_is_left_out(server: ForkServer) -> None:
    server.close()
    server.log.write_text("words of an earlier start\n")
    server.start()
    assert last_lines(server.log, since=server.log_start) == []


def test_programs_survive_the_server_and_new_ones_start_without_it(server: ForkServer) -> None:
    forked, other = program(server, WAITS), program(server, WAITS)
    pid = forked.start().pid
    wait_until(lambda: name_of(pid) == "program", "its program")
    os.kill(server.start().pid, signal.SIGKILL)
    assert name_of(other.start().pid) != "program"  # started as `python -m …`
    assert forked.running
    assert not server.is_ready()
    for child in (forked, other):
        child.tell(signal.SIGKILL)
        process_end(child)


def test_a_program_that_the_supervisor_does_not_know_never_runs(
    server: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the server is too slow, and its answer comes when the program was started without it."""
    monkeypatch.setattr(fork_server, "GO", b"never\n")
    forked = server.fork(program(server, WAITS))
    assert forked and forked.wait(60) == 0
    assert not server.log.with_name("program.log").exists()


def test_it_loads_new_code_after_it_was_let_end(server: ForkServer) -> None:
    old = server.start()
    server.let_end()
    assert old.wait(60) == 0
    assert server.start().pid != old.pid
    wait_until(server.is_ready, "the new process")
    assert process_end(started(program(server, FAILS))) == FAILED


def test_it_ends_well_if_nobody_has_read_that_it_is_ready(tmp_path: Path) -> None:
    command = [sys.executable, "-c", NOTHING_LOADED]
    server = ForkServer("fork-server", command, tmp_path / "fork-server.log", dict(os.environ))
    process = server.start()
    line = server.line
    assert line
    wait_until(lambda: bool(select.select([line], [], [], 0)[0]), "its message")
    server.let_end()
    assert process.wait(60) == 0


def started(child: ChildProcess) -> ChildProcess:
    child.start()
    return child


def test_a_program_with_other_settings_is_not_forked(server: ForkServer) -> None:
    ours = server.environment
    child = program(server, WAITS)
    assert server.fork(replace(child, environment={**ours, "BRIGADE_VAR": "/elsewhere"})) is None
    own = {**ours, "BRIGADE_TICKERS": "1", "NOTIFY_SOCKET": "/nowhere"}
    process = server.fork(replace(child, environment=own))
    assert process
    assert (
        b"BRIGADE_TICKERS=1" not in Path(f"/proc/{process.pid}/environ").read_bytes()
    )  # as it was at its exec
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
