"""Compute what the page of a seat, or of a leader without a seat, may show now, with hints. Read-only.

A leader without a seat sees what the organisation allows, and no menu. Hints for practice are made for one
seat from what this seat may know. The same state gives the same hint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef

from kitchen.contract.agent import Situation
from kitchen.contract.agent_skills import SeatObservation
from kitchen.contract.assigned_jobs import jobs_in
from kitchen.contract.organisation import SAY, Member, Organisation
from kitchen.contract.page import Page, PlayerView, SeatView, StepView
from kitchen.contract.planned_commands import visible_plans
from kitchen.contract.world import Aim, Command, Intent, Json, World
from kitchen.play.models import Episode, Seat, SeatCommand
from kitchen.play.turn import state_store, step_timer
from kitchen.play.turn.conversation import conversation_partners, messages_known_to
from kitchen.play.turn.decision_records import known_intents
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.state_store import PastStep
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_rules import asked_seats, passed_by_seats
from kitchen.play.turn.websocket_messages import StateMessage, TurnStamp
from kitchen.registry.agent_registry import agent_kinds, get_adviser, get_agent, get_skills
from kitchen.registry.world_metrics import achievements
from kitchen.registry.world_registry import get_kit, get_page
from kitchen.words.translation import gettext, pgettext


def leader_view(turn: OpenTurn, number: int) -> SeatView:
    """Return everything that this leader's page shows in this turn, except messages."""
    episode, world, page = turn.episode, turn.world, get_page(turn.episode.world)
    seen = seats_leader_sees(turn, number)
    eyes = seen[0] if seen else None
    return SeatView(
        seat=number,
        phase="lead" if turn.is_open else "over",
        step=episode.step,
        length=world.length,
        label=episode.label,
        players=tuple(
            PlayerView(seat.number, page.named(seat.number + 1), is_you=False) for seat in turn.acting
        ),
        waiting_for=(),
        brief=world.public_brief(),
        observation={} if eyes is None else world.observe(eyes),
        legal=(),
        anticipated=(),
        chosen=None,
        history=tuple(_known(turn, step, seen) for step in turn.past) if seen else (),
        score=episode.score,
        achieved=achievements(episode.world, episode.score),
        figures=tuple(figure for figure in world.figures if figure.words),
        step_seconds=episode.step_seconds,
        ended_by_staff=episode.status == Episode.Status.ABORTED,
        until=bool(episode.until),
        reached=episode.status == Episode.Status.REACHED,
        abandoned_because=episode.ended_because if episode.status == Episode.Status.ABANDONED else "",
        shown=episode.shown,
        shows_intents=episode.shows_intents and eyes is not None,
        plans=_known_plans_of(turn, eyes),
        intents=known_intents(world, eyes, turn.intents) if turn.is_open and eyes is not None else {},
        acts=False,
        looks_on=bool(page.overview_layout) and eyes is not None,
    )


def seats_leader_sees(turn: OpenTurn, number: int) -> tuple[int, ...]:
    """Return the seats whose observations this member receives."""
    organisation = turn.episode.team
    return organisation.seats_seen(number) if organisation else ()


def _known(turn: OpenTurn, step: PastStep, seen: tuple[int, ...]) -> StepView:
    """Return what these seats together know about a past step."""
    commands: dict[int, Command] = {}
    for seat in seen:
        commands |= step.known(turn.world, seat).commands
    return StepView(step.number, commands, state_store.known_events(turn.world, seen, step.events))


def _known_plans_of(turn: OpenTurn, eyes: int | None) -> dict[int, tuple[Command, ...]]:
    if eyes is None or not turn.episode.shows_intents:
        return {}
    return visible_plans(turn.world, eyes, turn.plans, turn.step, others=True)


class Hints(NamedTuple):
    """Sentences shown before a step, and the command that the last sentence is about."""

    sentences: tuple[str, ...]
    command: Command | None = None


