"""Choose the commands of players whose person or agent is not asked in this step.

A player with a plan gets the plan's next command, if that command is legal. If the command is illegal, the
plan ends, and the person or agent is asked after all. A player that has nothing to choose (`World.asks`) gets
the idle command.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from kitchen.contract.agent import REASON_PLAN_BROKEN, REASON_TO_ANSWER, Decision, Situation
from kitchen.contract.world import Command, Event, Json, World

BY_WORLD = "world"
"""`chosen_by` of the command of a seat that had nothing to choose."""
THINKING, WAITING = "thinking", "waiting"
"""`chosen_by` of the idle command of a seat whose member thinks, or that the schedule does not let choose
yet."""
NOT_ASKED = (BY_WORLD, THINKING, WAITING)
"""`chosen_by` of all idle commands of seats that are not asked in a step."""
PLAN_ILLEGAL, PLAN_REPLACED, PLAN_STALE = "illegal", "replaced", "stale"
"""The reasons why a plan is dropped: its next command is illegal, or its author replaced it. `stale`: a
command was not possible any more when the thinking of its member was over."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The commands that one seat will give in later steps without being asked."""

    then: tuple[Command, ...]
    chosen_by: str
    fallback: str
    step: int
    """The step in which it was given."""
    replaces: Plan | None = None
    """The rest of the plan that this one replaced, if the log does not have it yet."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Return the plan that `to_json` wrote."""
        then = tuple(map(tuple, stored["then"]))
        before = cls.read(stored["replaces"]) if stored["replaces"] else None
        return cls(then, stored["chosen_by"], stored["fallback"], stored["step"], before)

    def to_json(self) -> Json:
        """Return the plan as JSON for storage."""
        before = self.replaces.to_json() if self.replaces else None
        given = {"chosen_by": self.chosen_by, "fallback": self.fallback, "step": self.step}
        return {"then": _lists(self.then), **given, "replaces": before}

    def in_place_of(self, other: Plan | None) -> Plan:
        """Return this plan with a record of the plan `other` that it replaces, for the log. If `other` itself
        replaced a plan in the same step, that older plan is recorded."""
        if other is None:
            return self
        return replace(self, replaces=other.replaces or (other if other.then else None))


@dataclass(frozen=True, slots=True)
class AutomaticCommand:
    """The command of a seat in a step in which its player is not asked, and who chose the command."""

    seat: int
    command: Command
    chosen_by: str = BY_WORLD
    fallback: str = ""
    planned_in: int | None = None


@dataclass(slots=True)
class TurnOpening:
    """The result of opening a step: the automatic commands, the plans that remain, and the events of plans
    that were dropped."""

    filled: list[AutomaticCommand] = field(default_factory=list)
    plans: dict[int, Plan] = field(default_factory=dict)
    """The plans that remain."""
    broken: list[Event] = field(default_factory=list)
    may_act: set[int] = field(default_factory=set)
    """Seats with an automatic command that may act. Live play stores it only when the step runs."""


def open_turn(
    world: World, seats: Iterable[int], plans: Mapping[int, Plan], *, passes_by: bool
) -> TurnOpening:
    """Return the automatic commands for the coming step, and the plans that remain. A seat gets an automatic
    command if its player is not asked.

    A seat with a plan gets its next planned command, or the idle command while it is busy. With `passes_by`,
    busy seats without a plan also get the idle command.
    """
    made = TurnOpening()
    for seat in sorted(seats) if plans or passes_by else ():
        plan = plans.get(seat)
        if plan and plan.replaces:
            made.broken.append(_broken(seat, plan.replaces, PLAN_REPLACED))
            plan = replace(plan, replaces=None)
        if (plan and plan.then) or passes_by:
            _fill(made, world, seat, plan)
    return made


