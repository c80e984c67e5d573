"""How a synthetic participant plays an episode: by the planner's advice, with errors. Plain Python.

The planner stands for a sensible person: it is given the participant's own seat only, so that it knows where
the others are and not what they are up to. The same planner, asked for the others, is what the participant
expects of them; how often that comes true is what *predictable* means here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kitchen.coplayers.base import Situation
from kitchen.coplayers.planner.planner import Planner
from kitchen.worlds.base import Command, Json
from study.dry_run.person import Experience, Person

State = Mapping[str, Any]
"""A `kitchen.messages.StateMessage` as it came over the websocket."""
SENSIBLE_DISHES_PER_STEP = 0.12
"""Dishes a step that count as a full output; a good team comes close to it."""
PLANNER_READS = frozenset({"recipes", "locations", "lifetimes", "tools", "dishes"})
"""Parts of a brief that a world must have for the planner to give advice in it."""


class Cook:
    """One person in one episode. `watch` every state that comes, `choose` where a choice is asked for."""

    def __init__(self, person: Person, episode: int) -> None:
        self.person = person
        self.episode = episode
        """1 for the first episode that this person plays."""
        self.last: State | None = None
        self._memory: Json = None
        self._expected: dict[int, Command] = {}
        self._hits: list[bool] = []
        self._sent: tuple[int, Command] | None = None
        self._refused: set[tuple[int, Command]] = set()

    def watch(self, state: State) -> None:
        """Take note of a state; a step that is new is compared with what was expected."""
        if self.last is not None and state["step"] == self.last["step"] + 1:
            agents = _agents(state)
            self._hits += [came_true(command, agents[seat]) for seat, command in self._expected.items()]
        if self.last is None or state["step"] != self.last["step"]:
            self._expected = {}
        self.last = state

    def choose(self, state: State) -> Command:
        """One of the commands that are offered. The same state gives the same choice, unless that one was
        refused."""
        step = state["step"] + 1
        if self._sent and self._sent[0] == step and self._sent not in self._refused:
            return self._sent[1]
        offered = [tuple(command) for command in (*state["legal"], *state["anticipated"])]
        left = [command for command in offered if (step, command) not in self._refused] or offered
        command = self._pick(state, left, step)
        self._sent = (step, command)
        return command

    def refused(self) -> None:
        """What was chosen last was refused: choose something else."""
        if self._sent:
            self._refused.add(self._sent)

    def _pick(self, state: State, offered: Sequence[Command], step: int) -> Command:
        rng = self.person.chance("step", self.episode, step)
        advised = self._advice(state)
        slip = rng.random() >= self.person.temper.skill
        command = advised if advised and advised in offered and not slip else rng.choice(offered)
        self._expect(state, command)
        return command

    def _advice(self, state: State) -> Command | None:
        """What a sensible person would do here; None where there is no telling."""
        if not can_be_planned(state):
            return None
        seat = state["seat"]
        situation = self._situation(state, (seat,), {}, memory=self._memory)
        decision = Planner({}).decide(situation)
        self._memory = decision.memory
        return decision.commands.get(seat, ("noop",))

    def _expect(self, state: State, own: Command) -> None:
        """What sensible teammates would do now."""
        others = tuple(seat for seat in range(len(_agents(state))) if seat != state["seat"])
        if others and can_be_planned(state):
            situation = self._situation(state, others, {state["seat"]: own}, memory=None)
            self._expected = dict(Planner({}).decide(situation).commands)

    def _situation(
        self, state: State, seats: tuple[int, ...], commanded: Mapping[int, Command], *, memory: Json
    ) -> Situation:
        brief: Mapping[str, Json] = state["brief"]
        seen: Mapping[str, Json] = state["observation"]
        return Situation(
            world="",
            step=state["step"],
            seats=seats,
            briefs=dict.fromkeys(seats, brief),
            observations=dict.fromkeys(seats, seen),
            legal={},
            commanded=commanded,
            memory=memory,
            seed=self.person.chance("plan", self.episode, state["step"]).getrandbits(32),
        )

    def experience(self) -> Experience:
        """What this episode was like so far."""
        if self.last is None:
            return Experience()
        score, steps = self.last["score"], max(self.last["step"], 1)
        return Experience(
            teammates=max(len(_agents(self.last)) - 1, 0),
            success=score.get("success_rate"),
            output=min((score.get("completed") or 0) / (SENSIBLE_DISHES_PER_STEP * steps), 1.0),
            expected=sum(self._hits) / len(self._hits) if self._hits else 0.0,
        )


def can_be_planned(state: State) -> bool:
    """Whether this is a kitchen that the planner can read."""
    return set(state["brief"]) >= PLANNER_READS


def came_true(command: Command, agent: Mapping[str, Any]) -> bool:
    """Whether an agent, as seen after the step, looks as if it had done this."""
    if command[0] == "goto":
        return bool(agent["at"] == command[1])
    if command[0] == "get":
        return agent["holds"] is not None
    return agent["holds"] is None


def _agents(state: State) -> Sequence[Mapping[str, Any]]:
    """The agents as the observation shows them, by seat; none where a world shows none."""
    found: Sequence[Mapping[str, Any]] = state["observation"].get("agents", ())
    return found
