"""Implement the co-player `policy`: a trained neural network in an ONNX file.

In each step it encodes what its seat knows, runs the network, and draws a command by the network's
probabilities. A recurrent network's state is the agent's memory. A replay uses the commands of the log: the
last bits of a network's numbers differ between processors.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, ClassVar

from kitchen.agents.policy.policy_card import PolicyFileError
from kitchen.agents.policy.policy_folder import (
    MissingPolicyError,
    PolicyFile,
    find_policy,
    parse_reference,
)
from kitchen.agents.policy.policy_session import INSTALL, PACKAGE, PolicySession, is_installed, policy_session
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.declared_settings import Setting
from kitchen.contract.encoding import Encoding
from kitchen.contract.world import Command, Json, World
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.world_registry import get_world

if TYPE_CHECKING:
    from numpy import ndarray

DRAWN, LIKELIEST = "drawn", "likeliest"
FILE = "file"
NO_FILE = "file: choose a policy file"
MAX_MEMORY = 16_000
"""Maximum number of characters of a seat's state in base64."""
LEAST_SECONDS = 1.0
"""Seconds after which a network that runs for ever is stopped. Earlier, an answer is only late."""
PLACES = 4
"""Decimal places of the probabilities in a note."""


class Policy(Agent):
    """Plays what a trained network says. It commands each of its seats by itself."""

    kind: ClassVar[str] = "policy"
    package: ClassVar[str] = PACKAGE
    instant: ClassVar[bool] = True
    repeatable: ClassVar[bool] = False
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            FILE,
            "text",
            "Policy file",
            "",
            help="A trained network. Upload more on the page of policy files.",
        ),
        Setting(
            "choice",
            "choice",
            "Choice",
            DRAWN,
            help="Self-play policies often play badly if they always take the likeliest action.",
            choices=((DRAWN, "drawn by the probabilities"), (LIKELIEST, "always the likeliest action")),
        ),
        Setting(
            "temperature",
            "float",
            "Temperature",
            1.0,
            help="Below 1 it plays likely actions more often, above 1 it plays more at random.",
            minimum=0.1,
            maximum=5,
        ),
    )

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Store the settings. Raises SettingsError if one is wrong."""
        super().__init__(chosen)
        if self.chosen[FILE] and parse_reference(self.chosen[FILE]) is None:
            raise SettingsError(f"{FILE}: {self.chosen[FILE]!r} is not NAME:SHA256 of a policy file")

    def refusal(self) -> str:
        """Return that a file must be chosen; empty if one is."""
        return "" if self.chosen[FILE] else NO_FILE

    def cautions(self) -> tuple[str, ...]:
        """Return a sentence if the package that runs networks is missing."""
        return () if is_installed() else (INSTALL,)

    def world_cautions(self, world: str, settings: Mapping[str, Json]) -> tuple[str, ...]:
        """Return a sentence if the policy was trained with other settings of the world."""
        with suppress(MissingPolicyError):
            file = find_policy(self.chosen[FILE])
            if unlike := file.card.unlike({**default_settings(world), **settings}):
                listed = ", ".join(unlike)
                return (f"The policy {file.name} was not trained with {listed}. It may play badly.",)
        return ()

    def facts(self) -> Mapping[str, Json]:
        """Return the name of the file's encoding."""
        with suppress(MissingPolicyError):
            return {"encoding": find_policy(self.chosen[FILE]).card.encoding}
        return {}

    def unfit(self, world: World, seats: Collection[int]) -> str:
        """Return why the policy cannot play this world; empty if it can."""
        try:
            return find_policy(self.chosen[FILE]).unfit(world)
        except MissingPolicyError as error:
            return str(error)

    def prepare(self, world: str) -> None:
        """Load the network and its encoding, and run the network once. Importing onnxruntime alone takes half
        a second."""
        file = find_policy(self.chosen[FILE])
        file.encoding(world)
        policy_session(file.path).warm_up()

    async def decide(self, situation: Situation) -> Decision:
        """Return a command for each seat that is asked, with the probabilities in the note. Raises
        MissingPolicyError, PolicyFileError, and errors of the network."""
        file = find_policy(self.chosen[FILE])
        encoding = file.encoding(situation.world)
        if encoding is None:
            raise PolicyFileError("no_such_encoding", f"{situation.world} has no {file.card.encoding}")
        network, memory = policy_session(file.path), situation.memory or {}
        asked = situation.request.asked if situation.request.asked is not None else situation.seats
        commands: dict[int, Command] = {}
        kept: dict[str, Json] = {}
        shares: dict[str, Json] = {}
        for seat in situation.seats:
            before = memory.get(str(seat))
            seen = SeatProbabilities(file, encoding, network, situation, seat)
            chances, after = seen.chances(before, self.chosen["temperature"])
            if after:
                kept[str(seat)] = after
            if not chances or seat not in asked:
                continue
            chance = Random(derived_seed(situation.seed, seat))  # noqa: S311
            commands[seat] = self._chosen_command(chances, chance)
            shares[str(seat)] = {
                " ".join(command): share
                for command, exact in chances.items()
                if (share := round(exact, PLACES))
            }
        return Decision(commands, memory=kept or None, note={"probabilities": shares})

    def _chosen_command(self, chances: Mapping[Command, float], chance: Random) -> Command:
        if self.chosen["choice"] == LIKELIEST:
            return max(chances, key=lambda command: chances[command])
        (drawn,) = chance.choices(list(chances), list(chances.values()))
        return drawn


