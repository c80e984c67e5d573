"""Answers to items, on whatever page they are asked."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from kitchen.contract.world import Json
from study.design.questions.rules import is_right
from study.people.flow import Way
from study.people.leaving import finish
from study.people.models import Answer, Participant, Round
from study.taking_part.going_on import go_on, locked, mark_done


@transaction.atomic
def answers_submit(*, participant_id: int, page: str, values: Mapping[str, Json], position: int = 0) -> bool:
    """Store the answers (by item key, checked by the form) of one page and go on.

    False, and nothing changed, if that page is done already or is not to be answered now.
    """
    way = Way(locked(participant_id))
    one = way.place.round if position else None
    if not mark_done(way, page, position):
        return False
    _store(way.participant, values, one=one)
    if one:
        one.answered_at = timezone.now()
    go_on(way, answered=one)
    return True


@transaction.atomic
def check_submit(*, participant_id: int, values: Mapping[str, Json], attempt: int) -> bool | None:
    """One attempt at the questions of understanding; whether all are right. After the last one the study goes
    on or is over, as the part says. None for an attempt that is not the present one, which changes nothing,
    and where a question is gone, which ends the way."""
    person = locked(participant_id)
    way = Way(person)
    if way.place.page != "check" or attempt != next_attempt(person):
        return None
    _store(person, values, attempt=attempt)
    if person.status != Participant.Status.ACTIVE:
        return None
    right = not wrong_keys(person, values)
    part = person.version.blueprint.part("check")
    if right or (attempt >= part.settings["attempts"] and part.settings["on_failure"] == "continue"):
        mark_done(way, "check")
        go_on(way)
    elif attempt >= part.settings["attempts"]:
        mark_done(way, "check")
        finish(person, Participant.Status.FAILED_CHECK)
    return right


def next_attempt(person: Participant) -> int:
    """1 before the first attempt at the check of understanding."""
    tried = person.answers.filter(round=None, item__place="check").aggregate(last=Max("attempt"))["last"]
    return (tried or 0) + 1


def wrong_keys(person: Participant, values: Mapping[str, Json]) -> list[str]:
    """The questions of understanding that these values do not answer rightly."""
    asked = person.version.blueprint.items_at("check")
    return [item.key for item in asked if is_right(item, values.get(item.key)) is False]


def _store(
    person: Participant, values: Mapping[str, Json], *, one: Round | None = None, attempt: int = 1
) -> None:
    """The answers. If an item is gone (staff's previews do not keep it), those to the others, and the way is
    over."""
    rows = {row.key: row for row in person.study.items.filter(key__in=values)}
    if gone := [key for key in values if key not in rows]:
        finish(person, Participant.Status.TECHNICAL, f"deleted meanwhile: question {', '.join(gone)}")
    Answer.objects.bulk_create(
        Answer(participant=person, round=one, item=rows[key], attempt=attempt, value=value)
        for key, value in values.items()
        if key in rows
    )
