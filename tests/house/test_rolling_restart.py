"""Programs are exchanged one after the other, and never is there one less."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from brigade import process_supervisor as module
from brigade.process_startup import report_ready
from brigade.process_supervisor import ChildProcess, ProcessGroup

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


def test_a_program_that_nobody_listens_to_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere/notify")
    report_ready()
