"""What `manage.py check` says about this installation, beside what Django says."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register

from kitchen.machine.redis_access import open_to_others


@register(Tags.security)
def redis_is_closed(**_: Any) -> list[CheckMessage]:
    """A warning where our Redis is open to other machines."""
    said = open_to_others(settings.REDIS_URL)
    return [Warning(said, id="kitchen.W001")] if said else []
