"""`python manage.py verify_log [SLUG]`: does the log still hold what was written?

Every step holds a hash of itself and of all before it. A line for each episode says how many steps it has
and the last of its hashes, or which steps are not as they were written; the last line sums up. Without a
study, all episodes are read. Exit code 1 where something was changed or anybody could change it, 2 for a
wrong argument.
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
    """Reads, and changes nothing."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """One study, or all there is."""
        parser.add_argument("slug", metavar="SLUG", nargs="?", help="the study's slug (default: everything)")

    def handle(self, *args: Any, slug: str | None, **options: Any) -> None:
        """A line for each episode, then what they come to."""
        episodes = Episode.objects.all() if slug is None else self.episodes(slug)
        unguarded = unguarded_tables()
        for table in unguarded:
            self.stdout.write(f"{table}: rows can be changed, the database's trigger is gone or another one")
        others = self._others(slug)
        for said_of_it in others:
            self.stdout.write(said_of_it)
        verdicts = []
        for verdict in verify_episode_logs(episodes):
            self.stdout.write(said(verdict))
            verdicts.append(verdict)
        line = summary(verdicts)
        if unguarded or others or not all(verdict.holds for verdict in verdicts):
            raise CommandError(line)
        self.stdout.write(line)

    def _others(self, slug: str | None) -> list[str]:
        """What is wrong beside the episodes: with what staff did; where all is read, with security events and
        with the logs of experiments."""
        actions = StaffAction.objects.all()
        if slug is not None:
            return list(changed_staff_actions(actions.filter(study__slug=slug)))
        return [*changed_staff_actions(actions), *events_verify(), *verify_logs()]


def said(verdict: LogVerdict) -> str:
    """One episode in one line."""
    if verdict.faults:
        return f"{verdict.episode}: {'; '.join(map(str, verdict.faults))}"
    if verdict.before_chains:
        return f"{verdict.episode}: {counted_noun(verdict.steps, 'step')}, written before there were chains"
    holds = "holds" if verdict.is_over else "holds so far"
    return f"{verdict.episode}: {counted_noun(verdict.steps, 'step')}, {holds}, {verdict.chain}"


def summary(verdicts: list[LogVerdict]) -> str:
    """All of them in one line."""
    broken = sum(not verdict.holds for verdict in verdicts)
    older = sum(verdict.holds and verdict.before_chains > 0 for verdict in verdicts)
    held = len(verdicts) - broken - older
    steps = sum(verdict.steps for verdict in verdicts)
    of = f"{counted_noun(len(verdicts), 'episode')}, {counted_noun(steps, 'step')}"
    return f"{of}: {held} hold, {broken} changed, {older} written before there were chains"
