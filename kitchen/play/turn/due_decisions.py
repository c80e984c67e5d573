"""Store in which step each agent of an episode is asked for a decision, and find the decisions that fall due.

This concerns teams whose members are asked at different times. `kitchen.agents.asking_schedule` has the
rules, which episodes without people also follow. `Episode.schedule_state` holds all that later steps need, so
any process can run the next step.
"""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.agents.agent_team import DecisionMade
from kitchen.agents.asking_schedule import AskingSchedule
from kitchen.contract.automatic_commands import AutomaticCommand, Plan, TurnOpening
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Command, World
from kitchen.play.models import Episode
from kitchen.play.turn.open_turn import OpenTurn


def is_scheduled(organisation: Organisation | None) -> bool:
    """Return True if the organisation has a schedule that says who decides when. False if every member
    chooses a command in each step."""
    return organisation is not None and organisation.is_timed


def read_schedule(turn: OpenTurn) -> AskingSchedule | None:
    """Return the stored schedule of the episode: who decides in which step. None if every member chooses in
    each step."""
    organisation = turn.episode.team
    if organisation is None or not organisation.is_timed:
        return None
    stored = turn.episode.schedule_state
    return AskingSchedule.from_json(organisation, stored) if stored else AskingSchedule(organisation)


def awaits_answer(turn: OpenTurn) -> bool:
    """Return whether the next step needs the decision of an agent that is still thinking."""
    schedule = read_schedule(turn) if turn.episode.schedule_state else None
    return schedule is not None and schedule.awaits_answer(turn.step + 1)


def has_real_time_question(turn: OpenTurn) -> bool:
    """Return whether an agent is thinking whose decision will take effect as soon as it arrives, in whatever
    step."""
    schedule = read_schedule(turn) if turn.episode.schedule_state else None
    return schedule is not None and any(not one.due for one in schedule.questions.values())


def store_schedule(turn: OpenTurn, schedule: AskingSchedule) -> None:
    """Store the schedule for the next steps."""
    turn.episode.schedule_state = schedule.to_json()
    turn.store.change(Episode, {"schedule_state": turn.episode.schedule_state}, where={"id": turn.episode.pk})


def add_due_decisions(turn: OpenTurn, opening: TurnOpening, world: World) -> None:
    """Add decisions that agents made earlier for this step to the step's opening: their commands and plans.
    `world` is the state in which the step opens.

    Commands that are no longer possible are dropped, with an event `plan_broken`. The decisions are also
    stored in `turn.due_decisions`, because their messages are sent later in this transaction.
    """
    turn.due_decisions = []
    if (schedule := read_schedule(turn)) is None:
        return
    step = world.clock + 1
    settled = {each.seat for each in opening.filled} - opening.may_act
    for made in schedule.take_due(step):
        asked_in = schedule.asked_in[made.member]
        stale = schedule.stale_commands(made, world, settled)
        _add(opening, made, stale, asked_in, step)
        opening.broken += schedule.stale_events(made, stale)
        settled |= made.commands.keys() - stale.keys()
        turn.due_decisions.append(made)
    turn.episode.schedule_state = schedule.to_json()  # stored when the step is opened


def _add(
    opening: TurnOpening, made: DecisionMade, stale: Mapping[int, Command], asked_in: int, step: int
) -> None:
    for seat, command in made.commands.items():
        if seat not in stale:
            opening.filled = [each for each in opening.filled if each.seat != seat]
            opening.filled.append(AutomaticCommand(seat, command, made.played_by, made.fallback, asked_in))
            opening.may_act.discard(seat)
    for seat, then in made.plans.items():
        if seat not in stale and (then or seat in opening.plans):
            plan = Plan(tuple(then), made.played_by, made.fallback, step)
            opening.plans[seat] = plan.in_place_of(opening.plans.get(seat))
