"""The app of the experiment around the play."""

from django.apps import AppConfig


class StudyConfig(AppConfig):
    """Studies, conditions, participants, surveys."""

    name = "study"
    verbose_name = "Studies"
