"""The app of the experiment around the play."""

from django.apps import AppConfig


class StudyConfig(AppConfig):
    """Studies, conditions, participants, surveys."""

    name = "study"
    verbose_name = "Studies"

    def ready(self) -> None:
        """The kitchen's pages show the staff the episodes of the studies that they may see. No analysis is
        kept of somebody who was erased."""
        from kitchen.visibility import episodes_shown_by
        from study.analysing import forget
        from study.permissions import episodes_for
        from study.signals import person_erased

        episodes_shown_by(episodes_for)
        person_erased.connect(forget)
