"""How a synthetic participant plays an episode: as the world's adviser has it, with errors. Plain Python.

The adviser (`kitchen.contract.agent.Adviser`) stands for a sensible person. It also says what such a person
expects of the others; how often that comes true is what *predictable* means here. In a world without one
everything is chosen by chance among what is offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from kitchen.contract.agent import Situation
from kitchen.contract.jobs import OPEN
from kitchen.contract.world import Command, Json
from kitchen.registry.agents import get_adviser
from kitchen.registry.figures import standing
from study.trying_out.walk.person import Experience, Person

BLANK = "\N{EN DASH}"
"""How a figure ends that cannot be said yet."""
State = Mapping[str, Any]
"""A `kitchen.play.told.StateMessage` as it came over the websocket."""


class Player:
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
            came_true, seen = get_adviser(state["world"]).came_true, state["observation"]
            self._hits += [came_true(seat, command, seen) for seat, command in self._expected.items()]
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

    def press(self, state: State) -> Command:
        """A key, where a clock takes the steps. Nobody says there what is offered: what is advised is
        pressed, and who slips presses what was offered when the page was opened."""
        step, advised = state["step"] + 1, self._advice(state)
        rng = self.person.chance("step", self.episode, step)
        slip = rng.random() >= self.person.temper.skill
        command = advised if advised and not slip else rng.choice([tuple(one) for one in state["legal"]])
        self._expect(state, command)
        return command

    def jobs(self, state: State) -> list[tuple[int, Sequence[str]]]:
        """Whom of those that this person leads, and who have nothing to do, it asks for what: anything that
        can be asked of them."""
        busy = {job["worker"] for job in state["jobs"] if job["state"] in OPEN}
        rng = self.person.chance("jobs", self.episode, state["step"])
        idle = [(int(member), aims) for member, aims in state["aims"].items() if int(member) not in busy]
        return [(member, rng.choice(aims)) for member, aims in idle]

    def refused(self) -> None:
        """What was chosen last was refused: choose something else."""
        if self._sent:
            self._refused.add(self._sent)

    def _pick(self, state: State, offered: Sequence[Command], step: int) -> Command:
        rng = self.person.chance("step", self.episode, step)
        advised = self._advice(state)
        slip = rng.random() >= self.person.temper.skill
        bounds = {tuple(of): (least, most) for of, least, most in state.get("amounts", ())}
        if advised and not slip and (advised in offered or _in_range(advised, bounds)):
            command = advised
        else:
            command = _with_amount(rng.choice(offered), bounds, rng)
        self._expect(state, command)
        return command

    def _advice(self, state: State) -> Command | None:
        """What a sensible person would do here; None where there is no telling."""
        decision = get_adviser(state["world"]).decide(self._situation(state, {}))
        self._memory = decision.memory
        return decision.commands.get(state["seat"])

    def _expect(self, state: State, own: Command) -> None:
        """What sensible teammates would do now."""
        if others := [seat for seat in range(state["seats"]) if seat != state["seat"]]:
            situation = self._situation(state, {state["seat"]: own})
            self._expected = dict(get_adviser(state["world"]).expected(situation, others))

    def _situation(self, state: State, commanded: Mapping[int, Command]) -> Situation:
        seat: int = state["seat"]
        return Situation(
            world=state["world"],
            step=state["step"],
            seats=(seat,),
            briefs={seat: state["brief"]},
            observations={seat: state["observation"]},
            legal={seat: [tuple(command) for command in state["legal"]]},
            commanded=commanded,
            people=(seat,),
            memory=self._memory,
            seed=self.person.chance("plan", self.episode, state["step"]).getrandbits(32),
        )

    def experience(self) -> Experience:
        """What this episode was like so far."""
        if self.last is None:
            return Experience()
        adviser, score = get_adviser(self.last["world"]), self.last["score"]
        return Experience(
            teammates=self.last["seats"] - 1,
            success=adviser.success(score),
            figure=next((one for one in standing(self.last["world"], score) if one[-1] != BLANK), ""),
            output=adviser.output(score, max(self.last["step"], 1)),
            expected=sum(self._hits) / len(self._hits) if self._hits else 0.0,
        )


Bounds = Mapping[Command, tuple[int, int]]
"""By command without its amount: the least and the most amount (`World.amounts`)."""


def _in_range(command: Command, bounds: Bounds) -> bool:
    """Whether this is a command with an amount that is offered."""
    least, most = bounds.get(command[:-1], (1, 0))
    return command[-1:] in {(str(amount),) for amount in range(least, most + 1)}


def _with_amount(command: Command, bounds: Bounds, rng: Random) -> Command:
    """Return the command with any amount that is offered; the command itself if it has none."""
    if found := bounds.get(command[:-1]):
        return (*command[:-1], str(rng.randint(*found)))
    return command
