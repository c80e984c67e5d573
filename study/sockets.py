"""Addresses of the websockets that staff open; whoever opens one is known by the session."""

from __future__ import annotations

from channels.auth import AuthMiddlewareStack
from django.urls import path

from study.monitor.consumers import LiveConsumer

websocket_urlpatterns = [
    path("ws/staff/study/<slug:slug>/", AuthMiddlewareStack(LiveConsumer.as_asgi())),
]
