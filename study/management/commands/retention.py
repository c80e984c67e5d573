"""Erase data that are older than this installation's limits: `python manage.py retention [--dry-run]`.

The environment variables `BRIGADE_KEEP_NAMES_DAYS`, `BRIGADE_KEEP_DAYS` and `BRIGADE_KEEP_EVENTS_DAYS` set
the limits. Data without a limit are kept. Run the command every day. If a run is interrupted, the next one
continues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db.models import QuerySet

from kitchen.management.command_helpers import OneLineCommand
from kitchen.play.episode.erase_episode import erase_rows
from kitchen.words.english_text import counted_noun
from study.participants.end_and_erase_participation import (
    erase_names,
    erase_orphans,
    erase_participants,
    expired_participants,
    forget_completions,
    participants_with_names,
)
from study.researchers.models import SecurityEvent
from study.researchers.security_events import events_erase, expired_events


class Command(OneLineCommand):
    """Erases expired data. It prints what is erased in each study, and the totals at the end."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the option `--dry-run`, which only prints what would be erased."""
        parser.add_argument("--dry-run", action="store_true", help="only say what would be erased")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        """Erase expired participants, names and security events, and print the numbers. With `dry_run`,
        only print them."""
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
"""The kinds of erased rows, as singular or singular/plural for the output."""


def _kept_for_ever() -> set[str]:
    """Return the kinds of data without a time limit. The command prints nothing about them."""
    given = {EVERYTHING: settings.KEEP_DAYS, NAMES: settings.KEEP_NAMES_DAYS}
    return {what for what, days in given.items() if days is None}


def _by_study(going: Mapping[str, Rows]) -> list[tuple[str, str]]:
    """Return (slug, text) pairs. Each text says what will be erased of that study."""
    said: dict[str, list[str]] = {}
    for words, people in going.items():
        slugs = Counter(people.values_list("study__slug", flat=True))
        for slug, number in slugs.items():
            said.setdefault(slug, []).append(words.format(counted_noun(number, "person", "people")))
    return sorted((slug, ", ".join(words)) for slug, words in said.items())


def _numbers(people: Rows, named: Rows, events: Mapping[str, Rows]) -> dict[str, int]:
    """Return the numbers of participants, names and security events that would be erased, by kind."""
    return {EVERYTHING: people.count(), NAMES: named.count()} | {
        what: rows.count() for what, rows in events.items()
    }


def _erase(people: Rows, named: Rows, events: Mapping[str, Rows]) -> dict[str, int]:
    """Erase these participants, names and security events. Return how many were erased, by kind."""
    done = {EVERYTHING: erase_participants(list(people.values_list("pk", flat=True)))}
    done[NAMES] = erase_names(list(named.values_list("pk", flat=True)))
    done |= {what: _rows_erase(rows) for what, rows in events.items()}
    if forgotten := forget_completions(settings.KEEP_NAMES_DAYS, settings.KEEP_DAYS):
        done[CODES] = forgotten
    return done | {LEFT: erase_orphans()}


def _rows_erase(rows: Rows) -> int:
    """Erase these database rows and return their number. If they are security events, the number of the
    last erased event is recorded."""
    return events_erase(rows) if rows.model is SecurityEvent else erase_rows(rows)