class SeatProbabilities:
    """The probabilities that the network gives to the commands of one seat, in one situation."""

    def __init__(
        self, file: PolicyFile, encoding: Encoding, network: PolicySession, situation: Situation, seat: int
    ) -> None:
        self.file, self.encoding, self.network = file, encoding, network
        self.brief, self.legal = situation.briefs[seat], situation.legal[seat]
        self.observation = encoding.encode(self.brief, situation.observations[seat], seat)
        self.seconds = max(situation.limits.seconds, LEAST_SECONDS)

    def chances(self, memory: Json, temperature: float) -> tuple[dict[Command, float], Json]:
        """Return (the probability of each command that may be chosen, the next state as JSON)."""
        listed = self.encoding.commands(self.brief, self.legal)
        order = self.file.card.order(self.encoding, listed)
        mask = self.encoding.mask(self.brief, self.legal)
        count = self.encoding.action_count(self.brief)
        states = read_states(memory) if memory else self.network.first_states()
        logits, after = self.network.run(
            self.observation, _in_order(mask, order, count), states, self.seconds
        )
        if logits.shape != (count,):
            raise PolicyFileError("wrong_output", f"{logits.shape[0]} logits, and {count} are needed")
        open_to = [at for at in range(len(listed)) if mask[at] or not self.encoding.masked]
        values = [float(logits[order[at]]) for at in open_to]
        shares = softmax(values, temperature)
        return dict(zip((listed[at] for at in open_to), shares, strict=True)), states_json(after)


def default_settings(world: str) -> dict[str, Json]:
    """Return the default value of each setting of a world."""
    return {setting.name: setting.default for setting in get_world(world).settings}


def _in_order(mask: ndarray, order: Sequence[int], count: int) -> ndarray:
    """Return the mask of the encoding's actions in the order of the network's."""
    import numpy

    changed = numpy.zeros(count, mask.dtype)
    changed[order] = mask[: len(order)]
    return changed


def softmax(values: Sequence[float], temperature: float) -> list[float]:
    """Return the probabilities that belong to these logits. Raises ValueError if one is no finite number."""
    if not all(map(math.isfinite, values)):
        raise ValueError("the network's logits are not finite")
    if not values:
        return []
    most = max(values)
    weights = [math.exp((value - most) / temperature) for value in values]
    total = sum(weights)
    return [weight / total for weight in weights]


def states_json(states: Mapping[str, ndarray]) -> Json:
    """Return a recurrent network's state as JSON. Raises ValueError if it is too large."""
    stored = {
        name: [list(array.shape), base64.b64encode(array.astype("<f4").tobytes()).decode()]
        for name, array in states.items()
    }
    if sum(len(text) for _, text in stored.values()) > MAX_MEMORY:
        raise ValueError(f"the state has more than {MAX_MEMORY} characters")
    return stored


def read_states(stored: Mapping[str, Json]) -> dict[str, ndarray]:
    """Return the state that `states_json` returned."""
    import numpy

    return {
        name: numpy.frombuffer(base64.b64decode(text), "<f4").reshape(shape)
        for name, (shape, text) in stored.items()
    }
