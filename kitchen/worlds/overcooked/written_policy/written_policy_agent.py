"""Implement the agent `written_policy`, which plays by a small decision tree that people can read.

The tree (`policy_tree`) is a setting, so it is frozen, exported and replayed with its condition. A language
model can write it before the study (`manage.py write_policy`); no model is asked during play. The note of a
decision has the line that decided, each time that another line decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import ClassVar

from kitchen.contract.agent import Decision, Situation
from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Command, Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.overcooked.game_rules import STAY
from kitchen.worlds.overcooked.grid_pursuit import PURSUER
from kitchen.worlds.overcooked.layout import DIRECTIONS
from kitchen.worlds.overcooked.partners.baseline_agents import SimplePartner, free_directions
from kitchen.worlds.overcooked.partners.grid_snapshot import scene_from_situation
from kitchen.worlds.overcooked.partners.step_aside_agent import step_aside
from kitchen.worlds.overcooked.skill_snapshot import SkillMoment
from kitchen.worlds.overcooked.skills import next_move
from kitchen.worlds.overcooked.written_policy.policy_facts import (
    ASIDE,
    FACTS,
    VOCABULARY,
    WAIT,
    is_act_possible,
    skill_of_act,
)
from kitchen.worlds.overcooked.written_policy.policy_tree import (
    MAX_CHARACTERS,
    UNDECIDED,
    PolicyTree,
    PolicyTreeError,
    parse_policy_tree,
)

DEFAULT_TREE = Path(__file__).with_name("default_tree.txt").read_text(encoding="utf-8")
TREE_SETTING = "tree"
LINES_KEY, ASIDE_KEY = "policy_lines", "policy_asides"
"""Keys of the note. `policy_lines`: for each seat for which another line decides now, the line, its text, and
the number of ticks for which the line before it decided. `policy_asides`: the seats that step aside because
their partner blocks them."""


@lru_cache(maxsize=64)
def read_tree(text: str) -> PolicyTree:
    """Return the tree that this text describes. Raises PolicyTreeError for the first mistake."""
    return parse_policy_tree(text, VOCABULARY)


@dataclass(frozen=True, slots=True)
class SeatMemory:
    """The agent's memory for one of its seats."""

    line: int = -1
    """The line that decided last; -1 before the first decision."""
    ticks: int = 0
    """Ticks for which it has decided, without a break."""
    walked: bool = False
    """Whether the last command was a direction."""
    waits: int = 0
    """Ticks left to wait after a step aside (`step_aside`)."""


class WrittenPolicyAgent(SimplePartner):
    """An agent that does in each tick the first act of its tree that applies and is possible."""

    kind: ClassVar[str] = "written_policy"
    light: ClassVar[bool] = False
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            TREE_SETTING,
            "text",
            "Decision tree",
            DEFAULT_TREE,
            help="The first act that applies and is possible is done. A line is an act (“deliver”) or has a "
            "condition (“if pot ready and not partner holding dish: pickup dish”). "
            "manage.py write_policy lets a language model write a tree.",
            minimum=1,
            maximum=MAX_CHARACTERS,
            lines=17,
        ),
    )

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the tree. Raises SettingsError, which names the line, for a mistake in it."""
        super().__init__(chosen)
        try:
            self.tree = read_tree(self.chosen[TREE_SETTING])
        except PolicyTreeError as error:
            raise SettingsError(f"{TREE_SETTING}: {error}") from error

    async def decide(self, situation: Situation) -> Decision:
        """Return a command for every seat that the agent plays. The same situation gives the same
        commands."""
        memory, note = situation.memory or {}, dict[str, list[Json]]()
        still = memory.get("poses") == scene_from_situation(situation).poses
        seats, commands = dict[str, Json](), dict[int, Command]()
        for seat in situation.seats:
            before = SeatMemory(**memory.get("seats", {}).get(str(seat), {}))
            choice = _Choice(self.tree, situation, seat, before, note)
            commands[seat] = choice.command(is_blocked=still and before.walked)
            seats[str(seat)] = asdict(choice.after(commands[seat]))
        poses = scene_from_situation(situation).poses
        return Decision(commands, memory={"poses": poses, "seats": seats}, note=note or None)


class _Choice:
    """The choice of one seat's command in one tick."""

    def __init__(
        self,
        tree: PolicyTree,
        situation: Situation,
        seat: int,
        before: SeatMemory,
        note: dict[str, list[Json]],
    ) -> None:
        self.situation, self.seat, self.before, self.note = situation, seat, before, note
        self.moment = SkillMoment(scene_from_situation(situation), seat)
        self.line, self.act, text = UNDECIDED, WAIT, ""
        for line, act in tree.acts(lambda fact: FACTS[fact](self.moment)):
            if is_act_possible(self.moment, act):
                self.line, self.act, text = line.number, act, line.text
                break
        self.waits = before.waits
        if self.line != before.line:
            told = {"seat": seat, "line": self.line, "text": text, "ticks_before": before.ticks}
            note.setdefault(LINES_KEY, []).append(told)

    def command(self, *, is_blocked: bool) -> Command:
        """Return the seat's command. If the cooks block each other, it is a random step aside."""
        scene, chance = self.moment.scene, Random(f"{self.situation.seed}:{self.seat}")  # noqa: S311
        if is_blocked and (ways := free_directions(scene, self.seat)):
            self.note.setdefault(ASIDE_KEY, []).append(self.seat)
            return chance.choice(ways)
        command = self._by_act(chance)
        if command == STAY and self.act != ASIDE:
            command = PURSUER.make_way(self.situation, self.seat) or STAY
        return command if command in self.situation.legal[self.seat] else STAY

    def _by_act(self, chance: Random) -> Command:
        if self.act == ASIDE:
            command, self.waits = step_aside(self.situation, self.seat, self.waits)
            return command
        skill = skill_of_act(self.moment, self.act)
        return next_move(self.moment, skill, chance) if skill else STAY

    def after(self, command: Command) -> SeatMemory:
        """Return the memory after this command."""
        ticks = self.before.ticks if self.line == self.before.line else 0
        done = SeatMemory(self.line, ticks + 1, command[0] in DIRECTIONS, max(0, self.waits - 1))
        return done if self.act == ASIDE else replace(done, waits=0)
