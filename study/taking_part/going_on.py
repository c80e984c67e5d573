"""From page to page: what was seen, what is done, and what the next page needs."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from kitchen.play.models import Episode
from study.design.page_order import LOBBY, WAITING
from study.people.flow import Way
from study.people.leaving import finish
from study.people.models import PageVisit, Participant, Round
from study.people.news import tell
from study.people.places import place_take
from study.people.visits import plays_done
from study.taking_part.money import must_wait
from study.taking_part.rounds import practice_episode, round_episode


def with_design() -> QuerySet[Participant]:
    """Participants with the study and the version that their pages are made from. What was preregistered of a
    version is long, and on none of these pages."""
    return Participant.objects.select_related("study", "version").defer("version__bundle")


def person_of(key: str) -> Participant | None:
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


def locked(participant_id: int) -> Participant:
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
    plays_done(person.pk)
    tell(person)


@transaction.atomic
def page_done(*, participant_id: int, page: str) -> bool:
    """The participant goes on from a page that asks nothing. False if this is not the page that is on now, or
    if an episode on it still runs."""
    person = locked(participant_id)
    if page == "practice" and not _over(person.practice):
        return False
    way = Way(person)
    if not mark_done(way, page):
        return False
    go_on(way)
    return True


@transaction.atomic
def round_begin(*, participant_id: int) -> bool:
    """Begin the round that waits; False, and nothing changed, if it is to wait on."""
    person = locked(participant_id)
    way = Way(person)
    waited = way.place
    if waited.page == WAITING:
        go_on(way)
    if way.place.page == WAITING:
        return False
    if waited.page == WAITING:
        _note(person, WAITING, waited.position)
        tell(person)
    return True


def is_waiting(person: Participant) -> bool:
    """Whether their next round waits for money."""
    place = Way(person).place
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
    person = locked(participant_id)
    if not may_practise_again(person) or Way(person).place.page != "practice":
        return False
    again = practice_episode(person)
    person.first_practice, person.practice = person.practice, again
    person.save(update_fields=["first_practice", "practice"])
    tell(person)
    return True


def _over(episode: Episode | None) -> bool:
    return episode is not None and episode.status != Episode.Status.PLAYING


def mark_done(way: Way, page: str, position: int = 0, *, stays: bool = True) -> bool:
    """Note that this page is done; False, and nothing noted, if it is not the participant's page now. Who
    `stays` takes a place by it: StudyClosedError if none is left."""
    person, place = way.participant, way.place
    if (place.page, place.position) != (page, position):
        return False
    if stays:
        place_take(person)
    person.active_at = timezone.now()
    _note(person, page, position)
    if not position:
        way.done.add(page)
    person.save(update_fields=["active_at"])
    tell(person)
    return True


def _note(person: Participant, page: str, position: int) -> None:
    """A page that is sent was opened before, which noted the episodes that had ended by then."""
    seen = PageVisit.objects.filter(participant=person, page=page, position=position)
    if seen.update(done_at=person.active_at):
        return
    now = person.active_at
    PageVisit.objects.create(participant=person, page=page, position=position, opened_at=now, done_at=now)
    plays_done(person.pk)


def go_on(way: Way, *, answered: Round | None = None) -> None:
    """Make what the page that comes now needs: an episode, unless it is to wait for money, or the end. Stores
    the round that was `answered` along with the one that begins."""
    person, place = way.participant, way.place
    changed = [answered] if answered else []
    if place.page == WAITING and place.round:
        if not must_wait(person, place.round):
            place.round.episode = round_episode(place.round, person)
            changed.append(place.round)
    elif place.page == "practice" and person.practice is None:
        person.practice = practice_episode(person)
        person.save(update_fields=["practice"])
    elif place.page == "end" and person.status == Participant.Status.ACTIVE:
        finish(person, Participant.Status.COMPLETE)
    Round.objects.bulk_update(changed, ["answered_at", "episode"])
