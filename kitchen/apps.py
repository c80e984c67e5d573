"""The app of live play."""

from django.apps import AppConfig


class KitchenConfig(AppConfig):
    """Episodes, their seats and their log."""

    name = "kitchen"
    verbose_name = "Live play"

    def ready(self) -> None:
        """What is wrong with this installation is told by `manage.py check`; which migrations it came with is
        kept in mind. Turns hear of outages. What people read is said in their language."""
        from kitchen.machine import checks  # noqa: F401 - the settings must be read first
        from kitchen.machine.storage import known_migrations

        known_migrations()
        from django.utils import translation

        from kitchen.play.extending import turns_extend, turns_move
        from kitchen.uptime.news import clock_set, outage_over
        from kitchen.words.speech import spoken_by

        spoken_by(translation)
        outage_over.connect(turns_extend)
        clock_set.connect(turns_move)
