"""Children that are kept alive, with small programs in the place of servers."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from brigade import supervise
from brigade.supervise import Child, Keeper, Signals, last_lines, open_log, waiting_time


def program(tmp_path: Path, name: str, code: str, **more: float) -> Child:
    """A child that runs this Python code."""
    return Child(name, [sys.executable, "-c", code], tmp_path / f"{name}.log", os.environ, **more)  # type: ignore[arg-type]


def test_the_first_restart_is_at_once_and_later_ones_wait_longer() -> None:
    assert [waiting_time(deaths) for deaths in (1, 2, 3, 4)] == [0.0, 0.5, 1.0, 2.0]
    assert waiting_time(50) == waiting_time(5000) == supervise.LONGEST_WAIT


def test_what_ends_by_itself_is_started_again_with_its_last_words(tmp_path: Path) -> None:
    said: list[str] = []
    child = program(tmp_path, "short", "print('last words'); raise SystemExit(3)")
    with Signals() as signals:
        keeper = Keeper(signals, said.append)
        keeper.add(child)
        keeper.watch(until=lambda: child.deaths == 2, every=0.05)
        keeper.stop()
    assert said[:2] == ["short ended with code 3: starting it again", "  short: last words"]


def test_one_that_will_not_end_is_killed_when_its_time_is_over(tmp_path: Path) -> None:
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    child = program(tmp_path, "stubborn", stubborn, patience=0.2)
    with Signals() as signals:
        keeper = Keeper(signals, lambda line: None)
        keeper.add(child)
        keeper.watch(until=lambda: child.log.read_text() != "", every=0.02)
        began = time.monotonic()
        keeper.stop()
    assert child.process
    assert child.process.returncode == -signal.SIGKILL
    assert time.monotonic() - began < 5


def test_what_others_need_is_stopped_last(tmp_path: Path) -> None:
    code = "import signal, sys, time; signal.signal(15, lambda *_: (print(time.monotonic()), sys.exit())); "
    code += "print('up', flush=True); time.sleep(60)"
    needed, user = program(tmp_path, "needed", code, rank=0), program(tmp_path, "user", code, rank=1)
    with Signals() as signals:
        keeper = Keeper(signals, lambda line: None)
        for child in (needed, user):
            keeper.add(child)
        keeper.watch(until=lambda: all(last_lines(c.log) == ["up"] for c in (needed, user)), every=0.02)
        keeper.stop()
    assert float(last_lines(user.log)[-1]) < float(last_lines(needed.log)[-1])


def test_an_ending_signal_ends_the_watch_and_the_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Signals() as signals:
        keeper = Keeper(signals, lambda line: None)
        os.kill(os.getpid(), signal.SIGTERM)
        keeper.watch()
        assert keeper.ending
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_large_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "LARGEST_LOG", 3)
    log = tmp_path / "some.log"
    for text in (b"long enough\n", b"new\n"):
        with open_log(log) as stream:
            stream.write(text)
    assert log.read_bytes() == b"new\n"
    assert (tmp_path / "some.log.1").read_bytes() == b"long enough\n"
