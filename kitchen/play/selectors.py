"""Reading episodes for pages, sockets and exports. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from django.db.models import Count, OuterRef

from kitchen.contract.jobs import jobs_of
from kitchen.contract.organisation import SAY, Member, Organisation
from kitchen.contract.page import Page, PlayerView, SeatView
from kitchen.contract.plans import known_plans
from kitchen.contract.world import Aim
from kitchen.play import clock, stored
from kitchen.play.hints import first_steps, hints_for
from kitchen.play.intents import known_intents
from kitchen.play.kept import turn_now
from kitchen.play.models import Episode, Seat, SeatCommand
from kitchen.play.overseeing import overseen
from kitchen.play.saying import heard, organisation_of, talking_now
from kitchen.play.told import Stamp, StateMessage
from kitchen.play.turns import OpenTurn
from kitchen.registry.agents import agent_kinds, get_agent
from kitchen.registry.figures import achieved
from kitchen.registry.worlds import get_page
from kitchen.words.speech import gettext, pgettext

SHOWN = 30
"""So many messages, the newest, are on a page."""
JOBS_OVER = 6
"""So many jobs that are over are on a page, the newest, beside all that are open."""


def seat_by_key(key: str) -> Seat | None:
    """The person's seat that this key opens, with what never changes of its episode; None if there is
    none."""
    seats = Seat.objects.select_related("episode").defer("episode__state")
    return seats.filter(key=key, mind=None).first()


def is_taken_over(key: str) -> bool:
    """Whether this key opened a seat that a co-player has taken over since."""
    return Seat.objects.filter(key=key, mind__isnull=False, episode__gone__isnull=False).exists()


def seat_page(seat: Seat) -> Page:
    """How the world of this seat is shown."""
    return get_page(seat.episode.world)


def seat_view(seat: Seat) -> SeatView:
    """Everything that the page of this seat shows now. Episode.DoesNotExist."""
    with turn_now(seat.episode_id) as turn:
        return turn_view(turn, seat.number)


def turn_view(turn: OpenTurn, number: int) -> SeatView:
    """Everything that the page of this seat shows in this turn."""
    if number in turn.leaders:
        return replace(overseen(turn, number), **_talk(turn, number, get_page(turn.episode.world)))
    episode, world, page = turn.episode, turn.world, get_page(turn.episode.world)
    missing = _missing(turn)
    phase = _phase(turn, number, missing)
    choosing = phase == "choose"
    may_act = turn.is_open and number in turn.may_act
    offered, passed_by = choosing or may_act, turn.passed_by | turn.may_act
    chosen = turn.given.get(number)
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
        anticipated=world.anticipated_actions(number, turn.earlier(number)) if choosing else (),
        amounts=world.amounts(number) if offered else {},
        chosen=stored.read_stored_command(chosen.command) if chosen and number not in passed_by else None,
        history=tuple(step.known(world, number) for step in turn.past),
        score=episode.score,
        achieved=achieved(episode.world, episode.score),
        figures=tuple(figure for figure in world.figures if figure.words),
        step_seconds=episode.step_seconds,
        seconds_left=clock.seconds_left(episode) if choosing else None,
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
        plans=known_plans(world, number, turn.plans, turn.step, others=episode.shows_intents),
        intents=known_intents(world, number, turn.intents) if turn.is_open else {},
    )
    view = replace(view, **_talk(turn, number, page))
    if not (episode.hints and choosing):
        return view
    if episode.tick_ms is not None:
        return replace(view, hints=first_steps(page))
    hints = hints_for(world, view)
    return replace(view, hints=hints.sentences, hinted=hints.command)


def _taken_over(turn: OpenTurn) -> tuple[tuple[int, int, str], ...] | None:
    """Seats that co-players took over from people: with the step since which they have them, and why. None
    where that never happens."""
    if turn.episode.absence is None and not turn.episode.gone:
        return None
    gone = sorted((int(seat), each) for seat, each in (turn.episode.gone or {}).items())
    return tuple((seat, each["step"], each["why"]) for seat, each in gone)


def _missing(turn: OpenTurn) -> list[Seat]:
    """Whom the step waits for: co-players that are asked until it is taken, also if they have decided."""
    open_seats = turn.asked - {seat for seat in turn.people if seat in turn.given}
    return [seat for seat in turn.acting if seat.number in open_seats]


def _talk(turn: OpenTurn, seat: int, page: Page) -> dict[str, Any]:
    """What is said, as far as this seat's person may know it, by the fields of the view; nothing where nobody
    writes to anybody."""
    organisation = organisation_of(turn.episode)
    if organisation is None or organisation.is_silent:
        return {}
    member = organisation.holder(seat).number
    said, own = heard(turn, member), organisation.member(member).seats
    seen = [other for other in organisation.seats_seen(member) if other not in own]
    jobs = [job for job in jobs_of(said) if member in (job.giver, job.worker)]
    over = [job for job in jobs if not job.is_open][-JOBS_OVER:]
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
        "partner": talking_now(turn).get(member) if turn.is_open else None,
        "messages": said[-SHOWN:],
        "aims": _aims(turn, organisation, member),
        "seats_of": {one: organisation.member(one).seats for one in organisation.commanded_by(member)},
    }


def _unread(turn: OpenTurn, organisation: Organisation, member: int) -> dict[str, tuple[int, ...]]:
    """Return those to whom this member may write who read nothing of that, and those of them who do jobs, by
    the fields of the view."""
    known = agent_kinds()
    kinds = {mind.pk: get_agent(mind.kind) for mind in turn.minds if mind.kind in known}
    held = [(organisation.holder(seat.number).number, kinds.get(seat.mind_id or 0)) for seat in turn.seats]
    deaf = {number: kind.pursues for number, kind in held if kind and not kind.reads_words}
    unread = tuple(other for other in organisation.to(member, SAY) if other in deaf)
    return {"unread": unread, "only_jobs": tuple(other for other in unread if deaf[other])}


def _aims(turn: OpenTurn, organisation: Organisation, member: int) -> dict[int, list[Aim]]:
    """What each of those whom this member leads can be asked for, but for those without anything."""
    led = {other: organisation.member(other).seats for other in organisation.commanded_by(member)}
    aims = {other: turn.world.aims(seats[0]) for other, seats in led.items() if seats}
    return {other: listed for other, listed in aims.items() if listed}


def _called(member: Member, page: Page) -> str:
    """By its own name, else by those of its seats."""
    names = [page.named(seat + 1) for seat in member.seats]
    return gettext(member.name) if member.name else pgettext("between the things of a list", ", ").join(names)


def _phase(turn: OpenTurn, number: int, missing: list[Seat]) -> str:
    """`over`, `choose`, `waiting` (for people) or `thinking` (co-players)."""
    if not turn.is_open:
        return "over"
    if number in {other.number for other in missing}:
        return "choose"
    return "waiting" if any(other.is_person for other in missing) else "thinking"


def state_message(world: str, view: SeatView) -> StateMessage:
    """The view of a seat of this world as it goes to a client that reads JSON."""
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


def seats_stand(seat_ids: Iterable[int]) -> dict[int, tuple[str, str, Stamp]]:
    """By seat: its key, the page that plays it, and how its episode stands; one that is erased is left
    out."""
    given = SeatCommand.objects.filter(episode=OuterRef("episode"), step=OuterRef("episode__step") + 1)
    people = given.filter(chosen_by__in=clock.OF_PEOPLE).order_by().values("episode")
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
