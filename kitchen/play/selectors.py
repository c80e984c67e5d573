"""Reading episodes for pages, sockets and exports. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from django.db.models import Count, OuterRef

from kitchen.contract.jobs import jobs_of
from kitchen.contract.organisation import SAY, Member
from kitchen.contract.page import Page, PlayerView, SeatView
from kitchen.contract.plans import known_plans
from kitchen.play import clock, stored
from kitchen.play.hints import hints_for
from kitchen.play.intents import known_intents
from kitchen.play.kept import turn_now
from kitchen.play.models import Episode, Seat, SeatCommand
from kitchen.play.saying import heard, organisation_of
from kitchen.play.told import Stamp, StateMessage
from kitchen.play.turns import OpenTurn
from kitchen.registry.figures import achieved
from kitchen.registry.worlds import get_page
from kitchen.words.speech import pgettext

SHOWN = 30
"""So many messages, the newest, are on a page."""
JOBS_OVER = 6
"""So many jobs that are over are on a page, the newest, beside all that are open."""


def seat_by_key(key: str) -> Seat | None:
    """The person's seat that this key opens, with what never changes of its episode; None if there is
    none."""
    seats = Seat.objects.select_related("episode").defer("episode__state")
    return seats.filter(key=key, mind=None).first()


def seat_page(seat: Seat) -> Page:
    """How the world of this seat is shown."""
    return get_page(seat.episode.world)


def seat_view(seat: Seat) -> SeatView:
    """Everything that the page of this seat shows now. Episode.DoesNotExist."""
    with turn_now(seat.episode_id) as turn:
        return turn_view(turn, seat.number)


def turn_view(turn: OpenTurn, number: int) -> SeatView:
    """Everything that the page of this seat shows in this turn."""
    episode, world, page = turn.episode, turn.world, get_page(turn.episode.world)
    missing = _missing(turn)
    phase = _phase(turn, number, missing)
    choosing = phase == "choose"
    chosen, passed_by = turn.given.get(number), turn.passed_by
    view = SeatView(
        seat=number,
        phase=phase,
        step=episode.step,
        length=world.length,
        label=episode.label,
        players=tuple(
            PlayerView(seat.number, page.named(seat.number + 1), seat.number == number) for seat in turn.seats
        ),
        waiting_for=tuple(seat.number for seat in missing) if phase != "over" else (),
        brief=turn.briefs[number],
        observation=world.observe(number),
        legal=world.legal_actions(number) if choosing else (),
        anticipated=world.anticipated_actions(number, turn.earlier(number)) if choosing else (),
        chosen=stored.read_stored_command(chosen.command) if chosen and number not in passed_by else None,
        history=tuple(step.known(world, number) for step in turn.past),
        score=episode.score,
        achieved=achieved(episode.world, episode.score),
        step_seconds=episode.step_seconds,
        seconds_left=clock.seconds_left(episode) if choosing else None,
        ended_by_staff=episode.status == Episode.Status.ABORTED,
        until=bool(episode.until),
        reached=episode.status == Episode.Status.REACHED,
        abandoned_because=episode.ended_because if episode.status == Episode.Status.ABANDONED else "",
        shown=episode.shown,
        passed_by=number in passed_by,
        shows_intents=episode.shows_intents,
        offers_plans=episode.offers_plans,
        plannable=world.plannable(number) if episode.offers_plans and choosing else (),
        plans=known_plans(world, number, turn.plans, turn.step, others=episode.shows_intents),
        intents=known_intents(world, number, turn.intents) if turn.is_open else {},
    )
    view = replace(view, **_talk(turn, number, page))
    if not (episode.hints and choosing):
        return view
    hints = hints_for(world, view)
    return replace(view, hints=hints.sentences, hinted=hints.command)


def _missing(turn: OpenTurn) -> list[Seat]:
    """Whom the step waits for: co-players that are asked until it is taken, also if they have decided."""
    open_seats = turn.asked - {seat for seat in turn.people if seat in turn.given}
    return [seat for seat in turn.seats if seat.number in open_seats]


def _talk(turn: OpenTurn, seat: int, page: Page) -> dict[str, Any]:
    """What is said, as far as this seat's person may know it, by the fields of the view; nothing where nobody
    writes to anybody."""
    organisation = organisation_of(turn.episode)
    if organisation is None or organisation.is_silent:
        return {}
    member = organisation.holder(seat).number
    said = heard(turn, member)
    jobs = [job for job in jobs_of(said) if member in (job.giver, job.worker)]
    over = [job for job in jobs if not job.is_open][-JOBS_OVER:]
    return {
        "leads": organisation.commanded_by(member),
        "led": bool(organisation.commanders_of(member)),
        "jobs": tuple(job for job in jobs if job.is_open or job in over),
        "member": member,
        "spoken": organisation.spoken,
        "members": {one.number: _called(one, page) for one in organisation.members},
        "addressees": organisation.to(member, SAY) if turn.is_open else (),
        "messages": said[-SHOWN:],
    }


def _called(member: Member, page: Page) -> str:
    """By its own name, else by those of its seats."""
    names = [page.named(seat + 1) for seat in member.seats]
    return member.name or pgettext("between the things of a list", ", ").join(names)


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
        messages=[asdict(message) for message in view.messages],
        jobs=[asdict(job) for job in view.jobs],
    )


def seats_stand(seat_ids: Iterable[int]) -> dict[int, tuple[str, str, Stamp]]:
    """By seat: its key, the page that plays it, and how its episode stands; one that is erased is left
    out."""
    given = SeatCommand.objects.filter(episode=OuterRef("episode"), step=OuterRef("episode__step") + 1)
    people = given.filter(chosen_by__in=clock.OF_PEOPLE).order_by().values("episode")
    rows = Seat.objects.filter(pk__in=list(seat_ids)).annotate(
        given=people.annotate(n=Count("pk")).values("n")
    )
    facts = ("episode__step", "episode__status", "episode__turn_closes_at", "given", "episode__messages")
    return {
        pk: (key, page, (step, status, closes.isoformat() if closes else "", given or 0, said))
        for pk, key, page, step, status, closes, given, said in rows.order_by().values_list(
            "pk", "key", "page", *facts
        )
    }
