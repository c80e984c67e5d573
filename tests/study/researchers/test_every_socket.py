"""Every websocket with every role: what opens and what is closed at once. A new one is tried by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import channels.db
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings as django_settings
from django.db import transaction

from brigade.asgi import application
from kitchen.infra.rate_limits import TokenBuckets
from kitchen.play.live import seat_consumer
from kitchen.play.live.page_session import NO_SEAT_CLOSE_CODE
from kitchen.play.models import Episode
from kitchen.urls import websocket_urlpatterns as of_people
from study.monitor.live_study_page import NOT_ALLOWED
from study.monitor.live_study_page import websocket_urlpatterns as of_staff
from tests.conftest import Once
from tests.nightly import nightly
from tests.study.researchers.scene import NIGHTLY, ROLES, Role, Scene

pytestmark = pytest.mark.django_db

SOCKETS = [str(one.pattern) for one in (*of_staff, *of_people)]
"""Every websocket, as its address is written in the code."""


@pytest.fixture(scope="module")
def scene(once: Once) -> Scene:
    with once():
        return Scene()


@pytest.fixture(autouse=True)
def in_this_thread(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[None]:
    """The database is asked where the scene was made, and nothing that is done there stays."""
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    monkeypatch.setattr(channels.db, "close_old_connections", lambda: None)  # as Django's client does
    monkeypatch.setattr(seat_consumer, "run_in_db_thread", lambda act, *a, **k: sync_to_async(act)(*a, **k))
    monkeypatch.setattr(
        seat_consumer, "_connection_buckets", TokenBuckets(seat_consumer.CONNECTION_LIMIT)
    )  # others knock as often
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def wanted(scene: Scene, role: Role, written: str) -> Iterator[tuple[str, int | None]]:
    """Addresses of one websocket, with the code with which it is closed at once, or None where it opens."""
    if written == "ws/staff/study/<slug:slug>/":
        for slug in ("mine", "other", "nowhere"):
            may = not role.owes and role.staff and slug in role.sees
            yield f"/ws/staff/study/{slug}/", None if may else NOT_ALLOWED
    elif written in ("ws/seat/<slug:key>/", "ws/ticks/<slug:key>/"):
        Episode.objects.update(tick_ms=500)
        own = scene.seat(role.person).key if role.person else ""
        for word in (own, scene.person.key, scene.person.code, str(scene.seat(scene.person).pk)):
            address = f"/{written.replace('<slug:key>', word or 'x')}"
            yield address, None if word and word == own else NO_SEAT_CLOSE_CODE
    elif written == "":
        yield "/ws/elsewhere/", NO_SEAT_CLOSE_CODE
    else:
        pytest.fail(f"say in `wanted` of this test for whom the websocket {written!r} is")


async def opened(role: Role, address: str) -> int | None:
    """None if it is open; else the code with which it was closed."""
    cookies = "; ".join(f"{name}={one.value}" for name, one in role.cookies.items())
    sent = {"origin": "http://localhost", "host": "localhost", "cookie": cookies, **role.headers}
    headers = [(name.encode(), value.encode()) for name, value in sent.items()]
    socket = WebsocketCommunicator(application, address, headers)
    came, code = await socket.connect(timeout=30)
    if not came:
        return int(code or 0)
    found = await socket.receive_output(timeout=30)
    await socket.disconnect()
    assert not any(word in found.get("text", "") for word in role.hidden)
    return int(found["code"]) if found["type"] == "websocket.close" else None


@pytest.mark.parametrize("name", [*(name for name in ROLES if name not in NIGHTLY), *nightly(*NIGHTLY)])
def test_every_socket_opens_for_whom_it_is_and_for_nobody_else(
    scene: Scene, name: str, settings: Any
) -> None:
    role = scene.role(name)
    settings.SECOND_FACTOR_REQUIRED = role.owes
    assert django_settings.SESSION_COOKIE_NAME in role.cookies or not role.staff
    for written in SOCKETS:
        for address, code in wanted(scene, role, written):
            assert (address, async_to_sync(opened)(role, address)) == (address, code)
