"""What daphne serves: pages over HTTP, play and what staff watch over websockets, from our own pages only."""

from __future__ import annotations

import gc
import os

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")

django_application = get_asgi_application()

from kitchen.urls import websocket_urlpatterns  # noqa: E402 - the apps must be loaded first
from study.sockets import websocket_urlpatterns as staff_patterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": AllowedHostsOriginValidator(URLRouter([*staff_patterns, *websocket_urlpatterns])),
    }
)

gc.collect()
gc.freeze()
"""What has been loaded stays for good: to look through it again and again would hold up everybody who plays
for a tenth of a second."""
