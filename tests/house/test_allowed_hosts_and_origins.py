"""Under which names we are asked, and by whose pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.core.checks import Tags, run_checks
from django.test import Client

from brigade.asgi import application
from brigade.middleware import is_allowed_origin
from tests.house.test_settings import read

HOST = "study.example.org"


@pytest.fixture(autouse=True)
def online(settings: Any) -> None:
    """A server behind a web server that speaks TLS."""
    settings.PUBLIC_URL = f"https://{HOST}"
    settings.ALLOWED_HOSTS = [HOST, "localhost"]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


def scope(origin: str | None, host: str, scheme: str = "ws", forwarded: str = "") -> dict[str, Any]:
    """A websocket that is asked for."""
    headers = {"origin": origin, "host": host, "x-forwarded-proto": forwarded}
    sent = [(name.encode(), value.encode()) for name, value in headers.items() if value]
    return {"type": "websocket", "path": "/ws/", "scheme": scheme, "query_string": b"", "headers": sent}


@pytest.mark.parametrize(
    ("asked", "ours"),
    [
        (scope(f"https://{HOST}", HOST, forwarded="https"), True),
        (scope(f"https://{HOST}", HOST), True),
        (scope(f"https://{HOST}:443", HOST), True),
        (scope(f"https://{HOST}", HOST, scheme="wss"), True),
        (scope("http://localhost:8000", "localhost:8000"), True),
        (scope(f"http://{HOST}", HOST, forwarded="https"), False),
        (scope(f"https://{HOST}:8443", HOST, forwarded="https"), False),
        (scope("http://localhost:9999", "localhost:8000"), False),
        (scope("https://localhost:8000", "localhost:8000"), False),
        (scope("https://evil.example", HOST), False),
        (scope("http://evil.example", "evil.example"), False),
        (scope(f"https://{HOST}", "evil.example"), False),
        (scope("null", HOST), False),
        (scope("http://[::1", HOST), False),
        (scope("https://study.example.org:port", HOST), False),
        (scope(None, HOST), False),
    ],
)
def test_a_websocket_is_opened_by_our_own_pages_only(asked: dict[str, Any], ours: bool) -> None:
    assert is_allowed_origin(asked) is ours


async def test_whatever_the_socket_others_are_refused() -> None:
    refused = WebsocketCommunicator(
        application, "/ws/seat/x/", headers=[(b"origin", b"https://evil.example")]
    )
    assert await refused.connect(timeout=20) == (False, 1000)


@pytest.mark.parametrize("path", ["/static/css/base.css", "/favicon.ico", "/", "/api/studies"])
def test_another_name_is_no_name_of_ours(path: str) -> None:
    assert Client(headers={"host": "evil.example"}).get(path).status_code == 400


def test_files_are_given_under_our_name_and_say_what_pages_may_not_do() -> None:
    given = Client(headers={"host": HOST}).get("/static/css/base.css")
    assert given.status_code == 200
    assert "camera=()" in given["Permissions-Policy"]


def test_plain_http_is_led_to_our_address_and_programs_nearby_are_not(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_SSL_HOST = True, HOST
    settings.SECURE_HSTS_SECONDS = 60
    led = Client(headers={"host": "localhost"}).get("/s/demo/?x=1")
    assert (led.status_code, led["Location"]) == (301, f"https://{HOST}/s/demo/?x=1")
    near = Client(headers={"host": "localhost"})
    assert 301 not in [near.get(path).status_code for path in ("/health/", "/ready/", "/metrics")]
    behind = Client(headers={"host": HOST, "x-forwarded-proto": "https"}).get("/static/css/base.css")
    assert (behind.status_code, behind["Strict-Transport-Security"]) == (200, "max-age=60")


def test_under_https_django_has_nothing_to_say_about_the_deployment(
    settings: Any, monkeypatch: pytest.MonkeyPatch, var: Path
) -> None:
    monkeypatch.setenv("BRIGADE_URL", f"https://{HOST}")
    found = read()
    for name in dir(found):
        if name.startswith(("SECURE_", "SESSION_", "CSRF_", "SILENCED_", "MIDDLEWARE", "ALLOWED_")):
            setattr(settings, name, getattr(found, name))
    said = run_checks(tags=[Tags.security], include_deployment_checks=True)
    assert [one for one in said if not one.is_silenced()] == []
    settings.SECURE_HSTS_SECONDS = 0
    assert {one.id for one in run_checks(include_deployment_checks=True)} >= {"security.W004"}
