"""A process loads what pages need before it takes any: the first one is as quick as the next, also when a
process has just been started again and all pages of the dead one come at once."""

from __future__ import annotations

import gc
import logging
from typing import Any

from django.template import engines
from django.urls import get_resolver

from kitchen.registry.worlds import get_page, get_world, known_worlds

log = logging.getLogger(__name__)


def load_all() -> None:
    """Worlds with their pages, templates of panels, and whatever addresses lead to. What cannot be loaded is
    told when somebody needs it."""
    try:
        for world in known_worlds():
            get_world(world), get_page(world)
        panels: Any = engines["panels"]
        for name in panels.env.list_templates(extensions=["jinja"]):
            panels.env.get_template(name)
        _ = get_resolver().url_patterns
    except Exception:  # whatever a world of others has
        log.exception("not all was loaded before the first page")
    gc.collect()
    gc.freeze()  # as in brigade/asgi.py: this stays for good, too
