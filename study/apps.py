"""The app of the experiment around the play."""

from django.apps import AppConfig


class StudyConfig(AppConfig):
    """Studies, conditions, participants, surveys."""

    name = "study"
    verbose_name = "Studies"

    def ready(self) -> None:
        """The kitchen's pages show the staff the episodes of the studies that they may see, and seal them as
        somebody's. No analysis is
        kept of somebody who was erased. What matters to security is noted; whoever logs in has given the
        password just now."""
        from django.contrib.auth.signals import user_logged_in

        from kitchen.play.sealing import episodes_belong_by
        from kitchen.play.staff_access import episodes_shown_by
        from study.analysis.results import forget
        from study.people.belonging import whose_episodes
        from study.people.signals import person_erased
        from study.researchers.accounts import note_what_happens_to_accounts
        from study.researchers.logins import forget_failures
        from study.researchers.permissions import episodes_for
        from study.researchers.security import note_what_is_told
        from study.researchers.sure import note_password

        episodes_shown_by(episodes_for)
        episodes_belong_by(whose_episodes)
        person_erased.connect(forget)
        note_what_is_told()
        note_what_happens_to_accounts()
        user_logged_in.connect(note_password)
        user_logged_in.connect(forget_failures)