def hints_for(world: World, view: SeatView) -> Hints:
    """Return the hints for the person in this seat before this step, one sentence each."""
    page = get_page(world.kind)
    first = [gettext(text) for text in page.first_steps[view.step : view.step + 1]]
    if view.until and view.step == 1:
        first.append(page.aim.format(steps=view.length))
    advice = get_adviser(world.kind).lead(_situation(world, view))
    if advice is None or advice.command not in view.legal:
        return Hints((*first, page.general_hint))
    return Hints((*first, page.hint(view, advice.command, advice.aim)), advice.command)


def page_instructions(page: Page) -> tuple[str, ...]:
    """Return the instructions for using the page, all at once.

    For real-time episodes, where a hint for the next step would be outdated at once.
    """
    return tuple(gettext(text) for text in page.first_steps)


def realtime_hint(world: World, seat: int, brief: Mapping[str, Json]) -> Intent:
    """Return the intent of a sensible player in this seat, in the form of `Decision.intents`.

    In a real-time episode, it holds for many steps. Empty if the world has no skills or no words for them.
    """
    if not get_kit(world.kind).skills:
        return {}
    skills = get_skills(world.kind)
    sight = SeatObservation(seat, brief, world.observe(seat), world.legal_actions(seat))
    return skills.intent(skills.errand(sight))


def _situation(world: World, view: SeatView) -> Situation:
    return Situation(
        world=world.kind,
        step=view.step,
        seats=(view.seat,),
        briefs={view.seat: view.brief},
        observations={view.seat: view.observation},
        legal={view.seat: view.legal},
        people=(view.seat,),
        seed=view.step,
    )


MESSAGES_SHOWN = 30
"""Number of newest messages shown on a page."""
FINISHED_JOBS_SHOWN = 6
"""Number of newest finished jobs shown on a page, besides all open jobs."""


def seat_by_key(key: str) -> Seat | None:
    """Return the person's seat with this key, with the constant fields of its episode. None if there is
    none.
    """
    seats = Seat.objects.select_related("episode").defer("episode__state")
    return seats.filter(key=key, mind=None).first()


def is_taken_over(key: str) -> bool:
    """Return True if this key belonged to a seat that an agent has taken over since."""
    return Seat.objects.filter(key=key, mind__isnull=False, episode__gone__isnull=False).exists()


def world_page_of(seat: Seat) -> Page:
    """Return the page definition of this seat's world."""
    return get_page(seat.episode.world)


def current_seat_view(seat: Seat) -> SeatView:
    """Return everything that the page of this seat shows now. Raises Episode.DoesNotExist."""
    with read_turn(seat.episode_id) as turn:
        return seat_view_in_turn(turn, seat.number)


