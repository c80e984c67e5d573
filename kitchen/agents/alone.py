"""One mind that commands every seat of a game: what it is told at each step, what of its decision is done now
and what without asking it, as in live play (`kitchen.contract.plans`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kitchen.agents.evaluate import see
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.plans import Plan, ending, opening
from kitchen.contract.seeds import derived_seed
from kitchen.contract.world import Command, Event, Json, World

Plans = Mapping[int, Sequence[Command]]
"""What seats are to do after their command, by seat."""


class Alone:
    """Where a game is, and what its mind remembers. It begins where the game stands."""

    def __init__(self, game: World, seed: int) -> None:
        self.game, self.seed = game, seed
        self.memory: Json = None
        self.events: tuple[Event, ...] = ()
        self.plans: dict[int, Plan] = {}
        self.settled: dict[int, Command] = {}
        """Commands of the coming step that nobody is asked for, by seat."""
        self.settled_by: tuple[str, ...] = ()
        """Who chose those."""
        self._open()

    @property
    def is_over(self) -> bool:
        """No step is left."""
        return self.game.over or self.game.cut_off

    @property
    def is_asked(self) -> bool:
        """Whether a seat is left for the mind to command now."""
        return len(self.settled) < self.game.seats

    def situation(self, **more: Any) -> Situation:
        """What the mind is told now; `more` is what else it says (`seconds`, `purse`, `answers`)."""
        seats, drawn = range(self.game.seats), derived_seed(self.seed, self.game.clock)
        seen = see(self.game, seats, memory=self.memory, events=self.events, seed=drawn)
        if self.settled:
            seen = replace(
                seen,
                commanded=dict(self.settled),
                asked=tuple(seat for seat in seats if seat not in self.settled),
            )
        plans = {seat: plan.then for seat, plan in self.plans.items()}
        return replace(seen, **{"plans": plans, **more})

    def all_of(self, commands: Mapping[int, Command]) -> dict[int, Command]:
        """All commands of the coming step, in their order, where these are decided."""
        asked = {seat: command for seat, command in commands.items() if seat not in self.settled}
        return {**self.settled, **asked}

    def decided(self, decision: Decision, by: str = "") -> None:
        """One step with what was decided; a mind of the kind `by` decided it."""
        planner = (decision.played_by or by, decision.fallback)
        self.take(decision.commands, decision.memory, decision.plans, *planner)

    def take(
        self,
        commands: Mapping[int, Command],
        memory: Json,
        plans: Plans | None = None,
        by: str = "",
        fallback: str = "",
    ) -> None:
        """One step with these commands, and those that nobody was asked for; `plans` begin with it, or take
        the place of what is left of others."""
        step = self.game.clock + 1
        made = {
            seat: Plan(tuple(then), by, fallback, step).in_place_of(self.plans.get(seat))
            for seat, then in (plans or {}).items()
            if then or seat in self.plans
        }
        self.events, self.memory = self.game.step(self.all_of(commands)), memory
        self.plans |= made
        self._open()

    def _open(self) -> None:
        """What is settled of the coming step."""
        if self.is_over:
            opened = ending(self.plans)
        else:
            seats = range(self.game.seats)
            opened = opening(self.game, seats, self.plans, passes_by=self.game.passes_by)
        self.events, self.plans = (*self.events, *opened.broken), opened.plans
        self.settled = {each.seat: each.command for each in opened.filled}
        self.settled_by = tuple(sorted({each.chosen_by for each in opened.filled}))


def decisions(mind: Agent, game: World, *, seed: int, **more: Any) -> Iterator[tuple[Decision, float]]:
    """Play to the end: one mind commands every seat. For each step in which it is asked the decision and its
    milliseconds, told before the step is made; `more` is what else every situation says (`seconds`,
    `purse`)."""
    alone = Alone(game, seed)
    while not alone.is_over:
        if not alone.is_asked:
            alone.take({}, alone.memory)
            continue
        start = time.perf_counter()
        decision = mind.decide(alone.situation(**more))
        yield decision, (time.perf_counter() - start) * 1000
        alone.decided(decision)
