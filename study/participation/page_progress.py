"""Move a participant from page to page: record visits, store answers, and prepare what the next page
needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from kitchen.contract.world import Json
from kitchen.play.models import Episode
from study.design.page_and_item_order import LOBBY, WAITING
from study.design.questions.item_kinds import is_right
from study.participants.end_participation import finish_participant, mark_episode_visits_done
from study.participants.entry_limits import take_place
from study.participants.models import Answer, PageVisit, Participant, Round
from study.participants.next_page import ParticipantProgress
from study.participants.participant_events import notify_staff
from study.participation.round_planning import create_practice_episode, create_round_episode, must_wait


def with_design() -> QuerySet[Participant]:
    """Participants with the study and the version that their pages are made from. What was preregistered of a
    version is long, and on none of these pages."""
    return Participant.objects.select_related("study", "version").defer("version__bundle")


def participant_of_key(key: str) -> Participant | None:
    """Whom this part of an address opens: their own key, or that of a guest."""
    if known := with_design().filter(key=key).first():
        return known
    number = key.partition("-")[0]
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    guest = with_design().filter(pk=int(number)).first()
    if guest is None or not constant_time_compare(guest.guest_key, key):
        return None
    guest.as_guest = True
    return guest


def lock_participant(participant_id: int) -> Participant:
    """The participant, alone in this transaction; Participant.DoesNotExist if the data were erased."""
    people = with_design().select_related("study__budget")
    return people.select_for_update(of=("self",)).get(pk=participant_id)


@transaction.atomic
def page_opened(*, person: Participant, page: str, position: int = 0, **kept: Any) -> None:
    """The participant sees a page: the first time counts, and how often it was loaded. What else is `kept`
    of the visit, by field, is as of the last time.

    Participant.DoesNotExist if the data were erased."""
    person.active_at = timezone.now()
    if not Participant.objects.filter(pk=person.pk).update(active_at=person.active_at):
        raise Participant.DoesNotExist(person.pk)
    theirs = PageVisit.objects.filter(participant=person, position=position)
    if page == LOBBY:  # they wait for the study's money no more
        theirs.filter(page=WAITING, done_at=None).update(done_at=person.active_at)
    seen = theirs.filter(page=page)
    if not seen.update(
        loads=F("loads") + 1, **kept
    ):  # nobody else can make it: the participant's row is held
        PageVisit.objects.create(participant=person, page=page, position=position, loads=1, **kept)
    mark_episode_visits_done(person.pk)
    notify_staff(person)


@transaction.atomic
def finish_page(*, participant_id: int, page: str) -> bool:
    """The participant goes on from a page that asks nothing. False if this is not the page that is on now, or
    if an episode on it still runs."""
    person = lock_participant(participant_id)
    if page == "practice" and not _over(person.practice):
        return False
    way = ParticipantProgress(person)
    if not mark_page_done(way, page):
        return False
    prepare_next_page(way)
    return True


@transaction.atomic
def begin_round(*, participant_id: int) -> bool:
    """Begin the round that waits; False, and nothing changed, if it is to wait on."""
    person = lock_participant(participant_id)
    way = ParticipantProgress(person)
    waited = way.place
    if waited.page == WAITING:
        prepare_next_page(way)
    if way.place.page == WAITING:
        return False
    if waited.page == WAITING:
        _note(person, WAITING, waited.position)
        notify_staff(person)
    return True


def is_waiting(person: Participant) -> bool:
    """Whether their next round waits for money."""
    place = ParticipantProgress(person).place
    return place.page in {LOBBY, WAITING} and place.round is not None and must_wait(person, place.round)


def may_practise_again(person: Participant) -> bool:
    """Whether practice, which was to last until something was achieved, ended without: once more, then."""
    practice = person.practice
    missed = practice is not None and practice.until and practice.status == Episode.Status.OVER
    return bool(missed) and person.first_practice_id is None


@transaction.atomic
def practice_again(*, participant_id: int) -> bool:
    """A second episode to practise in; False, and nothing made, if there is none to be had or another page is
    on."""
    person = lock_participant(participant_id)
    if not may_practise_again(person) or ParticipantProgress(person).place.page != "practice":
        return False
    again = create_practice_episode(person)
    person.first_practice, person.practice = person.practice, again
    person.save(update_fields=["first_practice", "practice"])
    notify_staff(person)
    return True


def _over(episode: Episode | None) -> bool:
    return episode is not None and episode.status != Episode.Status.PLAYING


def mark_page_done(way: ParticipantProgress, page: str, position: int = 0, *, stays: bool = True) -> bool:
    """Note that this page is done; False, and nothing noted, if it is not the participant's page now. Who
    `stays` takes a place by it: StudyClosedError if none is left."""
    person, place = way.participant, way.place
    if (place.page, place.position) != (page, position):
        return False
    if stays:
        take_place(person)
    person.active_at = timezone.now()
    _note(person, page, position)
    if not position:
        way.done.add(page)
    person.save(update_fields=["active_at"])
    notify_staff(person)
    return True


def _note(person: Participant, page: str, position: int) -> None:
    """A page that is sent was opened before, which noted the episodes that had ended by then."""
    seen = PageVisit.objects.filter(participant=person, page=page, position=position)
    if seen.update(done_at=person.active_at):
        return
    now = person.active_at
    PageVisit.objects.create(participant=person, page=page, position=position, opened_at=now, done_at=now)
    mark_episode_visits_done(person.pk)


def prepare_next_page(way: ParticipantProgress, *, answered: Round | None = None) -> None:
    """Make what the page that comes now needs: an episode, unless it is to wait for money, or the end. Stores
    the round that was `answered` along with the one that begins."""
    person, place = way.participant, way.place
    changed = [answered] if answered else []
    if place.page == WAITING and place.round:
        if not must_wait(person, place.round):
            place.round.episode = create_round_episode(place.round, person)
            changed.append(place.round)
    elif place.page == "practice" and person.practice is None:
        person.practice = create_practice_episode(person)
        person.save(update_fields=["practice"])
    elif place.page == "end" and person.status == Participant.Status.ACTIVE:
        finish_participant(person, Participant.Status.COMPLETE)
    Round.objects.bulk_update(changed, ["answered_at", "episode"])


@transaction.atomic
def answers_submit(*, participant_id: int, page: str, values: Mapping[str, Json], position: int = 0) -> bool:
    """Store the answers (by item key, checked by the form) of one page and go on.

    False, and nothing changed, if that page is done already or is not to be answered now.
    """
    way = ParticipantProgress(lock_participant(participant_id))
    one = way.place.round if position else None
    if not mark_page_done(way, page, position):
        return False
    _store(way.participant, values, one=one)
    if one:
        one.answered_at = timezone.now()
    prepare_next_page(way, answered=one)
    return True


@transaction.atomic
def check_submit(*, participant_id: int, values: Mapping[str, Json], attempt: int) -> bool | None:
    """One attempt at the questions of understanding; whether all are right. After the last one the study goes
    on or is over, as the part says. None for an attempt that is not the present one, which changes nothing,
    and where a question is gone, which ends the way."""
    person = lock_participant(participant_id)
    way = ParticipantProgress(person)
    if way.place.page != "check" or attempt != next_check_attempt(person):
        return None
    _store(person, values, attempt=attempt)
    if person.status != Participant.Status.ACTIVE:
        return None
    right = not wrong_check_items(person, values)
    part = person.version.blueprint.part("check")
    if right or (attempt >= part.settings["attempts"] and part.settings["on_failure"] == "continue"):
        mark_page_done(way, "check")
        prepare_next_page(way)
    elif attempt >= part.settings["attempts"]:
        mark_page_done(way, "check")
        finish_participant(person, Participant.Status.FAILED_CHECK)
    return right


def next_check_attempt(person: Participant) -> int:
    """1 before the first attempt at the check of understanding."""
    tried = person.answers.filter(round=None, item__place="check").aggregate(last=Max("attempt"))["last"]
    return (tried or 0) + 1


def wrong_check_items(person: Participant, values: Mapping[str, Json]) -> list[str]:
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
        finish_participant(
            person, Participant.Status.TECHNICAL, f"deleted meanwhile: question {', '.join(gone)}"
        )
    Answer.objects.bulk_create(
        Answer(participant=person, round=one, item=rows[key], attempt=attempt, value=value)
        for key, value in values.items()
        if key in rows
    )
