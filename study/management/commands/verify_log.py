"""Check that the stored logs of episodes (games) are unchanged: `python manage.py verify_log [SLUG]`.

The log has a hash for each step, computed from this step and all steps before it. Without a study's SLUG, all
episodes are checked. For each episode, a line gives the number of steps and the last hash, or lists the
changed steps. The last line is a summary. The exit code is 1 if a log was changed or if the database allows
changes of logs. It is 2 for an invalid argument.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.experiments.database_logs import verify_logs
from kitchen.infra.append_only import unguarded_tables
from kitchen.play.episode.log_integrity import LogVerdict, verify_episode_logs
from kitchen.play.models import Episode
from kitchen.words.english_text import counted_noun
from study.management.study_command import StudyCommand
from study.monitor.staff_actions import changed_staff_actions
from study.participants.models import StaffAction
from study.researchers.security_events import events_verify


class Command(StudyCommand):
    """Checks the hashes of the log. The log is not changed."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's argument, the study's slug, which is optional."""
        parser.add_argument("slug", metavar="SLUG", nargs="?", help="the study's slug (default: everything)")

    def handle(self, *args: Any, slug: str | None, **options: Any) -> None:
        """Print problems and a line for each episode, then a summary.

        Raises CommandError if something was changed or the database allows changes.
        """
        episodes = Episode.objects.all() if slug is None else self.episodes(slug)
        unguarded = unguarded_tables()
        for table in unguarded:
            self.stdout.write(f"{table}: rows can be changed, the database's trigger is gone or another one")
        others = self._others(slug)
        for said_of_it in others:
            self.stdout.write(said_of_it)
        verdicts = []
        for verdict in verify_episode_logs(episodes):
            self.stdout.write(verdict_line(verdict))
            verdicts.append(verdict)
        line = summary(verdicts)
        if unguarded or others or not all(verdict.holds for verdict in verdicts):
            raise CommandError(line)
        self.stdout.write(line)

    def _others(self, slug: str | None) -> list[str]:
        """Return problems in logs other than episode logs: changed records of staff actions. If `slug` is
        None, changed security events and changed logs of experiments are included."""
        actions = StaffAction.objects.all()
        if slug is not None:
            return list(changed_staff_actions(actions.filter(study__slug=slug)))
        return [*changed_staff_actions(actions), *events_verify(), *verify_logs()]


def verdict_line(verdict: LogVerdict) -> str:
    """Return one line that says whether the log of one episode is unchanged."""
    if verdict.faults:
        return f"{verdict.episode}: {'; '.join(map(str, verdict.faults))}"
    if verdict.before_chains:
        return f"{verdict.episode}: {counted_noun(verdict.steps, 'step')}, written before there were chains"
    holds = "holds" if verdict.is_over else "holds so far"
    return f"{verdict.episode}: {counted_noun(verdict.steps, 'step')}, {holds}, {verdict.chain}"


def summary(verdicts: list[LogVerdict]) -> str:
    """Return one line with the numbers of unchanged and changed episodes."""
    broken = sum(not verdict.holds for verdict in verdicts)
    older = sum(verdict.holds and verdict.before_chains > 0 for verdict in verdicts)
    held = len(verdicts) - broken - older
    steps = sum(verdict.steps for verdict in verdicts)
    of = f"{counted_noun(len(verdicts), 'episode')}, {counted_noun(steps, 'step')}"
    return f"{of}: {held} hold, {broken} changed, {older} written before there were chains"
