"""Map the websocket URLs of live play to the consumers that serve them.

The HTML pages that open these websockets belong to the app `study`.
"""

from __future__ import annotations

from django.urls import path, re_path

from kitchen.play.live.seat_consumer import SeatConsumer, UnknownAddressConsumer
from kitchen.realtime.tick_consumer import TickConsumer

websocket_urlpatterns = [
    path("ws/seat/<slug:key>/", SeatConsumer.as_asgi()),
    path("ws/ticks/<slug:key>/", TickConsumer.as_asgi()),
    re_path("", UnknownAddressConsumer.as_asgi()),
]
