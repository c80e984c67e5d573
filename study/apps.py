"""The app of the experiment around the play."""

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
    from kitchen.play.sealing import episodes_belong_by
    from kitchen.play.staff_access import episodes_shown_by
    from study.people.belonging import whose_episodes
    from study.researchers.permissions import episodes_for

    episodes_shown_by(episodes_for)
    episodes_belong_by(whose_episodes)


def _what_happens_is_noted() -> None:
    """What matters to security is noted."""
    from study.researchers.accounts import note_what_happens_to_accounts
    from study.researchers.security import note_what_is_told

    note_what_is_told()
    note_what_happens_to_accounts()


def _what_happens_has_consequences() -> None:
    """No analysis is kept of somebody who was erased. Whoever logs in has given the password just now, and
    the tries that failed before count no more."""
    from django.contrib.auth.signals import user_logged_in

    from study.analysis.results import forget
    from study.people.signals import person_erased
    from study.researchers.logins import forget_failures
    from study.researchers.sure import note_password

    person_erased.connect(forget)
    user_logged_in.connect(note_password)
    user_logged_in.connect(forget_failures)
