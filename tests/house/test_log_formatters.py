"""No log holds a key that opens a participant's pages or a seat."""

from __future__ import annotations

import http.client
import io
import json
import logging
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import OperationalError
from django.test import Client

from brigade.celery import app
from brigade.log_formatters import (
    JsonFormatter,
    LineFormatter,
    RedactingFormatter,
    SeparateLogFile,
    redact_keys,
)
from kitchen.infra.db_errors import DatabaseProblem
from kitchen.infra.log_context import (
    clear_log_context,
    current_log_context,
    extend_log_context,
    log_context,
    with_log_context,
)
from kitchen.play.models import new_key
from tests.servers import Stack, wait_until

KEY = "Ab3-_fGh1JkLmN0pQrStUv"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Forbidden (CSRF cookie not set.): /p/{KEY}/", "Forbidden (CSRF cookie not set.): /p/Ab3-…/"),
        (f"Not Found: /p/{KEY}/withdraw/", "Not Found: /p/Ab3-…/withdraw/"),
        (f"WebSocket DISCONNECT /ws/seat/{KEY}/ [1.2.3.4]", "WebSocket DISCONNECT /ws/seat/Ab3-…/ [1.2.3.4]"),
        (f"'p/{KEY}' and 'ws/seat/{KEY}'", "'p/Ab3-…' and 'ws/seat/Ab3-…'"),
        (f"/admin/login/?next=%2Fp%2F{KEY}%2F", "/admin/login/?next=%2Fp%2FAb3-…%2F"),
        (f"Not Found: /invitation/{KEY * 2}/", "Not Found: /invitation/Ab3-…/"),
        (f"?next=%2Finvitation%2F{KEY * 2}%2F", "?next=%2Finvitation%2FAb3-…%2F"),
        (f"kwargs={{'key': '{KEY}'}}", "kwargs={'key': 'Ab3-…'}"),
        (f"DETAIL:  Key (key)=({KEY}) already exists.", "DETAIL:  Key (key)=(Ab3-…) already exists."),
        ("/s/demo/ /staff/demo/data/steps.csv /http/2.0", "/s/demo/ /staff/demo/data/steps.csv /http/2.0"),
        ("key=level_3, map/p/x", "key=level_3, map/p/x"),
    ],
)
def test_keys_are_shortened_and_nothing_else_is(text: str, found: str) -> None:
    assert redact_keys(text) == found


def test_who_is_refused_is_a_line_and_an_error_has_its_traceback() -> None:
    try:
        raise ValueError("why")
    except ValueError:
        trace = sys.exc_info()
    lines = {}
    for level in (logging.WARNING, logging.ERROR):
        record = logging.LogRecord("django.request", level, __file__, 1, "Forbidden: /staff/", (), trace)
        lines[level] = RedactingFormatter("%(message)s").format(record)
        assert record.exc_info is trace
    assert lines[logging.WARNING] == "Forbidden: /staff/"
    assert "ValueError: why" in lines[logging.ERROR]


def test_a_name_that_is_not_ours_is_a_line(client: Client, lines: io.StringIO) -> None:
    assert client.get("/", headers={"host": "elsewhere.example"}).status_code == 400
    said = [line for line in lines.getvalue().splitlines() if "elsewhere.example" in line]
    assert len(said) == 1 and "Traceback" not in lines.getvalue()


def test_that_redis_is_away_is_a_line_that_says_why() -> None:
    try:
        raise ConnectionError("no such\nsocket: 100%")
    except ConnectionError:
        trace = sys.exc_info()
    said = "Unexpected exception in receive task"
    record = logging.LogRecord("channels_redis.pubsub", logging.ERROR, __file__, 1, said, (), trace)
    line = RedactingFormatter("%(message)s").format(record)
    assert line == f"{said}: ConnectionError: no such socket: 100%"


@pytest.mark.parametrize("form", [LineFormatter("%(message)s"), JsonFormatter()])
def test_that_the_database_is_away_is_a_line_whoever_logs_it(form: logging.Formatter) -> None:
    try:
        raise OperationalError("connection refused\nIs it running?") from ValueError("the driver's")
    except OperationalError:
        line = form.format(entry("it", name="kitchen.uptime.heartbeat"))
    assert f"lost it: {DatabaseProblem.AWAY}" in line and "\n" not in line and "Traceback" not in line


def test_a_task_that_finds_no_database_is_a_line(lines: io.StringIO) -> None:
    @app.task(name="tests.house.away")  # type: ignore[untyped-decorator, unused-ignore]
    def away() -> None:
        raise OperationalError("connection refused\nIs it running?")

    away.apply()
    del app.tasks["tests.house.away"]
    said = lines.getvalue()
    assert said.count("\n") == 1 and "tests.house.away" in said and str(DatabaseProblem.AWAY) in said