def drop_plans_at_end(plans: Mapping[int, Plan]) -> TurnOpening:
    """Return the `plan_broken` events of replaced plans that are not in the log yet. Call this when the
    episode has ended."""
    replaced = ((seat, plan.replaces) for seat, plan in sorted(plans.items()))
    return TurnOpening(broken=[_broken(seat, before, PLAN_REPLACED) for seat, before in replaced if before])


def _fill(made: TurnOpening, world: World, seat: int, plan: Plan | None) -> None:
    if not world.asks(seat):
        made.filled.append(AutomaticCommand(seat, world.idle))
        made.may_act |= {seat} if may_act(world, seat) else set()
        made.plans |= {seat: plan} if plan and plan.then else {}
    elif plan and plan.then:
        _go_on(made, world, seat, plan)


def may_act(world: World, seat: int) -> bool:
    """Return whether this seat can do anything but `idle` now. While an action occupies the seat, this could
    be `stop`."""
    return any(command != world.idle for command in world.legal_actions(seat))


def _go_on(made: TurnOpening, world: World, seat: int, plan: Plan) -> None:
    command, *left = plan.then
    if not world.allows(seat, command):
        made.broken.append(_broken(seat, plan, PLAN_ILLEGAL))
        return
    made.filled.append(AutomaticCommand(seat, command, plan.chosen_by, plan.fallback, plan.step))
    if left:
        made.plans[seat] = replace(plan, then=tuple(left))


def _broken(seat: int, plan: Plan, why: str) -> Event:
    return Event(REASON_PLAN_BROKEN, seat, {"why": why, "left": _lists(plan.then), "planned_in": plan.step})


def replaced_plans(situation: Situation, decision: Decision) -> dict[int, Sequence[Command]]:
    """Return the decision's new plans for seats whose command for this step is already fixed, by seat. An
    empty plan ends the seat's old plan.

    If the agent was asked only to answer a message, its plans count only for seats with `may_act`.
    """
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    may_act = set(situation.request.may_act)
    settled = may_act if situation.request.because == REASON_TO_ANSWER else set(situation.seats) - set(asked)
    settled = settled - (decision.commands.keys() & may_act)
    return {seat: plan for seat, plan in decision.plans.items() if seat in settled}


def started_plans(situation: Situation, decision: Decision) -> dict[int, Sequence[Command]]:
    """Return the decision's plans that begin in this step, by seat. Empty plans are left out.

    A plan can begin in a seat that was asked for a command. It can also begin in a seat that may act
    (`may_act`) and got a command.
    """
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    commanded = {*asked, *(decision.commands.keys() & set(situation.request.may_act))}
    return {seat: plan for seat, plan in decision.plans.items() if plan and seat in commanded}


def visible_plans(
    world: World, seat: int, plans: Mapping[int, Plan], step: int, *, others: bool
) -> dict[int, tuple[Command, ...]]:
    """Return the remaining commands of the plans that a seat may know in this step, by seat.

    A seat knows its own plan. With `others`, it also knows other seats' plans that the world lets it see,
    except those made for this step.
    """
    left = {
        number: plan.then
        for number, plan in plans.items()
        if plan.then and (number == seat or plan.step < step)
    }
    return {
        number: then
        for number, then in left.items()
        if number == seat or (others and world.visible(seat, Event("plans", number, {"left": _lists(then)})))
    }


def plans_for_agent(
    world: World, seats: Sequence[int], plans: Mapping[int, Plan], step: int
) -> dict[int, tuple[Command, ...]]:
    """Return the remaining commands of the plans that an agent may know in this step, by seat. An agent
    knows the plans of its own `seats`. If the world shows plans, it also knows those that one of its seats
    may see."""
    known = {seat: plan.then for seat, plan in plans.items() if seat in seats}
    for seat in seats if world.shows_plans else ():
        known = {**visible_plans(world, seat, plans, step, others=True), **known}
    return known


def _lists(commands: Iterable[Command]) -> list[list[str]]:
    return [list(command) for command in commands]
