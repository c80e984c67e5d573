"""Configure the Django app `kitchen` (live play), and check the installation with Django system checks.

They warn if Redis can be reached without a password, and refuse environments that do not play the same again.
"""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from kitchen.infra.redis_exposure import why_exposed
from kitchen.registry.world_registry import added_worlds, get_kit


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


@register(Tags.compatibility)
def check_environments(**_: Any) -> list[CheckMessage]:
    """Return an error for each added environment that does not play the same again (Django system check).
    A check that was passed is not repeated before the environment changes."""
    adapted = {name: path for name, path in added_worlds().items() if get_kit(name).is_environment}
    if not adapted:
        return []
    from kitchen.opened.environment_check import registration_refusal

    passed = settings.VAR_DIR / "checked_environments"
    refusals = (registration_refusal(name, path, passed) for name, path in adapted.items())
    return [Error(refusal, id="kitchen.E001") for refusal in refusals if refusal]
