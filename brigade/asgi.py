"""Define the ASGI application that the web server (daphne) runs.

HTTP requests go to Django. Websockets serve the pages on which people play, and the page on which staff watch
a study live. A websocket is accepted only from a page of this site.
"""

from __future__ import annotations

import gc
import logging
import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")

django_application = get_asgi_application()

from brigade.http_limits import HttpLimits, RequestQueues  # noqa: E402 - the apps must be loaded first
from brigade.middleware import CheckWebSocketOrigin, RequestIdPages, RequestIdWebSockets  # noqa: E402
from brigade.paths import redis_url  # noqa: E402
from kitchen.infra.redis_exposure import why_exposed  # noqa: E402
from kitchen.urls import websocket_urlpatterns  # noqa: E402
from study.monitor.live_study_page import websocket_urlpatterns as staff_patterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": RequestIdPages(HttpLimits(RequestQueues(django_application))),
        "websocket": RequestIdWebSockets(
            CheckWebSocketOrigin(URLRouter([*staff_patterns, *websocket_urlpatterns]))
        ),
    }
)

if said := why_exposed(redis_url()):
    logging.getLogger(__name__).warning(said)

# Objects loaded so far stay for good. Scanning them again and again would delay everybody who plays by a
# tenth of a second.
gc.collect()
gc.freeze()
