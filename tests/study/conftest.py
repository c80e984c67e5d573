"""Provide the fixtures that the tests of the app `study` share."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def local_cache(settings: Any) -> None:
    """Cache pages' data in this process. The journeys use the real server."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
