"""Implement the co-player `recorded`, which gives the commands of one seat of a recorded game, step by step.

The whole recording is in the setting, as a text (`kitchen.contract.recorded_trial`). So a condition freezes
it, and a replay needs no other episode. The agent notices when the game is no longer the recorded one: from
then on it goes on regardless, or another program plays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

from kitchen.agents.random_agent import RandomAgent
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.canonical_json import canonical_json, text_hash
from kitchen.contract.declared_settings import Setting
from kitchen.contract.recorded_trial import RecordedTrial, recording_digest, recording_from_text
from kitchen.contract.world import Command, Json, World
from kitchen.contract.world_errors import SettingsError, WorldError
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_kit, get_world

GO_ON, GREEDY, STAY, RANDOM = "go_on", "greedy", "stay", "random"
OWN_SEAT = "own"
DIVERGED_KEY = "diverged_at"
"""The key of the note with the first step in which the game differed from the recording."""
MAX_CHARACTERS = 60_000
MAX_SEATS = 4
UNSEEN_FACTS = frozenset({"clock", "tick_ms", "layout", "title"})
"""Facts of a brief that name a game or say how fast it is played, and change nothing that is seen."""


class RecordedAgent(Agent):
    """Plays a seat as it was played in a recorded game, whatever others do."""

    kind: ClassVar[str] = "recorded"
    instant: ClassVar[bool] = True
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "recording",
            "text",
            "Recorded game",
            "",
            help="A finished or imported game, with the world's settings of this condition. The whole game "
            "is stored here, so nothing changes it later.",
            maximum=MAX_CHARACTERS,
            lines=3,
        ),
        Setting(
            "seat",
            "choice",
            "Seat of the recording",
            OWN_SEAT,
            help="Whose commands it gives. In another seat, it sees something else from the first step on.",
            choices=(
                (OWN_SEAT, "The seat in which it sits"),
                *((str(seat), f"Seat {seat}") for seat in range(MAX_SEATS)),
            ),
        ),
        Setting(
            "after",
            "choice",
            "When the game is no longer the recorded one",
            GO_ON,
            help="What it does from the first step in which its player sees something else, and after the "
            "recording ends.",
            choices=(
                (GO_ON, "It goes on with the recorded commands"),
                (GREEDY, "The world's simple program plays on"),
                (STAY, "It waits"),
                (RANDOM, "It does anything possible"),
            ),
        ),
    )

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the recording. Raises SettingsError if it is none."""
        super().__init__(chosen)
        text = self.chosen["recording"].strip()
        self.trial: RecordedTrial | None = _trial(text) if text else None
        self._text = text

    def refusal(self) -> str:
        """Return that a recording is needed, if there is none."""
        return "" if self.trial else "recording: choose a recorded game"

    def unfit(self, world: World, seats: Collection[int]) -> str:
        """Return why the recording cannot be played in this world; empty if it can."""
        if self.trial is None:
            return "it has no recorded game"
        if why := recording_unfit(self.trial, world):
            return why
        wanted = [self._seat(seat) for seat in seats]
        if any(seat >= self.trial.seats for seat in wanted):
            return f"the recorded game has {self.trial.seats} seats"
        if self.chosen["after"] == GREEDY and not _plays_on(world.kind):
            return "the world has no simple program that could play on"
        return ""

    def _seat(self, own: int) -> int:
        return own if self.chosen["seat"] == OWN_SEAT else int(self.chosen["seat"])

    async def decide(self, situation: Situation) -> Decision:
        """Return the recorded commands of this step, with a note that names the recording. The memory holds
        the first step that differed, and what the program that plays on remembers."""
        memory = situation.memory or {}
        diverged = memory.get(DIVERGED_KEY)
        if diverged is None and self.trial and self._differs(situation):
            diverged = situation.step
        note: dict[str, Json] = {"recorded": recording_digest(self._text), DIVERGED_KEY: diverged}
        after = self.chosen["after"]
        ended = self.trial is None or situation.step >= len(self.trial.turns)
        if not ended and (diverged is None or after == GO_ON):
            commands = {seat: self._recorded(situation, seat) for seat in situation.seats}
            return Decision(commands, memory={DIVERGED_KEY: diverged}, note=note)
        other = await self._play_on(situation, memory.get("after"))
        kept = {DIVERGED_KEY: diverged, "after": other.memory}
        return Decision(other.commands, memory=kept, note={**note, "after": GO_ON if ended else after})

    def _differs(self, situation: Situation) -> bool:
        """Return whether a seat sees something else than in the recording, or the recording has ended."""
        for seat in situation.seats:
            steps = situation.briefs[seat].get(get_kit(situation.world).steps or "")
            recorded = _seen(self._text, steps if isinstance(steps, int) else None)
            if recorded.at(situation.step, self._seat(seat)) != _digest(situation.observations[seat]):
                return True
        return False

    def _recorded(self, situation: Situation, seat: int) -> Command:
        assert self.trial is not None  # noqa: S101 - `decide` has looked
        turn = self.trial.turns[situation.step]
        own = self._seat(seat)
        return next((given for number, given in turn if number == own), get_world(situation.world).idle)

    async def _play_on(self, situation: Situation, memory: Json) -> Decision:
        """Return what the chosen program does in place of the recording. After a recording that has ended,
        `go_on` waits."""
        after = self.chosen["after"]
        seen = replace(situation, memory=memory)
        if after == GREEDY and (made := _plays_on(situation.world)):
            return await made({}).decide(seen)
        if after == RANDOM:
            return await RandomAgent({}).decide(seen)
        idle = get_world(situation.world).idle
        return Decision(dict.fromkeys(situation.seats, idle))


