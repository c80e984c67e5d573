"""What daphne serves: pages over HTTP, play and what staff watch over websockets, from our own pages only."""

from __future__ import annotations

import gc
import logging
import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")

django_application = get_asgi_application()

from brigade.attended import Pages, Sockets  # noqa: E402 - the apps must be loaded first
from brigade.door import Door  # noqa: E402
from brigade.hosts import FromOurPages  # noqa: E402
from brigade.places import redis_url  # noqa: E402
from brigade.queueing import InLine  # noqa: E402
from kitchen.machine.redis_access import open_to_others  # noqa: E402
from kitchen.urls import websocket_urlpatterns  # noqa: E402
from study.sockets import websocket_urlpatterns as staff_patterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": Pages(Door(InLine(django_application))),
        "websocket": Sockets(FromOurPages(URLRouter([*staff_patterns, *websocket_urlpatterns]))),
    }
)

if said := open_to_others(redis_url()):
    logging.getLogger(__name__).warning(said)

# What has been loaded stays for good: to look through it again and again would hold up everybody who plays
# for a tenth of a second.
gc.collect()
gc.freeze()
