"""What programs ask, and who may."""

from __future__ import annotations

import http.client
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from prometheus_client.metrics import MetricWrapperBase

from brigade.paths import base_dir
from kitchen.infra import prometheus_metrics
from study.operation import health_endpoints
from study.operation.health_endpoints import Readiness
from tests.servers import Stack, wait_until
from tests.study.factories import complete, make_study

TOKEN = "a-token-of-prometheus-0123"


@pytest.fixture
def online(settings: Any) -> None:
    """A server behind a web server that speaks TLS."""
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = "https://study.example.org", ["study.example.org"]
    settings.SECURE_SSL_REDIRECT = True


@pytest.fixture
def away(settings: Any) -> None:
    """No Redis."""
    settings.REDIS_URL = "unix:///nowhere.sock?db=0"


def test_whoever_lives_says_so_under_any_name_and_asks_no_database(online: None, away: None) -> None:
    answer = Client(headers={"host": "10.0.0.7:8001"}).get("/health")
    assert (answer.status_code, answer.content) == (200, b"alive\n")
    assert "no-store" in answer["Cache-Control"]
    assert Client().post("/health").status_code == 405


@pytest.mark.parametrize(("lacks", "status"), [({}, 200), ({"redis": "does not answer (TimeoutError)"}, 503)])
def test_who_is_ready_says_so_and_who_is_not_says_what_is_missing(
    lacks: dict[str, str], status: int, online: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = {name: (lambda words=words: words) for name, words in lacks.items()}
    monkeypatch.setattr(health_endpoints, "_readiness", Readiness(checks))
    answer = Client(headers={"host": "10.0.0.7:8001"}).get("/ready")
    assert answer.status_code == status
    assert answer.json() == {"ready": not lacks, "missing": lacks}


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({}, 200),
        ({"REMOTE_ADDR": "::1"}, 200),
        ({"REMOTE_ADDR": "192.0.2.1"}, 403),
        ({"HTTP_X_FORWARDED_FOR": "192.0.2.1"}, 403),
        ({"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, 403),
        ({"HTTP_X_FORWARDED_PROTO": "https"}, 403),
        ({"HTTP_AUTHORIZATION": f"Bearer {TOKEN}", "REMOTE_ADDR": "192.0.2.1"}, 200),
        ({"HTTP_AUTHORIZATION": f"Bearer {TOKEN}x", "REMOTE_ADDR": "192.0.2.1"}, 403),
        ({"HTTP_AUTHORIZATION": "Bearer ", "REMOTE_ADDR": "192.0.2.1"}, 403),
    ],
)
def test_figures_are_for_this_machine_and_who_has_the_token(
    more: dict[str, str], status: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.operation.health_endpoints.exposition", lambda: b"")
    settings.METRICS_TOKEN = TOKEN
    assert Client().get("/metrics", **more).status_code == status  # type: ignore[arg-type]


def test_without_a_token_nobody_has_it(settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    asked = Client().get("/metrics", REMOTE_ADDR="192.0.2.1", HTTP_AUTHORIZATION="Bearer ")
    assert asked.status_code == 403


@pytest.mark.django_db
def test_figures_come_without_redis_and_name_nobody(away: None) -> None:
    person = complete(make_study())
    said = health_endpoints.exposition().decode()
    assert 'brigade_reachable{what="database"} 1.0' in said
    assert 'brigade_reachable{what="redis"} 0.0' in said
    assert 'brigade_money_dollars{booked="spent"} 0.0' in said
    assert "brigade_queue_tasks" not in said
    assert person.code not in said and person.key not in said
    labels = set(re.findall(r"[{,](\w+)=", "".join(re.findall(r"^brigade.*", said, re.MULTILINE))))
    assert labels <= KNOWN


KNOWN = {"booked", "clock", "code", "kind", "le", "model", "outcome", "page", "policy", "provider"}
KNOWN |= {"queue", "reason", "status", "what", "world"}


def test_the_figures_of_all_processes_are_added_up(live_stack: Stack) -> None:
    by_a_worker = re.compile(r'^brigade_task_wait_seconds_count\{queue="people"\} [1-9]', re.MULTILINE)
    by_daphne = re.compile(r'^brigade_http_answers_total\{status="\d+"\} [1-9]', re.MULTILINE)

    def both_counted() -> bool:
        said = asked(live_stack, "/metrics")[1]
        return bool(by_a_worker.search(said) and by_daphne.search(said))

    wait_until(both_counted, "what a worker and a daphne have counted")
    wait_until(lambda: asked(live_stack, "/ready")[0] == 200, "an app that is ready")


def asked(stack: Stack, path: str) -> tuple[int, str]:
    """What the app answers to a program."""
    connection = http.client.HTTPConnection(urlsplit(stack.url).netloc, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_every_figure_is_told_to_operators_and_no_other(away: None) -> None:
    counted = [one for one in vars(prometheus_metrics).values() if isinstance(one, MetricWrapperBase)]
    names = {f"{one._name}{'_total' if one._type == 'counter' else ''}" for one in counted}
    names |= {"brigade_queue_tasks", "brigade_queue_seconds", "brigade_money_dollars", "brigade_reachable"}
    names |= {"brigade_episodes_live", "brigade_episodes_late"}
    guide, rules = ((base_dir() / "docs" / name).read_text() for name in ("metrics.md", "alerts.yml"))
    rows = {
        name
        for row in re.findall(r"^\| (`brigade_.*?) \|", guide, re.MULTILINE)
        for name in NAME.findall(row)
    }
    assert rows == names
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in NAME.findall(rules)} <= names


NAME = re.compile(r"\bbrigade_[a-z_]+")
