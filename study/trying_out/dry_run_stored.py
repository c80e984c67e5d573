"""What a dry run knows of a study beside its pages, and what must be stored after it."""

from __future__ import annotations

from channels.db import database_sync_to_async
from django.urls import resolve

from kitchen.play.models import Seat
from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import Study
from study.design.page_order import AFTER, BEFORE, ROUND_PAGES, is_shown
from study.design.recruitment import PLACES
from study.people.known import Known
from study.people.leaving import participant_end
from study.people.models import Participant, Round
from study.trying_out.walk.browser import path_of
from study.trying_out.walk.crowd import CrowdReport
from study.trying_out.walk.plans import Deed, Script, Stop
from study.trying_out.walk.walk import Arrival

Status = Participant.Status
STORED = {
    Deed.FINISH: {Status.COMPLETE, Status.UNMATCHED},
    Deed.DROP_OUT: {Status.ACTIVE, Status.TIMED_OUT},
    Deed.REFUSE: {Status.NO_CONSENT},
}
"""What somebody who did this may be stored as; who withdrew is not stored."""


def script_of(study: Study) -> Script:
    """What programs are told of the design: what pages do not say."""
    design, place = blueprint_of(study), PLACES[study.recruitment]
    return Script(
        stops=stops_of(design),
        right={item.key: item.correct for item in design.items if item.correct is not None},
        link_names=tuple(name for name in (place.label, *place.more) if name),
        has_check=is_shown(design, "check"),
        check_ends=design.part("check").settings["on_failure"] == "end",
    )


def stops_of(design: Blueprint) -> tuple[Stop, ...]:
    """Every page between the link and the last page, in order."""
    rounds = range(1, len(design.conditions) + 1)
    before, after = ([Stop(page) for page in pages if is_shown(design, page)] for pages in PARTS)
    return (*before, *(Stop(page, number) for number in rounds for page in ROUND_PAGES), *after)


PARTS = (BEFORE, AFTER)


def participant_of(study: Study, arrival: Arrival) -> Participant | None:
    """Whose personal link this is; None if there is nobody of it."""
    key = resolve(path_of(arrival.home)).kwargs["key"]
    return study.participants.filter(key=key).first()


async def played_at(known: Known, socket: str) -> str:
    """`condition_at`, for who does not block."""
    key: str = await database_sync_to_async(condition_at)(known, socket)
    return key


def condition_at(known: Known, socket: str) -> str:
    """The key of the condition of the round that is played there; what the program was told is stored with
    it."""
    found = Round.objects.select_related("condition").get(episode__seats__key=seat_key(socket))
    Participant.objects.filter(pk=found.participant_id, synthetic=True).update(known_effects=dict(known))
    return str(found.condition.key)


async def gone(study: Study, arrival: Arrival) -> None:
    """Who dropped out is timed out at once where the study times out at all: for programs time runs faster,
    and the next ones get the sequences that were left."""
    if arrival.deed == Deed.DROP_OUT and study.idle_minutes is not None:
        await database_sync_to_async(_time_out)(study, arrival)


def _time_out(study: Study, arrival: Arrival) -> None:
    if person := participant_of(study, arrival):
        participant_end(participant_id=person.pk, status=Status.TIMED_OUT, reason="dropped out of a dry run")


def unlike_plan(study: Study, outcome: CrowdReport, script: Script) -> list[str]:
    """Who is not stored as planned, with what is there instead; each in a few words."""
    problems = ((arrival, _problem(study, arrival, script)) for arrival in outcome.arrived)
    return [f"number {arrival.number} {arrival.deed}: {problem}" for arrival, problem in problems if problem]


def _problem(study: Study, arrival: Arrival, script: Script) -> str:
    person = participant_of(study, arrival)
    if arrival.deed == Deed.WITHDRAW:
        return _left_behind(person, arrival)
    if person is None:
        return "not stored at all"
    wanted = STORED.get(arrival.deed) or {Status.FAILED_CHECK if script.check_ends else Status.COMPLETE}
    if person.status not in wanted:
        return f"stored as {person.status}"
    return "" if person.synthetic else "not marked as synthetic"


def _left_behind(person: Participant | None, arrival: Arrival) -> str:
    """What there still is of somebody who withdrew."""
    seats = Seat.objects.filter(key__in=[seat_key(socket) for socket in arrival.sockets])
    return "the participant is still there" if person else "episodes are still there" * seats.exists()


def seat_key(socket: str) -> str:
    """The seat that a websocket's address names: its last part."""
    return socket.rstrip("/").rpartition("/")[2]