def entry(*args: object, name: str = "kitchen.play", **more: object) -> logging.LogRecord:
    trace = sys.exc_info()
    record = logging.LogRecord(
        name, logging.WARNING, __file__, 1, "lost %s", args, trace if trace[0] else None
    )
    vars(record).update(more)
    return record


def test_a_line_says_what_it_is_about() -> None:
    with log_context(request="req-12345", episode=7), log_context(step=3):
        line = LineFormatter("%(levelname)s %(message)s").format(entry("it"))
    assert line == "WARNING lost it [request=req-12345 episode=7 step=3]"
    assert LineFormatter("%(message)s").format(entry("it")) == "lost it"


def test_an_entry_for_programs_is_one_line_of_json_without_secrets() -> None:
    try:
        raise LookupError(f"no such page: /p/{KEY}/")
    except LookupError:
        with log_context(request="req-12345", step=3):
            line = JsonFormatter().format(entry(f'"/ws/seat/{KEY}/"', created=0.5))
    assert "\n" not in line and KEY not in line
    said = json.loads(line)
    assert said.pop("traceback").endswith("LookupError: no such page: /p/Ab3-…/")
    assert said == {
        "time": "1970-01-01T00:00:00.500+00:00",
        "level": "WARNING",
        "logger": "kitchen.play",
        "request": "req-12345",
        "step": 3,
        "message": 'lost "/ws/seat/Ab3-…/"',
    }


def test_what_it_is_about_goes_along_to_other_threads_and_no_further() -> None:
    def asked() -> object:
        extend_log_context(episode=1)
        with ThreadPoolExecutor(1) as pool:
            there = (
                pool.submit(with_log_context(current_log_context)).result(),
                pool.submit(current_log_context).result(),
            )
        clear_log_context()
        return *there, current_log_context()

    assert copy_context().run(asked) == ({"episode": 1}, {}, {})
    assert current_log_context() == {}


def test_every_key_that_is_made_is_known_for_one() -> None:
    for key in [new_key() for _ in range(200)]:
        assert key not in redact_keys(f"/p/{key}/ /ws/seat/{key}/ key={key}")


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What the handler of our settings writes."""
    (handler,) = (h for h in logging.getLogger().handlers if isinstance(h.formatter, RedactingFormatter))
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(io.StringIO())
    yield handler.stream
    handler.setStream(before)


@pytest.mark.parametrize(
    "name", ["daphne.server", "twisted", "django.server", "celery.task", "celery.redirected"]
)
def test_whoever_logs_it_is_kept_out_of_arguments_and_tracebacks(name: str, lines: io.StringIO) -> None:
    try:
        raise LookupError(f"no such page: /p/{KEY}/")
    except LookupError:
        logging.getLogger(name).error("%s at %s", "lost", f"/ws/seat/{KEY}/", exc_info=sys.exc_info())
    assert "/ws/seat/Ab3-…/" in lines.getvalue() and "no such page: /p/Ab3-…/" in lines.getvalue()
    assert KEY not in lines.getvalue()


@pytest.mark.django_db
def test_a_page_that_is_refused_is_logged_without_its_key(lines: io.StringIO) -> None:
    answer = Client(enforce_csrf_checks=True).post(f"/p/{KEY}/")
    assert answer.status_code == 403
    assert "Forbidden (CSRF cookie not set.): /p/Ab3-…/" in lines.getvalue()
    assert KEY not in lines.getvalue()


def test_a_log_that_cannot_be_written_breaks_nothing(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "log").write_text("a file where a folder is to be")
    record = logging.LogRecord("brigade.security", logging.INFO, "", 0, "who logged in", (), None)
    SeparateLogFile(tmp_path / "log" / "security.log", delay=True).emit(record)
    assert "who logged in" in capsys.readouterr().err


def test_a_running_server_writes_no_key_down(live_stack: Stack) -> None:
    key = new_key()
    for way, method in ((f"/p/{key}/", "POST"), (f"/p/{key}/", "GET"), (f"/ws/seat/{key}/", "GET")):
        connection = http.client.HTTPConnection(urlsplit(live_stack.url).netloc, timeout=60)
        connection.request(method, way)
        assert connection.getresponse().status in {403, 404}
        connection.close()
    logs = [child.log for child in live_stack.webs]
    wait_until(lambda: f"/p/{key[:4]}…/" in "".join(log.read_text() for log in logs), "a line about it")
    assert key not in "".join(log.read_text() for log in logs)
