"""Create an episode with its world, seats, agents and first step; erase an episode in batches.

Each batch is a transaction of its own, so that players do not wait. If erasing stops midway, the episode is
left without part of its log, and the next attempt erases the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings as django_settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone, translation

from kitchen.contract.agent import EVERYBODY, KNOWLEDGE_LABELS
from kitchen.contract.organisation import Member, Organisation
from kitchen.contract.page import DRAWING_AND_TABLES, DRAWING_TABLES, Page
from kitchen.contract.world import Json, SettingsError, World, text_hash
from kitchen.infra.database_writes import BATCH_ROWS, batches_of, insert_rows
from kitchen.money.models import Budget
from kitchen.play.episode.absent_players import AbsencePolicy, never_arrived
from kitchen.play.episode.change_episode import continue_episode
from kitchen.play.models import (
    Decision,
    Episode,
    Message,
    Mind,
    Seat,
    SeatCommand,
    StateChange,
    Step,
    Ticking,
)
from kitchen.play.turn import page_broadcast, step_timer
from kitchen.play.turn.conversation import ask_for_answers
from kitchen.play.turn.decision_records import erase_unused_prompts
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.play_task_queue import is_offline
from kitchen.play.turn.state_store import initial_state_rows
from kitchen.registry.agent_registry import can_play, get_agent, make_agent, plays_in_real_time
from kitchen.registry.world_registry import check_clock, get_page, get_world


@dataclass(frozen=True, slots=True)
class MindPlan:
    """A co-player to be seated: its kind, its settings, and the seats it commands."""

    kind: str
    seats: tuple[int, ...]
    settings: Mapping[str, Json] = field(default_factory=dict)


def create_episode(
    *,
    world: str,
    settings: Mapping[str, Json],
    seats: int,
    seed: int,
    minds: Sequence[MindPlan] = (),
    label: str = "",
    synthetic: bool = False,
    budget: Budget | None = None,
    thinking_seconds: float = 0,
    decision_seconds: float | None = None,
    step_seconds: float | None = None,
    hints: bool = False,
    until: Mapping[str, int] | None = None,
    shown: str = DRAWING_AND_TABLES,
    asks_first: bool = False,
    three_dimensions: bool = False,
    shows_intents: bool = False,
    passes_by: bool = False,
    offers_plans: bool = False,
    audience: str = "",
    knowing: str = EVERYBODY,
    organisation: Organisation | None = None,
    absence: AbsencePolicy | None = None,
    awaited: Iterable[int] = (),
) -> Episode:
    """A new episode at its start, its first step open. Seats that no mind commands are people's.

    `decision_seconds` is what all co-players together have for a step before fallbacks play (None: as this
    installation has it), `step_seconds` is people's time for a step (see `kitchen.play.turn.step_timer`),
    `hints` has the page say what would be good to do next, `until` says what its figures are to reach for it
    to be over, `shown` is what people are to see of the world as far as it has that (`Page.shown`),
    `asks_first` has the page ask before it sends an action, `three_dimensions` has it offer the world as a
    scene, `shows_intents` has it say what co-players are about to do, `passes_by` has steps go on without
    seats that have nothing to choose (`World.asks`), `offers_plans` has the page offer to choose what
    follows, where the world says what that may be (`World.plannable`), `audience` names those whom its news
    go to (see `stream.audience_group`), `knowing` says whose commands of the open step a co-player is told
    (`KNOWLEDGE_LABELS`), `organisation` what people and co-players may do with one another: without it nobody
    writes to anybody. Its people without a seat lead; where nobody else plays, co-players are asked when the
    time for a step is over, and without one as soon as it is open. `absence` says what becomes of the seat of
    a person who is gone: without it who leaves ends the episode. `awaited` are seats of people who did not
    come: everybody is told.

    Where the world has a clock (`World.tick_ms`), its steps are taken by `kitchen.realtime`, which asks
    nobody for longer than a tick: times for a step and for thinking mean nothing there. For programs
    (`synthetic`) the clock goes quicker (`clock.tick_ms_for`), which `Episode.tick_ms` says.

    SettingsError if the world, a mind, the seating, the clock, the goal, the organisation or what becomes of
    seats cannot be played.
    """
    step_timer.check_step_seconds(step_seconds)
    page_broadcast.audience_group(audience)
    if knowing not in KNOWLEDGE_LABELS:
        raise SettingsError(f"knowing: {knowing!r} is not one of {', '.join(KNOWLEDGE_LABELS)}")
    game = get_world(world).create(seats=seats, settings=settings)
    game.reset(seed)
    _check_minds(minds, seats=seats, world=world)
    _check_until(until or {}, game)
    leaders = leaders_of(organisation)
    _check_organisation(organisation, minds, leaders, seats=seats, knowing=knowing)
    if absence:
        absence.check(world)
    check_clock(game)
    if game.tick_ms:
        _check_ticks(minds, absence, organisation, step_seconds)
    tick_ms = step_timer.tick_ms_for(game.tick_ms, synthetic=synthetic)
    clocked = None if is_offline() else tick_ms  # who plays aside takes the steps, as fast as they come
    begins = game.frozen_state()
    page = get_page(world)  # found before anybody has to wait: the first time it is loaded
    episode = Episode(
        world=world,
        world_version=game.version,
        settings=dict(settings),
        seed=seed,
        label=label,
        synthetic=synthetic,
        budget=budget,
        thinking_seconds=thinking_seconds,
        step_seconds=step_seconds,
        hints=hints,
        until=dict(until) if until else None,
        shown=page.shown(shown),
        asks_first=asks_first,
        three_dimensions=three_dimensions and bool(page.scene) and page.shown(shown) != DRAWING_TABLES,
        shows_intents=shows_intents,
        passes_by=passes_by or game.passes_by,
        offers_plans=offers_plans and bool(game.plannable(0)),
        audience=audience,
        knowing=knowing,
        organisation=organisation.to_json() if organisation else None,
        absence=absence.to_json() if absence else None,
        gone=never_arrived(awaited) or None,
        state={**game.to_dict(), **begins.roots},
        state_hash=text_hash(begins.text),
        score=game.score(),
        decision_seconds=decision_seconds or django_settings.DECISION_SECONDS,
        turn_opened_at=timezone.now(),
        tick_ms=clocked,
    )
    with transaction.atomic(savepoint=False):  # whoever needs it in a transaction loses both, or none
        episode.save(force_insert=True)
        insert_rows(StateChange, initial_state_rows(episode.pk, begins))
        seated = _seat_everybody(episode, page, seats=seats, minds=minds)
        turn = OpenTurn(episode, [*seated, *_seat_leaders(episode, leaders)])
        if clocked:
            Ticking.objects.create(episode=episode)
            return episode
        turn.fill()
        continue_episode(turn)
        ask_for_answers(turn)
    return episode


def _check_ticks(
    minds: Sequence[MindPlan],
    absence: AbsencePolicy | None,
    organisation: Organisation | None,
    step_seconds: float | None,
) -> None:
    """SettingsError for what cannot be where a clock takes the steps."""
    slow = {mind.kind for mind in minds} | ({absence.kind} if absence and absence.kind else set())
    if slow := {kind for kind in slow if not plays_in_real_time(kind)}:
        raise SettingsError(f"co-player: {min(slow)} does not keep up with a clock")
    if step_seconds is not None:
        raise SettingsError("step_seconds: the clock of the world takes the steps")
    if organisation and not organisation.is_silent:
        raise SettingsError("organisation: nobody can write to others while a clock takes the steps")


def _check_minds(minds: Sequence[MindPlan], *, seats: int, world: str) -> None:
    taken = [seat for mind in minds for seat in mind.seats]
    if len(set(taken)) != len(taken) or not set(taken) <= set(range(seats)):
        raise SettingsError(f"seats: {taken} of co-players do not fit {seats} seats")
    for mind in minds:
        make_agent(mind.kind, mind.settings)
        if not can_play(get_agent(mind.kind), world):
            raise SettingsError(f"co-player: {mind.kind} cannot play {world}")


def members_of_plans(minds: Sequence[MindPlan], *, seats: int) -> tuple[Member, ...]:
    """Who plays where these minds are seated: each of them, and a person in each seat that is left; by
    number."""
    taken = {seat for mind in minds for seat in mind.seats}
    people = [Member(seat, (seat,), is_person=True) for seat in range(seats) if seat not in taken]
    played = [Member(min(mind.seats), tuple(sorted(mind.seats)), is_person=False) for mind in minds]
    return tuple(sorted([*people, *played], key=lambda member: member.number))


def leaders_of(organisation: Organisation | None) -> tuple[Member, ...]:
    """Its members without a seat."""
    return tuple(one for one in organisation.members if not one.seats) if organisation else ()


def _check_organisation(
    organisation: Organisation | None,
    minds: Sequence[MindPlan],
    leaders: Sequence[Member],
    *,
    seats: int,
    knowing: str,
) -> None:
    """Its members are those who play, and people without a seat, and it can be played so."""
    if organisation is None:
        return
    held = {(member.number, member.seats, member.is_person) for member in organisation.members}
    playing = (*members_of_plans(minds, seats=seats), *leaders)
    if organisation.talks_within and len(minds) > 1 and knowing != EVERYBODY:
        raise SettingsError("knowing: co-players that talk within a step are asked one after the other")
    if held != {(one.number, one.seats, one.is_person) for one in playing}:
        raise SettingsError("organisation: its members are not those who play")
    if not all(one.is_person for one in leaders):
        raise SettingsError("organisation: only people may be without a seat")


def _check_until(until: Mapping[str, int], game: World) -> None:
    known = {figure.name for figure in game.figures}
    if wrong := until.keys() - known:
        raise SettingsError(f"until: {min(wrong)} is not one of {', '.join(sorted(known))}")


def _seat_everybody(episode: Episode, page: Page, *, seats: int, minds: Sequence[MindPlan]) -> list[Seat]:
    """Their names are stored in English, whoever reads."""
    by_seat: dict[int, Mind] = {}
    for number, plan in enumerate(minds):
        mind = Mind.objects.create(
            episode=episode, number=number, kind=plan.kind, settings=dict(plan.settings)
        )
        by_seat |= dict.fromkeys(plan.seats, mind)
    with translation.override("en"):
        names = [page.named(number + 1) for number in range(seats)]
    return Seat.objects.bulk_create(
        Seat(episode=episode, number=number, name=name, mind=by_seat.get(number))
        for number, name in enumerate(names)
    )


def _seat_leaders(episode: Episode, leaders: Sequence[Member]) -> list[Seat]:
    return Seat.objects.bulk_create(
        Seat(episode=episode, number=member.number, name=member.name, acts=False) for member in leaders
    )


EPISODES_WITH_CALLS = 25
"""Decisions that are erased together: each may have some calls, of a dozen messages each."""


def erase_episode(episode_id: int) -> None:
    """Erase an episode that is over, with its whole log; nothing if it is gone already."""
    erase_rows(Message.objects.filter(episode=episode_id))
    erase_rows(Decision.objects.filter(mind__episode=episode_id), EPISODES_WITH_CALLS)
    erase_rows(SeatCommand.objects.filter(episode=episode_id))
    erase_rows(StateChange.objects.filter(episode=episode_id))
    erase_rows(Step.objects.filter(episode=episode_id))
    with transaction.atomic():
        for episode in Episode.objects.select_for_update().filter(pk=episode_id):  # no step is written now
            episode.delete()


def erase_rows(rows: QuerySet[Any], size: int = BATCH_ROWS) -> int:
    """Erase rows with all that hangs on them, so many at once; how many they were."""
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    for piece in batches_of(ids, size):
        rows.model._default_manager.filter(pk__in=piece).delete()
    return len(ids)


def erase_prompts(hashes: Iterable[str]) -> int:
    """Erase those of these prompts that no call uses any more; how many."""
    erased = 0
    for piece in batches_of(sorted(hashes)):
        with transaction.atomic():
            erased += erase_unused_prompts(piece)
    return erased
