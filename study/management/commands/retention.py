"""`python manage.py retention [--dry-run]`: erase what is older than the installation says.

`BRIGADE_KEEP_NAMES_DAYS`, `BRIGADE_KEEP_DAYS` and `BRIGADE_KEEP_EVENTS_DAYS` say so; what has no number is
kept. Run it every day. What is stopped in the middle goes on the next time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db.models import QuerySet

from kitchen.management.command_helpers import OneLineCommand
from kitchen.play.episode.create_episode import erase_rows
from kitchen.words.english_text import counted_noun
from study.participants.end_participation import (
    erase_names,
    erase_orphans,
    erase_participants,
    expired_participants,
    participants_with_names,
)
from study.participants.erasure_records import forget_completions
from study.researchers.models import SecurityEvent
from study.researchers.security_events import events_erase, expired_events


class Command(OneLineCommand):
    """Says for each study what goes, and at the end how much."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Only to look."""
        parser.add_argument("--dry-run", action="store_true", help="only say what would be erased")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        """Erase people, names, then what is noted of staff; say how much."""
        people = expired_participants(settings.KEEP_DAYS)
        named = participants_with_names(expired_participants(settings.KEEP_NAMES_DAYS)).exclude(
            pk__in=people.values("pk")
        )
        events = expired_events(settings.KEEP_EVENTS_DAYS)
        for slug, words in _by_study({"all that {} left": people, "names and free texts of {}": named}):
            self.stdout.write(f"{slug}: {words}")
        done = _numbers(people, named, events) if dry_run else _erase(people, named, events)
        told = {what: number for what, number in done.items() if number or what not in _kept_for_ever()}
        said = ", ".join(counted_noun(number, *what.split("/")) for what, number in told.items())
        self.stdout.write(f"{'would be erased' if dry_run else 'erased'}: {said}")


Rows = QuerySet[Any]
EVERYTHING, NAMES, LEFT = "person/people", "name", "episode of nobody/episodes of nobody"
CODES = "code of somebody who left/codes of people who left"
"""What is counted, and how many of it are called."""


def _kept_for_ever() -> set[str]:
    """What no number was given for, and of which there is nothing to tell."""
    given = {EVERYTHING: settings.KEEP_DAYS, NAMES: settings.KEEP_NAMES_DAYS}
    return {what for what, days in given.items() if days is None}


def _by_study(going: Mapping[str, Rows]) -> list[tuple[str, str]]:
    """What goes of each study, by slug."""
    said: dict[str, list[str]] = {}
    for words, people in going.items():
        slugs = Counter(people.values_list("study__slug", flat=True))
        for slug, number in slugs.items():
            said.setdefault(slug, []).append(words.format(counted_noun(number, "person", "people")))
    return sorted((slug, ", ".join(words)) for slug, words in said.items())


def _numbers(people: Rows, named: Rows, events: Mapping[str, Rows]) -> dict[str, int]:
    """How many would go."""
    return {EVERYTHING: people.count(), NAMES: named.count()} | {
        what: rows.count() for what, rows in events.items()
    }


def _erase(people: Rows, named: Rows, events: Mapping[str, Rows]) -> dict[str, int]:
    """How many went."""
    done = {EVERYTHING: erase_participants(list(people.values_list("pk", flat=True)))}
    done[NAMES] = erase_names(list(named.values_list("pk", flat=True)))
    done |= {what: _rows_erase(rows) for what, rows in events.items()}
    if forgotten := forget_completions(settings.KEEP_NAMES_DAYS, settings.KEEP_DAYS):
        done[CODES] = forgotten
    return done | {LEFT: erase_orphans()}


def _rows_erase(rows: Rows) -> int:
    """How many went; security events are counted."""
    return events_erase(rows) if rows.model is SecurityEvent else erase_rows(rows)
