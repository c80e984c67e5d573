"""List the commands of one of the players of the agent `pairwise`, and carry out the chosen command.

In a world with skills (actions of several steps), each command is a skill. In other worlds, it is a single
command from the player's menu.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from kitchen.agents.pairwise.settings import PairwiseOptions
from kitchen.agents.skill_agents.base_agent import (
    PlannedSkill,
    SeatStep,
    SkillMemory,
    failed_conditions,
    with_minimum_wait,
)
from kitchen.agents.skill_agents.skill_text import first_skill, skill_lines
from kitchen.contract.agent import Situation
from kitchen.contract.agent_skills import SeatObservation, Skills, spell_skill, wait_skill
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.world import Command, Event, Json
from kitchen.pages.default_page import DefaultPage
from kitchen.registry.agent_registry import get_adviser, get_skills
from kitchen.registry.world_registry import get_kit, get_page, get_world
from kitchen.words.gettext_without_django import in_english

MENU = "A command may last several steps. If it ends with a number, you may write another number."
_WORDS = re.compile(r"[A-Za-z0-9_]+")
_NUMBER = re.compile(r"[1-9]\d{0,3}")


class OwnCommands(ABC):
    """The commands of one seat in one step."""

    def __init__(self, situation: Situation, seat: int) -> None:
        self.situation, self.seat = situation, seat

    @property
    @abstractmethod
    def doing(self) -> str:
        """Return the command that the seat carries out now, as text. Empty if the seat can begin one."""

    @abstractmethod
    def possible(self) -> list[Command]:
        """Return the commands that can begin now."""

    @abstractmethod
    def spell(self, command: Command) -> str:
        """Return the command as text, in the form used by prompts and replies."""

    @abstractmethod
    def read(self, text: str) -> Command | None:
        """Return the command that a model wrote; None if there is no such command."""

    @abstractmethod
    def why_not(self, command: Command) -> str:
        """Return a sentence that says why the command cannot begin now. Empty if it can."""

    @abstractmethod
    def begin(self, command: Command, by: str) -> None:
        """Begin a command in place of the command in progress. `by` is the kind of agent that chose it."""

    @abstractmethod
    def command(self) -> Command | None:
        """Return the seat's next command in the game, for this step. None to do nothing."""

    @abstractmethod
    def rule(self) -> Command | None:
        """Return the command that fixed rules choose for the seat now. Return None if they choose none."""

    @abstractmethod
    def wish(self, other: int) -> str:
        """Return a command of the seat `other` that would help this seat, as text. Empty if none is known."""

    @abstractmethod
    def about(self) -> list[tuple[str, Sequence[str]]]:
        """Return the parts of the prompt that describe the game and never change, as (title, lines) pairs."""

    @abstractmethod
    def scene(self) -> str:
        """Return the seat's observation as text for the prompt."""

    @abstractmethod
    def held(self) -> str:
        """Return the items that the seat carries, as text."""

    @abstractmethod
    def named(self, seat: int) -> str:
        """Return the name of a seat."""

    @property
    def by(self) -> str:
        """Return the kind of agent that chose the seat's present command. Return an empty text if the seat
        does nothing."""
        return ""

    @property
    def memory(self) -> Json:
        """Return the data of the command in progress that the agent must remember."""
        return None


class SkillCommands(OwnCommands):
    """The commands of a seat in a world with skills."""

    def __init__(self, situation: Situation, seat: int, options: PairwiseOptions, memory: Json) -> None:
        super().__init__(situation, seat)
        self.skills: Skills = get_skills(situation.world)
        self.sight = SeatObservation.of(situation, seat)
        self.manner = options.manner(self.skills.manner(self.sight))
        self.options = options
        self.step = SeatStep(self.skills, self.sight, options, situation.step, SkillMemory.read(memory))

    @property
    def doing(self) -> str:
        newest = self.step.memory.newest
        return spell_skill(newest.skill) if newest else ""

    @property
    def by(self) -> str:
        return self.step.by

    @property
    def memory(self) -> Json:
        return self.step.memory.to_json()

    def possible(self) -> list[Command]:
        offered = self.skills.offered(self.sight, self.seat)
        able = [one for one in offered if not failed_conditions(self.skills, self.sight, one)]
        return [*able, wait_skill(self.skills.shortest_wait(self.sight))]

    def spell(self, command: Command) -> str:
        return spell_skill(command)

    def read(self, text: str) -> Command | None:
        return first_skill(text, self.skills, self.sight)

    def why_not(self, command: Command) -> str:
        failed = failed_conditions(self.skills, self.sight, command)
        return failed[0].why_not if failed else ""

    def begin(self, command: Command, by: str) -> None:
        skill = with_minimum_wait(self.skills, self.sight, command)
        self.step.memory = replace(self.step.memory, plan=None, coming=None)
        self.step.take(PlannedSkill(skill, by, self.situation.step))

    def command(self) -> Command | None:
        chance = Random(derived_seed(self.situation.seed, self.seat))  # noqa: S311
        return self.step.command(chance)

    def rule(self) -> Command | None:
        return self.skills.errand(self.sight)

    def wish(self, other: int) -> str:
        skill = self.skills.rule(self.sight, other, self.manner)
        return "" if skill[0] == wait_skill()[0] else spell_skill(skill)

    def about(self) -> list[tuple[str, Sequence[str]]]:
        primer, chosen = self.skills.primer(self.sight, self.manner), self.options
        shown = primer.examples[: chosen.examples]
        examples = (line for one in shown for line in (one.scene, f"Command: {spell_skill(one.plan)}", ""))
        return [
            ("The game", [primer.game]),
            ("Rules", primer.rules if chosen.rules else ()),
            ("How things are made", primer.making if chosen.making else ()),
            ("Here", [f"- {line}" for line in primer.remarks] if chosen.remarks else ()),
            ("Commands", list(skill_lines(primer.skills, self.manner))),
            ("Examples of commands", list(examples)),
        ]

    def scene(self) -> str:
        return self.skills.scene(self.sight)

    def held(self) -> str:
        name = self.named(self.seat)
        own = (line for line in self.scene().splitlines() if line.startswith(f"{name} "))
        return " ".join(line.partition(" holds ")[2] for line in own).rstrip(".") or "nothing"

    def named(self, seat: int) -> str:
        return self.skills.named(seat)


