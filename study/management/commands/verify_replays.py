"""Replay a study's episodes and compare them with the stored ones: `python manage.py verify_replays SLUG`.

An episode is one game. The command first checks each log like `verify_log`. It then replays each episode from
its seed and its stored commands, and compares every stored hash, event and score. Decisions of language
models are repeated from their stored replies, and must give the same commands. For each episode that differs,
a line gives the first difference. The last line is a summary. The exit code is 1 if an episode differs, and 2
for an invalid argument. Free text that this version reads differently is only noted if the episode's seal is
valid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError

from kitchen.replay.replay_verification import ReplayVerdict, verify_replays
from kitchen.words.english_text import counted_noun
from study.management.study_command import StudyCommand


class Command(StudyCommand):
    """Replays the episodes of a study. The stored episodes are not changed."""

    help = __doc__

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        """Print a line for each episode whose replay differs, then a summary. Raises CommandError if one
        differs."""
        verdicts = []
        for verdict in verify_replays(self.episodes(slug)):
            verdicts.append(verdict)
            if verdict.fault:
                self.stdout.write(f"{verdict.episode}: {verdict.fault}")
            elif verdict.note:
                self.stdout.write(f"{verdict.episode}: {verdict.note} (a note: its seal is valid)")
        if any(verdict.decisions for verdict in verdicts):
            self.stdout.write(of_models(verdicts))
        if any(verdict.fault for verdict in verdicts):
            raise CommandError(summary(verdicts))
        self.stdout.write(summary(verdicts))


def of_models(verdicts: Sequence[ReplayVerdict]) -> str:
    """Return one line about decisions of agents with language models: how many were repeated from stored
    replies, and why others could not be. Without any reply, such as of agents that decide by rule, the line
    does not mention replies."""
    decisions = sum(verdict.decisions for verdict in verdicts)
    replies, left = (
        sum(each.replies for each in verdicts),
        [why for each in verdicts for why in each.left_out],
    )
    made = counted_noun(decisions - len(left), "decision")
    stored = counted_noun(replies, "stored reply", "stored replies")
    line = f"{made} of language models made again, from {stored}" if replies else f"{made} made again"
    reasons = ", ".join(f"{number} because {why}" for why, number in Counter(left).most_common())
    return f"{line}; {len(left)} could not be (docs/commands.md): {reasons}" if left else line


def summary(verdicts: Sequence[ReplayVerdict]) -> str:
    """Return one line that says how many episodes replay to the same states."""
    same, number = sum(not verdict.fault for verdict in verdicts), len(verdicts)
    return (
        f"{same} of {counted_noun(number, 'episode')} {'replays' if number == 1 else 'replay'} to "
        f"the same states"
    )
