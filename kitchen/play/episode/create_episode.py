"""Create an episode with its world, players, agents and first step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings as django_settings
from django.db import transaction
from django.utils import timezone

from kitchen.contract.agent import EVERYBODY, KNOWLEDGE_LABELS
from kitchen.contract.organisation import Member, Organisation
from kitchen.contract.page import Page
from kitchen.contract.page_view import DRAWING_AND_TABLES, DRAWING_TABLES
from kitchen.contract.probes import RatingSlider, read_probes
from kitchen.contract.star_targets import read_star_targets
from kitchen.contract.world import Json, World, text_hash
from kitchen.contract.world_errors import SettingsError
from kitchen.infra.database_writes import insert_rows
from kitchen.money.budget_ledger import set_allowance
from kitchen.money.models import Budget
from kitchen.play.episode.absent_players import AbsencePolicy, free_until_taken, never_arrived
from kitchen.play.episode.advance_episode import continue_episode
from kitchen.play.models import (
    Episode,
    Mind,
    Seat,
    StateChange,
    Ticking,
)
from kitchen.play.turn import page_broadcast, step_timer
from kitchen.play.turn.due_decisions import is_scheduled
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.play_task_queue import is_offline
from kitchen.play.turn.scheduled_steps import open_scheduled_step
from kitchen.play.turn.speaking_order import ask_for_answers
from kitchen.play.turn.state_store import initial_state_rows
from kitchen.play.turn.step_store import fill_first_step
from kitchen.registry.agent_registry import (
    can_play,
    get_agent,
    leader_refusal,
    make_agent,
    plays_in_real_time,
)
from kitchen.registry.world_registry import check_clock, get_page, get_world
from kitchen.words.gettext_without_django import in_english


@dataclass(frozen=True, slots=True)
class MindPlan:
    """The kind and settings of an agent that a new episode will have, and the seats that it commands.

    An agent without a seat only leads, as a member of the organisation.
    """

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
    allowance: Decimal | None = None,
    thinking_seconds: float = 0,
    decision_seconds: float | None = None,
    step_seconds: float | None = None,
    hints: bool = False,
    until: Mapping[str, float] | None = None,
    goal: Mapping[str, float] | None = None,
    ends_at_goal: bool = False,
    shown: str = DRAWING_AND_TABLES,
    asks_first: bool = False,
    three_dimensions: bool = False,
    shows_intents: bool = False,
    recommends_sound: bool = False,
    hides_dots: bool = False,
    star_targets: Mapping[str, Json] | None = None,
    order_choices: bool = False,
    probes: Sequence[Json] = (),
    rating_slider: Mapping[str, Json] | None = None,
    passes_by: bool = False,
    offers_plans: bool = False,
    audience: str = "",
    knowing: str = EVERYBODY,
    organisation: Organisation | None = None,
    absence: AbsencePolicy | None = None,
    awaited: Iterable[int] = (),
    free: Iterable[int] = (),
) -> Episode:
    """Create an episode and open its first step. People play the seats that no agent commands.

    - `settings`: the world's settings, by name. `seats`: the number of seats.
    - `minds`: the agents, with the seats that they command.
    - `synthetic`: programs play instead of people.
    - `allowance`: US dollars of the budget that are set aside for this episode's model calls. Without enough
      money in the course of it, an episode with an allowance ends, and others go on with fallbacks.
    - `thinking_seconds`: minimum time between the last person's command and the step, if agents decide.
    - `decision_seconds`: time of all agents together for a step, before their fallbacks command. None: the
      server's setting.
    - `step_seconds`: people's time for a step, None without a limit (see `kitchen.play.turn.step_timer`).
    - `hints`: the page recommends what to do next.
    - `until`: the episode ends when these metrics of the world reach these values.
    - `goal`: the goal of a round, in the form of `until`. The log shows when it was reached. With
      `ends_at_goal`, it takes the place of `until`.
    - `shown`: the view of the world (drawing, tables or both); a view that the page lacks is replaced.
    - `asks_first`: the page asks for confirmation before it sends an action.
    - `three_dimensions`: the page also offers the world as a 3D scene.
    - `shows_intents`: the page shows what agents are about to do.
    - `recommends_sound`: the page offers once to switch sound on.
    - `hides_dots`: the page does not mark the actions that advance an order.
    - `star_targets`: a metric with its values for one, two and three stars, which the page shows.
    - `order_choices`: the page offers whole parts of an order as one choice. People must be able to plan.
    - `probes`: questions that hold the game. `rating_slider`: a slider beside it (`kitchen.contract.probes`).
    - `passes_by`: steps do not wait for seats that have nothing to choose (`World.asks`).
    - `offers_plans`: the page lets people plan commands, if the world allows it (`World.plannable`).
    - `audience`: the staff who receive news (see `page_broadcast.audience_group`).
    - `knowing`: whose commands of the open step an agent knows (a key of `KNOWLEDGE_LABELS`).
    - `organisation`: who may command and write to whom. None: nobody can send messages. Its members without a
      seat lead the others. If only people without a seat play, agents are asked when the time for a step is
      over.
    - `absence`: the policy for a person who leaves or is absent. None: the episode ends if a person leaves.
    - `awaited`: seats of people who did not come, which agents play; the pages say so.
    - `free`: seats that agents play until people take them (`advance_episode.join_episode`).

    In a real-time world (`World.tick_ms`), clock processes run the steps (`kitchen.realtime`). Then the
    times for steps and for thinking are not used. The clock of a `synthetic` episode runs faster.

    Raises SettingsError if the world, an agent, the seating, the clock, the goal, the organisation or the
    absence policy is invalid. Raises BudgetSpentError if the budget has too little left for the allowance.
    """
    step_timer.check_step_seconds(step_seconds)
    page_broadcast.audience_group(audience)
    if knowing not in KNOWLEDGE_LABELS:
        raise SettingsError(f"knowing: {knowing!r} is not one of {', '.join(KNOWLEDGE_LABELS)}")
    game = get_world(world).create(seats=seats, settings=settings)
    game.reset(seed)
    _check_minds(minds, seats=seats, world=world)
    until = goal if goal and ends_at_goal else until
    check_goal("until", until or {}, game)
    check_goal("goal", goal or {}, game)
    read_star_targets(star_targets or {}, game.figures)
    read_probes(probes, game.event_kinds)
    RatingSlider.read(rating_slider or {})
    leaders = [one for one in organisation.members if not one.seats] if organisation else []
    _check_organisation(organisation, minds, leaders, seats=seats, knowing=knowing)
    if absence:
        absence.check(world)
    check_clock(game)
    if game.tick_ms:
        _check_ticks(minds, absence, organisation, step_seconds)
    tick_ms = step_timer.tick_ms_for(game.tick_ms, synthetic=synthetic)
    # a caller that plays offline takes the steps itself, as fast as they come
    clocked = None if is_offline() else tick_ms
    begins = game.frozen_state()
    page = get_page(world)  # loaded before a lock is held: the first load is slow
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
        goal=dict(goal) if goal else None,
        shown=page.shown(shown),
        asks_first=asks_first,
        three_dimensions=three_dimensions and bool(page.scene) and page.shown(shown) != DRAWING_TABLES,
        shows_intents=shows_intents,
        recommends_sound=recommends_sound,
        hides_dots=hides_dots,
        star_targets=dict(star_targets or {}),
        order_choices=order_choices,
        probes=list(probes),
        rating_slider=dict(rating_slider or {}),
        passes_by=passes_by or game.passes_by,
        offers_plans=offers_plans and bool(game.plannable(0)),
        audience=audience,
        knowing=knowing,
        organisation=organisation.to_json() if organisation else None,
        absence=absence.to_json() if absence else None,
        gone={**never_arrived(awaited), **free_until_taken(free)} or None,
        state={**game.to_dict(), **begins.roots},
        state_hash=text_hash(begins.text),
        score=game.score(),
        decision_seconds=decision_seconds or django_settings.DECISION_SECONDS,
        turn_opened_at=timezone.now(),
        tick_ms=clocked,
    )
    with transaction.atomic(savepoint=False):  # no savepoint: an outer transaction loses both writes, or none
        episode.save(force_insert=True)
        if budget and allowance:
            set_allowance(budget, episode.pk, allowance)
        insert_rows(StateChange, initial_state_rows(episode.pk, begins))
        turn = OpenTurn(episode, _seat_everybody(episode, page, leaders, seats=seats, minds=minds))
        if clocked:
            Ticking.objects.create(episode=episode)
            return episode
        fill_first_step(turn)
        open_scheduled_step(turn)
        continue_episode(turn)
        ask_for_answers(turn)
    return episode


def _check_ticks(
    minds: Sequence[MindPlan],
    absence: AbsencePolicy | None,
    organisation: Organisation | None,
    step_seconds: float | None,
) -> None:
    """Raise SettingsError for settings that are not possible in a real-time world."""
    slow = {mind.kind for mind in minds} | ({absence.kind} if absence and absence.kind else set())
    if slow := {kind for kind in slow if not plays_in_real_time(kind)}:
        raise SettingsError(f"co-player: {min(slow)} does not keep up with a clock")
    if step_seconds is not None:
        raise SettingsError("step_seconds: the clock of the world takes the steps")
    if is_scheduled(organisation):
        raise SettingsError("schedule: the clock of the world says who chooses when")
    if organisation and organisation.clock_refusal:
        raise SettingsError(f"organisation: {organisation.clock_refusal}")


def _check_minds(minds: Sequence[MindPlan], *, seats: int, world: str) -> None:
    taken = [seat for mind in minds for seat in mind.seats]
    if len(set(taken)) != len(taken) or not set(taken) <= set(range(seats)):
        raise SettingsError(f"seats: {taken} of co-players do not fit {seats} seats")
    for mind in minds:
        make_agent(mind.kind, mind.settings)
        if not can_play(get_agent(mind.kind), world):
            raise SettingsError(f"co-player: {mind.kind} cannot play {world}")
        if not mind.seats and (why := leader_refusal(mind.kind, world)):
            raise SettingsError(f"co-player: {why}")


def members_of_plans(minds: Sequence[MindPlan], *, seats: int) -> tuple[Member, ...]:
    """Return the members of a team with these agents, ordered by number. There is a member for each agent
    with a seat, and a person for each seat that no agent has."""
    taken = {seat for mind in minds for seat in mind.seats}
    people = [Member(seat, (seat,), is_person=True) for seat in range(seats) if seat not in taken]
    held = (tuple(sorted(mind.seats)) for mind in minds if mind.seats)
    played = [Member(each[0], each, is_person=False) for each in held]
    return tuple(sorted([*people, *played], key=lambda member: member.number))


def _check_organisation(
    organisation: Organisation | None,
    minds: Sequence[MindPlan],
    leaders: Sequence[Member],
    *,
    seats: int,
    knowing: str,
) -> None:
    """Raise SettingsError if the organisation's members are not exactly the players of the seats and the
    leaders without a seat. Also raise it if they cannot play in an organisation of this kind."""
    apart = sum(not mind.seats for mind in minds)
    if apart != sum(not one.is_person for one in leaders):
        raise SettingsError("organisation: each co-player without a seat is a member without a seat")
    if organisation is None:
        return
    held = {(member.number, member.seats, member.is_person) for member in organisation.members}
    playing = (*members_of_plans(minds, seats=seats), *leaders)
    if organisation.talks_within and len(minds) > 1 and knowing != EVERYBODY:
        raise SettingsError("knowing: co-players that talk within a step are asked one after the other")
    if held != {(one.number, one.seats, one.is_person) for one in playing}:
        raise SettingsError("organisation: its members are not those who play")


def check_goal(setting: str, goal: Mapping[str, Json], game: World) -> None:
    """Raise SettingsError if a name in the goal is no metric of the world, or if a value is not a number
    above 0. The message begins with the name of the `setting`."""
    known = {figure.name for figure in game.figures}
    if wrong := goal.keys() - known:
        raise SettingsError(f"{setting}: {min(wrong)!r} is not one of {', '.join(sorted(known))}")
    for name, least in sorted(goal.items()):
        if isinstance(least, bool) or not isinstance(least, int | float) or not least > 0:
            raise SettingsError(f"{setting}: {name} needs a number above 0")


def _seat_everybody(
    episode: Episode, page: Page, leaders: Sequence[Member], *, seats: int, minds: Sequence[MindPlan]
) -> list[Seat]:
    """Create the agents and the seats. Seat names are stored in English, whatever the request's language."""
    by_seat: dict[int, Mind] = {}
    apart = iter([one.number for one in leaders if not one.is_person])
    for number, plan in enumerate(minds):
        mind = Mind.objects.create(
            episode=episode, number=number, kind=plan.kind, settings=dict(plan.settings)
        )
        by_seat |= dict.fromkeys(plan.seats or (next(apart),), mind)
    with in_english():
        names = [page.named(number + 1) for number in range(seats)]
    acting = (
        Seat(episode=episode, number=number, name=name, mind=by_seat.get(number))
        for number, name in enumerate(names)
    )
    leading = (
        Seat(episode=episode, number=one.number, name=one.name, acts=False, mind=by_seat.get(one.number))
        for one in leaders
    )
    return Seat.objects.bulk_create([*acting, *leading])
