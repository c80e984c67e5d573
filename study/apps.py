"""Configure the Django app `study`, and connect it to Django signals and to the Django app `kitchen`.

`kitchen` plays the episodes and does not import `study`. So `study` registers functions with it at start-up.
These say which episodes staff may see, and who played each episode.
"""

from django.apps import AppConfig


class StudyConfig(AppConfig):
    """The app of studies, conditions, participants and surveys."""

    name = "study"
    verbose_name = "Studies"

    def ready(self) -> None:
        """Register the app's hooks and signal handlers. Django calls this once all apps are loaded."""
        _episodes_are_somebodys()
        _what_happens_is_noted()
        _what_happens_has_consequences()


def _episodes_are_somebodys() -> None:
    """Register two functions with the kitchen package: one returns the episodes that a staff user may see,
    the other returns who played each episode."""
    from kitchen.play.episode.log_integrity import register_owners
    from kitchen.play.episode.play_monitoring import register_visibility_rule
    from study.participants.episode_owners_and_outages import episode_owners
    from study.researchers.permissions import episodes_for

    register_visibility_rule(episodes_for)
    register_owners(episode_owners)


def _what_happens_is_noted() -> None:
    """Connect the signal receivers that record logins, account changes and erasures as security events."""
    from study.researchers.account_change_log import log_account_changes
    from study.researchers.security_events import log_logins_and_erasures

    log_logins_and_erasures()
    log_account_changes()


def _what_happens_has_consequences() -> None:
    """Connect the signal receivers of this app. If a participant is erased, the study's cached analyses and
    stored exports are erased too. A login counts as a recent password check and clears failed logins."""
    from django.contrib.auth.signals import user_logged_in

    from study.analysis.analysis_results import forget_analysis
    from study.participants.participant_notifications import participant_erased
    from study.participants.stored_datasets import forget_datasets
    from study.participants.stored_exports import forget_exports
    from study.researchers.reauthenticate import note_password_given
    from study.researchers.staff_login import forget_failures

    participant_erased.connect(forget_analysis)
    participant_erased.connect(forget_datasets)
    participant_erased.connect(forget_exports)
    user_logged_in.connect(note_password_given)
    user_logged_in.connect(forget_failures)