def seat_view_in_turn(turn: OpenTurn, number: int) -> SeatView:
    """Return everything that the page of this seat shows in this turn."""
    if number in turn.leaders:
        return replace(leader_view(turn, number), **_talk(turn, number, get_page(turn.episode.world)))
    episode, world, page = turn.episode, turn.world, get_page(turn.episode.world)
    missing = _missing(turn)
    phase = _phase(turn, number, missing)
    choosing = phase == "choose"
    may_act = turn.is_open and number in turn.may_act
    offered, passed_by = choosing or may_act, passed_by_seats(turn) | turn.may_act
    chosen = turn.given.get(number)
    earlier = tuple(seat for seat in turn.people if seat < number)
    view = SeatView(
        seat=number,
        phase=phase,
        step=episode.step,
        length=world.length,
        label=episode.label,
        players=tuple(
            PlayerView(seat.number, page.named(seat.number + 1), seat.number == number)
            for seat in turn.acting
        ),
        waiting_for=tuple(seat.number for seat in missing) if phase != "over" else (),
        brief=turn.briefs[number],
        observation=world.observe(number),
        legal=world.legal_actions(number) if offered else (),
        anticipated=world.anticipated_actions(number, earlier) if choosing else (),
        amounts=world.amounts(number) if offered else {},
        chosen=state_store.command_from_json(chosen.command) if chosen and number not in passed_by else None,
        history=tuple(step.known(world, number) for step in turn.past),
        score=episode.score,
        achieved=achievements(episode.world, episode.score),
        figures=tuple(figure for figure in world.figures if figure.words),
        step_seconds=episode.step_seconds,
        seconds_left=step_timer.seconds_left(episode) if choosing else None,
        ended_by_staff=episode.status == Episode.Status.ABORTED,
        until=bool(episode.until),
        reached=episode.status == Episode.Status.REACHED,
        abandoned_because=episode.ended_because if episode.status == Episode.Status.ABANDONED else "",
        shown=episode.shown,
        tick_ms=episode.tick_ms,
        passed_by=number in passed_by,
        may_act=may_act,
        taken_over=_taken_over(turn),
        shows_intents=episode.shows_intents,
        offers_plans=episode.offers_plans,
        plannable=world.plannable(number) if episode.offers_plans and offered else (),
        plans=visible_plans(world, number, turn.plans, turn.step, others=episode.shows_intents),
        intents=known_intents(world, number, turn.intents) if turn.is_open else {},
    )
    view = replace(view, **_talk(turn, number, page))
    if not (episode.hints and choosing):
        return view
    if episode.tick_ms is not None:
        return replace(view, hints=page_instructions(page))
    hints = hints_for(world, view)
    return replace(view, hints=hints.sentences, hinted=hints.command)


def _taken_over(turn: OpenTurn) -> tuple[tuple[int, int, str], ...] | None:
    """Return (seat, first step, reason) for each seat that an agent took over from a person.

    Returns None if that cannot happen in this episode.
    """
    if turn.episode.absence is None and not turn.episode.gone:
        return None
    gone = sorted((int(seat), each) for seat, each in (turn.episode.gone or {}).items())
    return tuple((seat, each["step"], each["why"]) for seat, each in gone)


def _missing(turn: OpenTurn) -> list[Seat]:
    """Return the seats that the page reports as awaited.

    Agents that are asked count as awaited until the step is taken, even if they have decided.
    """
    open_seats = asked_seats(turn) - {seat for seat in turn.people if seat in turn.given}
    return [seat for seat in turn.acting if seat.number in open_seats]


def _talk(turn: OpenTurn, seat: int, page: Page) -> dict[str, Any]:
    """Return the fields of the view about messages, as far as this seat's person may know them.

    Empty if the members cannot send messages.
    """
    organisation = turn.episode.team
    if organisation is None or organisation.is_silent:
        return {}
    member = organisation.holder(seat).number
    said, own = messages_known_to(turn, member), organisation.member(member).seats
    seen = [other for other in organisation.seats_seen(member) if other not in own]
    jobs = [job for job in jobs_in(said) if member in (job.giver, job.worker)]
    over = [job for job in jobs if not job.is_open][-FINISHED_JOBS_SHOWN:]
    return {
        "seen": {other: turn.world.observe(other) for other in seen},
        "leads": organisation.commanded_by(member),
        "led": bool(organisation.commanders_of(member)),
        "jobs": tuple(job for job in jobs if job.is_open or job in over),
        "member": member,
        "spoken": organisation.spoken,
        "members": {one.number: _called(one, page) for one in organisation.members},
        "addressees": organisation.to(member, SAY) if turn.is_open else (),
        **(_unread(turn, organisation, member) if turn.is_open else {}),
        "one_partner": organisation.one_partner,
        "partner": conversation_partners(turn).get(member) if turn.is_open else None,
        "messages": said[-MESSAGES_SHOWN:],
        "aims": _aims(turn, organisation, member),
        "seats_of": {one: organisation.member(one).seats for one in organisation.commanded_by(member)},
    }


