"""Websocket addresses of live play. The pages belong to the app that sends people here."""

from __future__ import annotations

from django.urls import path, re_path

from kitchen.play.live.seat_consumer import SeatConsumer, UnknownAddressConsumer
from kitchen.realtime.tick_consumer import TickConsumer

websocket_urlpatterns = [
    path("ws/seat/<slug:key>/", SeatConsumer.as_asgi()),
    path("ws/ticks/<slug:key>/", TickConsumer.as_asgi()),
    re_path("", UnknownAddressConsumer.as_asgi()),
]
