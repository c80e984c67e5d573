"""What is missing is named within a second, however long it takes to answer."""

from __future__ import annotations

import threading
import time

import pytest

from kitchen.infra.connection_drain import connection_drain
from study.operation import health_endpoints
from study.operation.health_endpoints import LATE, Readiness


def refused() -> str:
    raise ConnectionError("redis://:word@host")


def test_what_is_missing_is_named_and_no_error_tells_its_words() -> None:
    found = Readiness({"database": lambda: "", "migrations": lambda: "2 not applied", "redis": refused})
    wanted = {"migrations": "2 not applied", "redis": "does not answer (ConnectionError)"}
    assert found.missing() == wanted


def test_nobody_waits_for_what_does_not_answer_and_it_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health_endpoints, "SECONDS", 0.02)
    there, asked, now = threading.Event(), [0], [0.0]

    def slow() -> str:
        asked[0] += 1
        return "" if there.wait(30) else "never"

    found = Readiness({"database": slow}, clock=lambda: now[0])
    began = time.monotonic()
    for now[0] in (0.0, 2.0):
        assert found.missing() == {"database": LATE}
    assert time.monotonic() - began < 15
    there.set()
    monkeypatch.setattr(health_endpoints, "SECONDS", 10)
    now[0] = 4.0
    assert (found.missing(), asked) == ({}, [1])


def test_what_was_found_is_good_for_a_second() -> None:
    now, asked = [0.0], [0]

    def count() -> str:
        asked[0] += 1
        return ""

    found = Readiness({"database": count}, clock=lambda: now[0])
    for now[0] in (0.0, 0.5, 0.9, 1.1, 1.2):
        found.missing()
    assert asked == [2]


def test_a_process_that_is_about_to_end_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_endpoints, "_readiness", Readiness({}))
    assert health_endpoints.missing_services() == {}
    monkeypatch.setattr(connection_drain, "draining", True)
    assert health_endpoints.missing_services() == {"process": "is about to end"}
