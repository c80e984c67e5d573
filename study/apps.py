"""Configuration of the Django app `study`; it connects the app to signals and to the app `kitchen`."""

from django.apps import AppConfig


class StudyConfig(AppConfig):
    """Studies, conditions, participants, surveys."""

    name = "study"
    verbose_name = "Studies"

    def ready(self) -> None:
        """What this app has to say, it says where it is asked for: the apps are loaded now."""
        _episodes_are_somebodys()
        _what_happens_is_noted()
        _what_happens_has_consequences()


def _episodes_are_somebodys() -> None:
    """The kitchen's pages show the staff the episodes of the studies that they may see, and seal them as
    somebody's."""
    from kitchen.play.episode.log_integrity import register_owners
    from kitchen.play.episode.play_monitoring import register_visibility_rule
    from study.participants.episode_owners_and_outages import episode_owners
    from study.researchers.permissions import episodes_for

    register_visibility_rule(episodes_for)
    register_owners(episode_owners)


def _what_happens_is_noted() -> None:
    """What matters to security is noted."""
    from study.researchers.account_security import log_account_changes
    from study.researchers.security_events import log_logins_and_erasures

    log_logins_and_erasures()
    log_account_changes()


def _what_happens_has_consequences() -> None:
    """No analysis is kept of somebody who was erased. Whoever logs in has given the password just now, and
    the tries that failed before count no more."""
    from django.contrib.auth.signals import user_logged_in

    from study.analysis.analysis_results import forget_analysis
    from study.participants.participant_events import participant_erased
    from study.researchers.reauthenticate import note_password_given
    from study.researchers.staff_login import forget_failures

    participant_erased.connect(forget_analysis)
    user_logged_in.connect(note_password_given)
    user_logged_in.connect(forget_failures)
