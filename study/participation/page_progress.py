"""Move a participant from page to page: record the visit, store answers, and prepare the next page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from kitchen.contract.world import Json
from kitchen.play.models import Episode
from study.design.models import SurveyItem
from study.design.own_pages import (
    OwnPagePlan,
    ParticipantFacts,
    ShownByRule,
    is_page_shown,
    screen_out_reason,
)
from study.design.page_and_item_order import LOBBY, READY, WAITING, own_page
from study.design.part_rules import shown_by_rule, survey_rule
from study.design.questions.item_kinds import is_right
from study.design.session_breaks import DUE
from study.design.study_errors import StudyClosedError
from study.participants.current_breaks import current_break
from study.participants.end_and_erase_participation import finish_participant, mark_episode_visits_done
from study.participants.entry_limits import take_place
from study.participants.models import Answer, PageVisit, Participant, Round
from study.participants.next_page import ParticipantProgress
from study.participants.participant_facts import participant_facts
from study.participants.participant_notifications import notify_staff
from study.participants.rule_counts import rule_counts
from study.participation.group_assignment import needs_answers_first
from study.participation.round_planning import (
    create_practice_episode,
    create_round_episode,
    must_wait,
    plan_rounds,
)


def with_design() -> QuerySet[Participant]:
    """Return a query of participants that also loads their study and version, which the pages need. The
    version's large field `bundle` is not loaded."""
    return Participant.objects.select_related("study", "version").defer("version__bundle")


def participant_of_key(key: str) -> Participant | None:
    """Return the participant with this personal key or guest key, as it appears in page addresses. Return
    None if there is none. A participant found by the guest key has `as_guest` set."""
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
    """Return the participant, locked until the transaction ends. Raises Participant.DoesNotExist if the data
    were erased."""
    people = with_design().select_related("study__budget")
    return people.select_for_update(of=("self",)).get(pk=participant_id)


@transaction.atomic
def page_opened(*, person: Participant, page: str, position: int = 0, **fields: Any) -> None:
    """Record that the participant opened a page: the time of the first visit and the number of loads.

    `fields` are further fields of the visit; the latest values are stored. Raises Participant.DoesNotExist
    if the data were erased.
    """
    person.active_at = timezone.now()
    if not Participant.objects.filter(pk=person.pk).update(active_at=person.active_at):
        raise Participant.DoesNotExist(person.pk)
    theirs = PageVisit.objects.filter(participant=person, position=position)
    if page == LOBBY:  # the wait for the study's budget is over
        theirs.filter(page=WAITING, done_at=None).update(done_at=person.active_at)
    seen = theirs.filter(page=page)
    if not seen.update(loads=F("loads") + 1, **fields):  # the participant's row is locked: nobody creates it
        PageVisit.objects.create(participant=person, page=page, position=position, loads=1, **fields)
    mark_episode_visits_done(person.pk)
    notify_staff(person)


@transaction.atomic
def finish_page(*, participant_id: int, page: str) -> bool:
    """Mark a page without questions as done, and prepare the next page. Return False if the page is not
    the current one, if an episode on it still runs, or if it is a break that is not over."""
    person = lock_participant(participant_id)
    if page == "practice" and (not person.practice or person.practice.status == Episode.Status.PLAYING):
        return False
    progress = ParticipantProgress(person)
    if not _may_go_on(person, page) or not mark_page_done(progress, page):
        return False
    prepare_next_page(progress)
    return True


def _may_go_on(person: Participant, page: str) -> bool:
    """Return False for the page of a break from which the participant may not come back yet, or not any
    more."""
    own = own_page(person.version.blueprint, page)
    if own is None or not own.is_break:
        return True
    found = current_break(person)
    return found is not None and found.page == own.key and found.state(timezone.now()) == DUE


@transaction.atomic
def begin_round(*, participant_id: int) -> bool:
    """Begin a round that could not begin before, because the study's budget could not pay for it. Return
    False, without a change, if it still cannot begin."""
    person = lock_participant(participant_id)
    progress = ParticipantProgress(person)
    waited = progress.place
    if waited.page == WAITING:
        prepare_next_page(progress)
    if progress.place.page == WAITING:
        return False
    if waited.page == WAITING:
        _mark_visit_done(person, WAITING, waited.position)
        notify_staff(person)
    return True


@transaction.atomic
def finish_ready_card(*, participant_id: int) -> None:
    """Record that the participant is ready for the round whose card is shown. Nothing changes if the card is
    not the participant's page."""
    person = lock_participant(participant_id)
    place = ParticipantProgress(person).place
    if place.page == "play":
        person.active_at = timezone.now()
        _mark_visit_done(person, READY, place.position)
        person.save(update_fields=["active_at"])


