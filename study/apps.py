"""The app of the experiment around the play."""

from django.apps import AppConfig


class StudyConfig(AppConfig):
    """Studies, conditions, participants, surveys."""

    name = "study"
    verbose_name = "Studies"

    def ready(self) -> None:
        """The kitchen's pages show the staff the episodes of the studies that they may see."""
        from kitchen.visibility import episodes_shown_by
        from study.permissions import episodes_for

        episodes_shown_by(episodes_for)