@lru_cache(maxsize=64)
def _trial(text: str) -> RecordedTrial:
    return recording_from_text(text)


def _plays_on(world: str) -> type[Agent] | None:
    """Return the class of the world's greedy program; None if it has none."""
    made = get_kit(world).coplayers.get(GREEDY)
    return made() if made else None


def recording_unfit(trial: RecordedTrial, world: World) -> str:
    """Return why a recorded game cannot be played in this world with its settings; empty if it can. Pace and
    number of steps may differ."""
    if trial.world != world.kind:
        return f"the recorded game is of {trial.world}"
    if trial.version != world.version:
        return f"the recorded game is of version {trial.version} of the world, and this is {world.version}"
    if trial.seats != world.seats:
        return f"the recorded game has {trial.seats} seats"
    steps = get_kit(world.kind).steps
    try:
        other = world.create(seats=trial.seats, settings=dict(trial.settings))
    except WorldError as error:
        return f"the recorded game cannot be played here: {error}"
    left_out = UNSEEN_FACTS | {steps}
    theirs, ours = (
        {name: value for name, value in each.brief(0).items() if name not in left_out}
        for each in (other, world)
    )
    differ = [name for name in ours if ours[name] != theirs.get(name)]
    return f"the recorded game has another {differ[0].replace('_', ' ')}" if differ else ""


def _digest(observation: Mapping[str, Json]) -> str:
    return text_hash(canonical_json(observation))


class _SeenStates:
    """The observations of each seat in each step of a recording. A step is played when it is asked for."""

    def __init__(self, trial: RecordedTrial, settings: Mapping[str, Json]) -> None:
        self.trial = trial
        self.world: World = get_world(trial.world).create(seats=trial.seats, settings=settings)
        self.world.reset(trial.seed)
        self.digests: list[list[str]] = []

    def at(self, step: int, seat: int) -> str:
        """Return the hash of what this seat sees after `step` steps; empty after the recording."""
        while len(self.digests) <= step <= len(self.trial.turns):
            if self.digests:
                self.world.step(self.trial.turns[len(self.digests) - 1])
            self.digests.append([_digest(self.world.observe(each)) for each in range(self.trial.seats)])
        return self.digests[step][seat] if step < len(self.digests) else ""


@lru_cache(maxsize=32)
def _seen(text: str, steps: int | None) -> _SeenStates:
    """Return what is seen in a recording, in a game of so many steps (None: as many as it had)."""
    trial = _trial(text)
    named = get_kit(trial.world).steps
    settings = {**trial.settings, named: steps} if named and steps is not None else trial.settings
    try:
        return _SeenStates(trial, settings)
    except (WorldError, UnknownNameError) as error:
        raise SettingsError(f"recording: it cannot be played here: {error}") from error