class MenuCommands(OwnCommands):
    """The menu of a seat in a world without skills."""

    def __init__(self, situation: Situation, seat: int) -> None:
        super().__init__(situation, seat)
        self.idle = get_world(situation.world).idle
        self.chosen = self.idle

    @property
    def doing(self) -> str:
        asked = self.situation.request.asked
        return "what you began before" if asked is not None and self.seat not in asked else ""

    def possible(self) -> list[Command]:
        return [command for command in self.situation.legal[self.seat] if command != self.idle]

    def spell(self, command: Command) -> str:
        return " ".join(command)

    def read(self, text: str) -> Command | None:
        words = _WORDS.findall(text)
        found = next((each for each in self.possible() if list(each) == words[: len(each)]), None)
        return found or self._with_amount(words)

    def _with_amount(self, words: Sequence[str]) -> Command | None:
        """Return the menu's command that these words name, with the amount in the words. Return None if the
        menu has no such command."""
        for each in self.possible():
            start = len(each) - 1
            if _NUMBER.fullmatch(each[-1]) and list(each[:-1]) == words[:start]:
                amount = words[start] if len(words) > start else each[-1]
                return (*each[:-1], amount) if _NUMBER.fullmatch(amount) else None
        return None

    def why_not(self, command: Command) -> str:
        return ""

    def begin(self, command: Command, by: str) -> None:
        self.chosen = command

    def command(self) -> Command | None:
        return self.chosen

    def rule(self) -> Command | None:
        seen = {self.seat: self.situation.observations[self.seat]}
        alone = replace(self.situation, seats=(self.seat,), observations=seen, memory=None)
        advice = get_adviser(self.situation.world).advise(alone)
        if advice and self.read(self.spell(advice.command)) == advice.command:
            return advice.command
        chance = Random(derived_seed(self.situation.seed, self.seat))  # noqa: S311
        return chance.choice(self.possible()) if self.possible() else None

    def wish(self, other: int) -> str:
        return ""

    def about(self) -> list[tuple[str, Sequence[str]]]:
        page = get_page(self.situation.world)
        with in_english():
            rules = [str(each) for each in page.rules] if isinstance(page, DefaultPage) else []
        brief = json.dumps(self.situation.briefs[self.seat], ensure_ascii=False)
        return [("Rules", rules), ("What you know", [brief]), ("Commands", [MENU])]

    def scene(self) -> str:
        seen = self.situation.observations[self.seat]
        news = [dict(event.data) | {"event": event.kind} for event in self._own_events()]
        happened = [f"What happened to you: {json.dumps(news, ensure_ascii=False)}"] if news else []
        return "\n".join([f"You see: {json.dumps(seen, ensure_ascii=False)}", *happened])

    def _own_events(self) -> Iterator[Event]:
        return (event for event in self.situation.events if event.seat == self.seat)

    def held(self) -> str:
        seen = self.situation.observations[self.seat]
        players = seen.get("players", ())
        own = players[self.seat].get("holds") if len(players) > self.seat else seen.get("inventory")
        return json.dumps(own, ensure_ascii=False) if own else "nothing"

    def named(self, seat: int) -> str:
        return f"Player {seat}"


def own_commands(situation: Situation, seat: int, options: PairwiseOptions, memory: Json) -> OwnCommands:
    """Return the commands of a seat. `memory` is what `OwnCommands.memory` returned in the last step."""
    if get_kit(situation.world).skills:
        return SkillCommands(situation, seat, options, memory)
    return MenuCommands(situation, seat)
