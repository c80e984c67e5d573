"""Addresses of live play: only the websocket; the page belongs to whoever sends people here."""

from __future__ import annotations

from django.urls import path, re_path

from kitchen.play.consumers import NowhereConsumer, SeatConsumer
from kitchen.ticking.consumers import TickConsumer

websocket_urlpatterns = [
    path("ws/seat/<slug:key>/", SeatConsumer.as_asgi()),
    path("ws/ticks/<slug:key>/", TickConsumer.as_asgi()),
    re_path("", NowhereConsumer.as_asgi()),
]
