"""Define an agent of the test world Beacon that asks a language model in which direction to steer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import ClassVar

from kitchen.contract.agent import Agent, Decision, ForecastTrial, Situation
from kitchen.contract.declared_settings import Setting
from kitchen.contract.language_model import Message, Request
from kitchen.contract.world import Command, Json
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.provider_registry import STAND_IN, make_decision_model, parse_model_setting
from kitchen.llm.providers.stand_in_model import StandIn, StandInAdvice
from tests.worlds.beacon.world import PILOT, WAIT

RULES = "You steer a ship by the light that the keeper showed last. Write steer_agent1_left or the like."
WRITTEN = re.compile(r"steer(?:_agent1_|\(agent1, )(left|right)")


class Pilot(Agent):
    """An agent that steers where the light was, if its model agrees."""

    kind: ClassVar[str] = "pilot"
    worlds: ClassVar[tuple[str, ...]] = ("beacon",)
    settings: ClassVar[tuple[Setting, ...]] = (Setting("oracle", "text", "Language model", STAND_IN),)
    names_model: ClassVar[str] = "oracle"

    def model(self) -> str:
        """Return the language model that the settings select."""
        return ":".join(parse_model_setting(self.chosen["oracle"]))

    def rehearsal(self) -> ForecastTrial:
        """Return how to forecast this agent's calls: with the stand-in model."""
        return ForecastTrial({"oracle": STAND_IN})

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the rules as the fixed messages of the prompt."""
        return (RULES,)

    async def decide(self, situation: Situation) -> Decision:
        """Ask the model once, and return the decision."""
        provider, model = parse_model_setting(self.chosen["oracle"])
        seen = situation.observations[PILOT]
        asked = [Message("system", RULES, fixed=True), Message("user", f"The ship and the light: {seen}")]
        door = make_decision_model(
            provider,
            rng=Random(situation.seed),
            purse=situation.limits.purse,
            stand_in=lambda: StandIn(lambda: StandInAdvice({PILOT: follow(seen)}), seed=situation.seed),
        )
        call = await ask_and_record(door, Request(model, asked, seconds=situation.limits.seconds))
        found = WRITTEN.search(call.reply.text) if call.reply else None
        command: Command = ("steer", found[1]) if found else WAIT
        return Decision({PILOT: command}, played_by=STAND_IN if provider == STAND_IN else "", calls=(call,))


def follow(seen: Mapping[str, Json]) -> Command:
    """Return the direction in which the light was."""
    return ("steer", seen["light"]) if seen["light"] in ("left", "right") else WAIT
