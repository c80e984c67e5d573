"""On a server, the app starts while Redis or the database is away; `make run` says so and ends."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import pytest
from django.db import OperationalError

from brigade import runner
from brigade.listen_address import RunError
from brigade.process_supervisor import ChildProcess
from manage import database_answer

AWAY = "manage.py: the database does not answer: connection refused"
BROKEN = "django.db.utils.ProgrammingError: relation already exists"
ENVIRONMENT = dict[str, str]()


@pytest.fixture(params=["make run", "server"])
def on_server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the runner has the option of servers."""
    is_server = bool(request.param == "server")
    monkeypatch.setattr(sys, "argv", ["runner", *[runner.ONLY_MIGRATE] * is_server])
    return is_server


@pytest.fixture
def complaints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the next attempts to prepare the database end with; an empty one succeeds."""
    left: list[str] = []

    async def run_once(child: ChildProcess) -> int:
        child.log.write_text(complaint := left.pop(0))
        return 2 if complaint else 0

    monkeypatch.setenv("BRIGADE_VAR", str(tmp_path))
    (tmp_path / "log").mkdir()
    monkeypatch.setattr(runner, "run_once", run_once)
    monkeypatch.setattr(runner, "PREPARE_PAUSE_SECONDS", 0.0)
    return left


async def test_a_database_that_is_away_is_migrated_when_it_answers(
    complaints: list[str], on_server: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    complaints += [AWAY, AWAY, ""]
    if not on_server:
        with pytest.raises(RunError, match="the database does not answer"):
            await runner.prepare_or_warn(ENVIRONMENT)
        return
    assert not await runner.prepare_or_warn(ENVIRONMENT)
    await runner.prepare_when_back(ENVIRONMENT)
    assert not complaints
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("brigade: the database does not answer: connection refused; starting all the")
    assert second == "brigade: the database answers, and is prepared"


REFUSALS = (
    'FATAL:  password authentication failed for user "brigade"',
    "fe_sendauth: no password supplied",
    'FATAL:  role "nobody" does not exist',
    'FATAL:  database "nothing" does not exist',
)


@pytest.mark.usefixtures("on_server")
@pytest.mark.parametrize("said", REFUSALS)
async def test_a_database_that_refuses_the_connection_ends_the_start(
    complaints: list[str], said: str
) -> None:
    answer = database_answer(OperationalError(f'connection to server at "::1" failed: {said}'))
    complaints += [f"manage.py: {answer}: {said}"] * 2
    with pytest.raises(RunError, match=r"^the database refuses the connection: "):
        await runner.prepare_or_warn(ENVIRONMENT)
    with pytest.raises(RunError, match=r"^the database refuses the connection: "):
        await runner.prepare_when_back(ENVIRONMENT)


@pytest.mark.parametrize(
    "said",
    [
        "FATAL:  the database system is starting up",
        "FATAL:  sorry, too many clients already",
        "Connection refused",
    ],
)
def test_a_database_that_may_answer_later_is_waited_for(said: str) -> None:
    assert f"manage.py: {database_answer(OperationalError(said))}" == runner.DATABASE_AWAY


@pytest.mark.usefixtures("on_server")
async def test_a_database_that_answers_and_cannot_be_prepared_ends_the_start(complaints: list[str]) -> None:
    complaints += [BROKEN, AWAY, BROKEN]
    with pytest.raises(RunError, match="cannot be prepared"):
        await runner.prepare_or_warn(ENVIRONMENT)
    with pytest.raises(RunError, match="cannot be prepared"):
        await runner.prepare_when_back(ENVIRONMENT)


async def test_a_server_starts_without_redis(
    on_server: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{port}/0")
    async with asyncio.TaskGroup() as group:
        if not on_server:
            with pytest.raises(RunError, match="no answer from"):
                runner.start_redis(group, ENVIRONMENT)
            return
        runner.start_redis(group, ENVIRONMENT)
    assert "no answer from 127.0.0.1: ConnectionError; starting all the same" in capsys.readouterr().out