def _unread(turn: OpenTurn, organisation: Organisation, member: int) -> dict[str, tuple[int, ...]]:
    """Return the members that this member may write to and that read no messages, and those of them that do
    jobs.
    """
    known = agent_kinds()
    kinds = {mind.pk: get_agent(mind.kind) for mind in turn.minds if mind.kind in known}
    held = [(organisation.holder(seat.number).number, kinds.get(seat.mind_id or 0)) for seat in turn.seats]
    deaf = {number: kind.pursues for number, kind in held if kind and not kind.reads_words}
    unread = tuple(other for other in organisation.to(member, SAY) if other in deaf)
    return {"unread": unread, "only_jobs": tuple(other for other in unread if deaf[other])}


def _aims(turn: OpenTurn, organisation: Organisation, member: int) -> dict[int, list[Aim]]:
    """Return the goals that can be assigned to each member that this member leads. Members without goals are
    left out.
    """
    led = {other: organisation.member(other).seats for other in organisation.commanded_by(member)}
    aims = {other: turn.world.aims(seats[0]) for other, seats in led.items() if seats}
    return {other: listed for other, listed in aims.items() if listed}


def _called(member: Member, page: Page) -> str:
    """Return the member's own name, or else the names of its seats."""
    names = [page.named(seat + 1) for seat in member.seats]
    return gettext(member.name) if member.name else pgettext("between the things of a list", ", ").join(names)


def _phase(turn: OpenTurn, number: int, missing: list[Seat]) -> str:
    """Return `over`, `choose`, `waiting` (for people) or `thinking` (agents)."""
    if not turn.is_open:
        return "over"
    if number in {other.number for other in missing}:
        return "choose"
    return "waiting" if any(other.is_person for other in missing) else "thinking"


def state_message(world: str, view: SeatView) -> StateMessage:
    """Return the view of a seat of this world as the message for JSON clients."""
    return StateMessage(
        world=world,
        seats=len(view.players),
        seat=view.seat,
        phase=view.phase,
        step=view.step,
        length=view.length,
        observation=view.observation,
        legal=[list(command) for command in view.legal],
        anticipated=[list(command) for command in view.anticipated],
        score=dict(view.score),
        seconds_left=view.seconds_left,
        brief=dict(view.brief),
        plans={str(seat): [list(command) for command in left] for seat, left in view.plans.items()},
        intents={str(seat): dict(intent) for seat, intent in view.intents.items()},
        member=view.member,
        addressees=list(view.addressees),
        partner=view.partner,
        seen={str(seat): dict(observation) for seat, observation in view.seen.items()},
        messages=[asdict(message) for message in view.messages],
        jobs=[asdict(job) for job in view.jobs],
        aims={str(member): [list(aim) for aim in aims] for member, aims in view.aims.items()},
        amounts=[[list(command), *bounds] for command, bounds in view.amounts.items()],
    )


def seat_states(seat_ids: Iterable[int]) -> dict[int, tuple[str, str, TurnStamp]]:
    """Return by seat id: its key, the page that plays it, and the stamp of its episode. Erased seats are left
    out.
    """
    given = SeatCommand.objects.filter(episode=OuterRef("episode"), step=OuterRef("episode__step") + 1)
    people = given.filter(chosen_by__in=step_timer.PEOPLE_CODES).order_by().values("episode")
    rows = Seat.objects.filter(pk__in=list(seat_ids)).annotate(
        given=people.annotate(n=Count("pk")).values("n")
    )
    facts = (
        *("episode__step", "episode__status", "episode__turn_closes_at"),
        *("given", "episode__messages", "episode__gone"),
    )
    return {
        pk: (
            key,
            page,
            (step, status, closes.isoformat() if closes else "", given or 0, said, len(gone or {})),
        )
        for pk, key, page, step, status, closes, given, said, gone in rows.order_by().values_list(
            "pk", "key", "page", *facts
        )
    }
