"""The Django app of live play, and its system check that Redis is not exposed."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register

from kitchen.infra.redis_exposure import why_exposed


class KitchenConfig(AppConfig):
    """The app of live play: episodes, their seats and their log."""

    name = "kitchen"
    verbose_name = "Live play"

    def ready(self) -> None:
        """Prepare the app. Remember which migrations it came with, use Django's translations, and let turns
        react to outages and to changes of the clock. `manage.py check` reports problems of the
        installation."""
        from kitchen.infra.db_errors import known_migrations

        known_migrations()
        from django.utils import translation

        from kitchen.play.turn.step_timer import extend_deadlines, shift_deadlines
        from kitchen.uptime.heartbeat import clock_set, outage_over
        from kitchen.words.gettext_without_django import use_translations

        use_translations(translation)
        outage_over.connect(extend_deadlines)
        clock_set.connect(shift_deadlines)


@register(Tags.security)
def check_redis_exposure(**_: Any) -> list[CheckMessage]:
    """Return a warning if the app's Redis is open to other machines."""
    said = why_exposed(settings.REDIS_URL)
    return [Warning(said, id="kitchen.W001")] if said else []