def is_waiting(person: Participant) -> bool:
    """Return whether the participant's next round waits because the study's budget cannot pay for it."""
    place = ParticipantProgress(person).place
    return place.page in {LOBBY, WAITING} and place.round is not None and must_wait(person, place.round)


def may_practise_again(person: Participant) -> bool:
    """Return whether the participant may practise a second time: the first practice ended without reaching
    its goal."""
    practice = person.practice
    missed = practice is not None and practice.until and practice.status == Episode.Status.OVER
    return bool(missed) and person.first_practice_id is None


@transaction.atomic
def practice_again(*, participant_id: int) -> bool:
    """Create a second practice episode. Return False, without a change, if none is allowed or practice is not
    the current page."""
    person = lock_participant(participant_id)
    if not may_practise_again(person) or ParticipantProgress(person).place.page != "practice":
        return False
    again = create_practice_episode(person)
    person.first_practice, person.practice = person.practice, again
    person.save(update_fields=["first_practice", "practice"])
    notify_staff(person)
    return True


def mark_page_done(
    progress: ParticipantProgress, page: str, position: int = 0, *, stays: bool = True
) -> bool:
    """Record that this page is done. Return False, without a change, if it is not the current page.

    With `stays`, the participant also takes up one of the study's limited places. Raises StudyClosedError
    if no place is left.
    """
    person, place = progress.participant, progress.place
    if (place.page, place.position) != (page, position):
        return False
    if stays:
        take_place(person)
    person.active_at = timezone.now()
    _mark_visit_done(person, page, position)
    if not position:
        progress.done.add(page)
    person.save(update_fields=["active_at"])
    notify_staff(person)
    return True


def _mark_visit_done(person: Participant, page: str, position: int) -> None:
    """Store the time at which the participant finished the page. If the page was never opened, the record of
    the visit is created now, and visits to pages of ended episodes get an end time."""
    seen = PageVisit.objects.filter(participant=person, page=page, position=position)
    if seen.update(done_at=person.active_at):
        return
    now = person.active_at
    PageVisit.objects.create(participant=person, page=page, position=position, opened_at=now, done_at=now)
    mark_episode_visits_done(person.pk)


def prepare_next_page(progress: ParticipantProgress, *, answered: Round | None = None) -> None:
    """Prepare the participant's next page. A round or practice gets its episode, except while the study's
    budget cannot pay for it. At the last page, the participation becomes complete. At a page that ends the
    study, it ends: the last page shows the text of that page.

    `answered` is the round that was just answered, if any. It is stored in the same query as the new round.
    """
    _skip_or_end_by_rules(progress)
    person, place = progress.participant, progress.place
    changed = [answered] if answered else []
    if place.page == WAITING and place.round:
        if not must_wait(person, place.round, locks=True):
            place.round.episode = create_round_episode(place.round, person)
            changed.append(place.round)
    elif place.page == "practice" and person.practice is None:
        person.practice = create_practice_episode(person)
        person.save(update_fields=["practice"])
    elif place.page == "end" and person.status == Participant.Status.ACTIVE:
        finish_participant(person, Participant.Status.COMPLETE)
    Round.objects.bulk_update(changed, ["answered_at", "episode"])


def _skip_or_end_by_rules(progress: ParticipantProgress) -> None:
    """Mark the pages and parts that come next as done, as far as their rules leave them out for this
    participant. The decision is stored: the visit of such a page has 0 loads.

    If the first page that is not left out ends the study, the participation ends now. So nobody can withdraw
    on that page and try other answers.
    """
    design = progress.participant.version.blueprint
    while page := shown_by_rule(design, progress.place.page):
        if not page.show_if.rules or is_page_shown(page, _facts_for(progress, page)):
            if isinstance(page, OwnPagePlan):
                _begin_own_page(progress.participant, page)
            return
        _leave_out(progress, page.page)


def _begin_own_page(person: Participant, page: OwnPagePlan) -> None:
    """End the participation if the page ends the study. A break begins now, whether its page is loaded or
    not."""
    if page.ends:
        finish_participant(person, Participant.Status.SCREENED_OUT, screen_out_reason(page))
    elif page.is_break:
        PageVisit.objects.get_or_create(participant=person, page=page.page, position=0)


def _leave_out(progress: ParticipantProgress, page: str) -> None:
    """Mark a page as done that the participant was not shown."""
    now, person = timezone.now(), progress.participant
    PageVisit.objects.get_or_create(participant=person, page=page, position=0, defaults={"opened_at": now})
    PageVisit.objects.filter(participant=person, page=page).update(done_at=now)
    progress.done.add(page)


