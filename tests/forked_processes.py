"""Run tests in several processes that are forked after collection: `pytest -p tests.forked_processes
--processes 3`.

This pytest plugin imports all tests once. pytest-xdist imports them in each process, which takes longer than
running most test files. A process runs one whole test file after another, and the parent reports the results.
Few processes start the app and the browser of session fixtures.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from itertools import chain, groupby, pairwise
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

import pytest
from _pytest.junitxml import xml_key

from kitchen.infra.os_processes import parent_death_hook

Turn = tuple[pytest.Item, pytest.Item | None]
"""A test, and the one that follows it."""
Message = list[dict[str, Any]] | str
"""The serialized reports of one test, or the traceback with which a process ended."""
PROGRAMS = {"stack", "running_browser"}
"""Fixtures that start the whole app, and a browser, once for each process that uses them."""
SHARE = 3
"""One process in this many runs files that start programs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--processes`."""
    parser.addoption("--processes", type=int, default=0, help="fork so many processes after collection")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the collected tests in forked processes if `--processes` is given."""
    count = session.config.getoption("processes")
    if not count or session.testsfailed or session.config.option.collectonly:
        return None  # pytest's own loop
    processes = Processes(session)
    try:
        processes.start(count)
        processes.report()
    finally:
        processes.end()
    return True


class Processes:
    """The forked processes of one run."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._files = [list(items) for _, items in groupby(session.items, lambda item: item.path)]
        self._started: dict[Connection, int] = {}
        self._unfinished = {item.nodeid: item for item in session.items}

    def start(self, count: int) -> None:
        """Fork the processes. They read the numbers of test files from pipes. Only a few processes run files
        that start programs, and these files come first."""
        parent, programs, others = os.getpid(), os.pipe(), os.pipe()
        for number, items in enumerate(self._files):
            os.write((programs if needs_programs(items) else others)[1], number.to_bytes(2))
        os.close(programs[1])
        os.close(others[1])
        folder = self._session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        for number in range(count):
            mine = (programs[0], others[0]) if number % SHARE == 0 else (others[0],)
            reader, writer = Pipe(duplex=False)
            if (pid := os.fork()) == 0:
                parent_death_hook(parent)()
                run_files(self._session, self._taken(mine), writer, folder / f"process-{number}")
            writer.close()
            self._started[reader] = pid
        os.close(programs[0])
        os.close(others[0])

    def _taken(self, pipes: tuple[int, ...]) -> Iterator[Turn]:
        """Claim one test file after another that no other process has claimed, and yield its tests, each with
        the next one. After the last file that starts programs, None follows, so that the app and the browser
        end: they use processor time while they wait."""
        starts = {items[0].path for items in self._files if needs_programs(items)}
        for item, following in pairwise(chain(taken(pipes, self._files), [None])):
            assert item
            are_last = following and item.path in starts and following.path not in starts
            yield item, None if are_last else following

    def report(self) -> None:
        """Forward the processes' reports until all of them have ended. A test that did not finish has
        failed."""
        readers = set(self._started)
        while readers:
            for reader in wait(list(readers)):
                assert isinstance(reader, Connection)
                try:
                    self._receive(reader.recv())
                except EOFError:
                    readers.remove(reader)
                    reader.close()
        for item in self._unfinished.values():
            self._log(lost(item))

    def _receive(self, message: Message) -> None:
        """Handle one message of a process."""
        config = self._session.config
        if isinstance(message, str):
            print(message, flush=True)
            return
        for plain in message:
            report = config.hook.pytest_report_from_serializable(config=config, data=plain)
            if report.when == "teardown":
                self._unfinished.pop(report.nodeid, None)
            self._log(report)

    def _log(self, report: pytest.TestReport) -> None:
        self._session.config.hook.pytest_runtest_logreport(report=report)
        if self._session.shouldfail:  # `--maxfail`
            raise self._session.Failed(self._session.shouldfail)

    def end(self) -> None:
        """Wait until all processes have ended. Kill those that still run, because nobody reads their
        reports."""
        for reader, pid in self._started.items():
            if not reader.closed:
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def needs_programs(items: list[pytest.Item]) -> bool:
    """Return whether tests of a file use the whole app or a browser."""
    return any(PROGRAMS & set(getattr(item, "fixturenames", ())) for item in items)


def taken(pipes: tuple[int, ...], files: list[list[pytest.Item]]) -> Iterator[pytest.Item]:
    """Claim one test file after another that no other process has claimed, and yield its tests."""
    for pipe in pipes:
        while number := os.read(pipe, 2):
            yield from files[int.from_bytes(number)]


def lost(item: pytest.Item) -> pytest.TestReport:
    """Return the report of a test whose process ended before the test did."""
    why = f"{item.nodeid}: its process ended before it did"
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")


def run_files(session: pytest.Session, turns: Iterator[Turn], writer: Connection, folder: Path) -> None:
    """Run these tests in this process, and then end it."""
    try:
        become_own(session.config, writer, folder)
        for item, following in turns:
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    except BaseException:
        writer.send(traceback.format_exc())
    finally:
        os._exit(0)


def become_own(config: pytest.Config, writer: Connection, folder: Path) -> None:
    """Give this process its own folder and its own captured output. Let it report to `writer` only, not to
    the terminal or a JUnit file."""
    folder.mkdir()
    config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
    capture, terminal = (
        config.pluginmanager.getplugin(name) for name in ("capturemanager", "terminalreporter")
    )
    assert capture and terminal
    capture.stop_global_capturing()  # its files are shared with the other processes
    capture.start_global_capturing()
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler):  # it wrote to what is captured no more
            handler.stream = sys.stderr
    terminal._tw._file = Path(os.devnull).open("w")  # noqa: SIM115 - until this process ends
    for plugin in (terminal, config.stash.get(xml_key, None)):
        if plugin is not None:
            config.pluginmanager.unregister(plugin)
    config.pluginmanager.register(Reporter(config, writer))


class Reporter:
    """Sends the reports of each test of a process, once the test is over."""

    def __init__(self, config: pytest.Config, writer: Connection) -> None:
        self._config = config
        self._writer = writer
        self._reports: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store the report as plain data, and send all reports of a test together."""
        plain = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._reports.append(plain)
        if report.when == "teardown":
            self._writer.send(self._reports)
            self._reports = []
