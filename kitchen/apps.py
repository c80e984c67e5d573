"""Configure the Django app `kitchen` (live play), and warn if Redis can be reached without a password.

The warning is a Django system check.
"""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register

from kitchen.infra.redis_exposure import why_exposed


class KitchenConfig(AppConfig):
    """Configuration of the Django app of live play."""

    name = "kitchen"
    verbose_name = "Live play"

    def ready(self) -> None:
        """Prepare the app when Django has started.

        Record the migrations of this version, use Django for translations, share pauses of language models
        through the cache, and extend turn deadlines after outages and clock changes.
        """
        from django.core.cache import caches

        from kitchen.infra.db_errors import known_migrations

        known_migrations()
        from django.utils import translation

        from kitchen.llm.circuit_breaker import share_pauses
        from kitchen.play.turn.step_timer import extend_deadlines, shift_deadlines
        from kitchen.uptime.heartbeat import clock_set, outage_over
        from kitchen.words.gettext_without_django import use_translations

        use_translations(translation)
        share_pauses(caches.create_connection("default"))  # one for all threads and tasks
        outage_over.connect(extend_deadlines)
        clock_set.connect(shift_deadlines)


@register(Tags.security)
def check_redis_exposure(**_: Any) -> list[CheckMessage]:
    """Return a warning if other machines can reach the app's Redis without a password (Django system
    check)."""
    said = why_exposed(settings.REDIS_URL)
    return [Warning(said, id="kitchen.W001")] if said else []