def _facts_for(progress: ParticipantProgress, page: ShownByRule) -> ParticipantFacts:
    """Return the facts that the rule of this page compares."""
    facts = participant_facts(progress)
    return replace(facts, counts=rule_counts(progress.participant, page, facts.answers))


@transaction.atomic
def survey_left_out(*, participant_id: int) -> bool:
    """Leave out the survey after the round just played, if its rule says so. Return whether it was left out.

    The decision is kept: a survey that was shown once is not left out later, and the visit of one that is
    left out has 0 loads.
    """
    progress = ParticipantProgress(lock_participant(participant_id))
    person, place = progress.participant, progress.place
    rule, one = survey_rule(person.version.blueprint), place.round
    if place.page != "survey" or rule is None or one is None:
        return False
    seen = person.visits.filter(page="survey", position=place.position)
    if seen.exists() or is_page_shown(rule, _facts_for(progress, rule)):
        return False
    now = timezone.now()
    seen.create(participant=person, page="survey", position=place.position, opened_at=now, done_at=now)
    one.answered_at = now
    prepare_next_page(progress, answered=one)
    notify_staff(person)
    return True


@transaction.atomic
def answers_submit(*, participant_id: int, page: str, values: Mapping[str, Json], position: int = 0) -> bool:
    """Store the answers of one page, and prepare the next page. `values` are answers by item key, already
    checked by the form.

    After the questions about the person, the rounds are planned if they depend on the answers. If no group
    is open for them, the answers are kept and the participation ends. So nobody can try other answers.

    Return False, without a change, if the page is not the current page, for example because it is done
    already. Raises StudyClosedError if the study has no place for the participant.
    """
    progress = ParticipantProgress(lock_participant(participant_id))
    one = progress.place.round if position else None
    if not mark_page_done(progress, page, position):
        return False
    _store(progress.participant, values, one=one)
    if one:
        one.answered_at = timezone.now()
    elif page == SurveyItem.Place.ABOUT:
        _plan_after_answers(progress)
    prepare_next_page(progress, answered=one)
    return True


def _plan_after_answers(progress: ParticipantProgress) -> None:
    """Plan the rounds of a participant who has just answered the questions about the person, if the rounds
    depend on these answers. If no group is open, the participation ends."""
    person = progress.participant
    is_active = person.status == Participant.Status.ACTIVE
    if is_active and needs_answers_first(person.version.blueprint):
        try:
            plan_rounds(person)
        except StudyClosedError:
            finish_participant(person, Participant.Status.NO_PLACE, "quotas: no group is open")
        progress.reload_rounds()


@transaction.atomic
def check_submit(*, participant_id: int, values: Mapping[str, Json], attempt: int) -> bool | None:
    """Store one attempt at the comprehension check, and return whether all answers are right. After the last
    wrong attempt the study continues or ends, as its design says.

    Return None, without a change, if `attempt` is not the number of the current attempt. Return None and end
    the participation if an item was deleted.
    """
    person = lock_participant(participant_id)
    progress = ParticipantProgress(person)
    if progress.place.page != "check" or attempt != next_check_attempt(person):
        return None
    _store(person, values, attempt=attempt)
    if person.status != Participant.Status.ACTIVE:
        return None
    right = not wrong_check_items(person, values)
    part = person.version.blueprint.part("check")
    if right or (attempt >= part.settings["attempts"] and part.settings["on_failure"] == "continue"):
        mark_page_done(progress, "check")
        prepare_next_page(progress)
    elif attempt >= part.settings["attempts"]:
        mark_page_done(progress, "check")
        finish_participant(person, Participant.Status.FAILED_CHECK)
    return right


def next_check_attempt(person: Participant) -> int:
    """Return the number of the next attempt at the comprehension check; the first is 1."""
    last = person.answers.filter(round=None, item__place="check").aggregate(last=Max("attempt"))["last"]
    return (last or 0) + 1


def wrong_check_items(person: Participant, values: Mapping[str, Json]) -> list[str]:
    """Return the keys of the comprehension check's items that these values answer wrongly."""
    asked = person.version.blueprint.items_at("check")
    return [item.key for item in asked if is_right(item, values.get(item.key)) is False]


def _store(
    person: Participant, values: Mapping[str, Json], *, one: Round | None = None, attempt: int = 1
) -> None:
    """Store the answers of one page. `one` is its round, if it has one. `attempt` is the number of the
    attempt.

    If an item was deleted meanwhile, the other answers are stored and the participation ends. Staff previews
    do not prevent a deletion.
    """
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
