"""Offer the commands in the worlds of blocks as skills (actions of several steps) to agents.

In most of these worlds, a skill is a macro, a command that lasts several steps. In the kitchen, a skill is
one action. The module also has fixed rules that choose a skill from what one player knows. If one player must
hold all the targets, the others give their items to that player, who makes the targets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from kitchen.contract.agent import Situation
from kitchen.contract.agent_skills import (
    FREELY,
    READY,
    GameDescription,
    PlayStyle,
    SeatObservation,
    Skill,
    SkillCondition,
    Skills,
    spell_skill,
    wait_skill,
)
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Command, Event, Json
from kitchen.worlds.blocks.block_game_text import describe_game, describe_scene, player_name
from kitchen.worlds.blocks.block_planner import commands_of
from kitchen.worlds.blocks.block_pursuit import PURSUER, seats_in
from kitchen.worlds.blocks.item_recipes import recipe_book
from kitchen.worlds.blocks.item_words import has_name
from kitchen.worlds.blocks.kitchen_planner import kitchen_commands
from kitchen.worlds.blocks.kitchen_world import ACTIONS
from kitchen.worlds.blocks.macro_rule import AMOUNT
from kitchen.worlds.blocks.macro_world import GO_ON, MACROS, STOP
from kitchen.worlds.blocks.planner_team import Team

WAIT_FOR_GIFTS = 3
"""Steps that a player waits for the things of others before it looks again."""
NOT_OFFERED = (*GO_ON, *STOP, "stay", "discard")
"""Verbs of the menu that are no offered skills: to wait is a skill of every agent."""
_TOKEN = re.compile(r"[a-z0-9]+")


def has_amount(skill: Sequence[str]) -> bool:
    """Return whether the last word of this command is an amount."""
    return skill[0] in MACROS and MACROS[skill[0]].arguments[-1] == AMOUNT


class BlockSkills(Skills):
    """The macros of the worlds of blocks, and the actions of their kitchen."""

    def seats(self, sight: SeatObservation) -> Sequence[int]:
        """Return the seats of all players."""
        return range(seats_in(sight.seen))

    def named(self, seat: int) -> str:
        """Return the name of a seat in prompts, such as `Player 0`."""
        return player_name(seat)

    def manner(self, sight: SeatObservation) -> PlayStyle:
        """Return the usual play style: waits of any length are offered."""
        return PlayStyle(FREELY, READY)

    def primer(self, sight: SeatObservation, manner: PlayStyle) -> GameDescription:
        """Return the description of the game for the agent's seat."""
        return describe_game(sight.brief, sight.seat, seats_in(sight.seen))

    def scene(self, sight: SeatObservation) -> str:
        """Return the present state as text."""
        return describe_scene(sight)

    def offered(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return the commands that the agent's seat can begin now. Return an empty list for other seats,
        whose menus the agent does not know."""
        if other != sight.seat:
            return ()
        return [command for command in sight.legal if command[0] not in NOT_OFFERED]

    def meant(self, written: Sequence[str], sight: SeatObservation) -> Skill | None:
        """Return the skill that a model's words name: a command of the menu, with any amount, or else a
        command that is well formed. None if there is none."""
        words = [word.lower() for word in written]
        known = ((command[:-1] if has_amount(command) else command, command) for command in sight.legal)
        fitting = [(len(tokens), head, command) for head, command in known if (tokens := _fit(words, head))]
        if not fitting:
            return _read_freely(words)
        length, head, command = max(fitting, key=lambda each: each[0])
        if head[0] in NOT_OFFERED[:2]:
            return None
        amount = next((word for word in words[length : length + 1] if word.isdecimal()), command[-1])
        return command if head == command else (*head, amount)

    def conditions(self, sight: SeatObservation, skill: Skill) -> Sequence[SkillCondition]:
        """Return one condition: the command can begin now."""
        spelled, possible = spell_skill(skill), can_begin(sight, skill)
        why_not = f"{spelled} is not possible now, or not with this amount."
        return [SkillCondition("not_possible", f"{spelled} can begin now", why_not, possible)]

    def mark(self, sight: SeatObservation, skill: Skill) -> Json:
        """Return the number of steps taken so far; for a macro in progress, when it began."""
        is_begun = _doing(sight) == skill
        return sight.seen["step"] - (sight.seen["since"]["steps"] if is_begun else 0)

    def status(self, sight: SeatObservation, skill: Skill, since: Json) -> str:
        """Return SUCCESS if the macro that began at step `since` is done, FAIL if it failed or was refused,
        else UNKNOWN."""
        seen, ends = sight.seen, ("refused", "failed")
        if seen["step"] <= since or _doing(sight):
            return UNKNOWN
        if any(event.seat == sight.seat and event.kind in ends for event in sight.events):
            return FAIL
        if "since" not in seen:
            return SUCCESS
        last = seen["since"]
        has_begun = tuple(last["command"] or ()) == skill and seen["step"] - last["steps"] >= since
        return SUCCESS if has_begun else FAIL

    def finished(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return the macro that the seat `other` ended in the last step, or its action in the kitchen, as far
        as the agent's seat may see it."""
        return [done for event in sight.events if event.seat == other for done in _done(sight, event)]

    def command(self, sight: SeatObservation, skill: Skill, chance: Random) -> Command | None:
        """Return the command that begins the skill, or that continues it if it is in progress. Return None
        if the skill cannot begin."""
        if _doing(sight):
            return GO_ON
        return skill if can_begin(sight, skill) else None

    def rule(self, sight: SeatObservation, other: int, manner: PlayStyle) -> Skill:
        """Return the macro that the agent's own seat continues or that the planner would begin. If `other`
        is another seat, return a wait, because its items are not known."""
        if other != sight.seat:
            return wait_skill()
        if doing := _doing(sight):
            return doing
        command = _planned(sight)
        if command is None or not can_begin(sight, command):
            return wait_skill(WAIT_FOR_GIFTS if "since" in sight.seen else 1)
        return command


def _doing(sight: SeatObservation) -> Skill:
    """Return the macro in progress of the agent's seat; empty if there is none."""
    return tuple(sight.seen.get("doing") or ())


def can_begin(sight: SeatObservation, skill: Sequence[str]) -> bool:
    """Return whether the menu and the inventory show that this command can begin now. While a macro is in
    progress, return True only for this macro."""
    command = tuple(skill)
    if doing := _doing(sight):
        return command == doing
    if command in sight.legal or (command[0] == "goto_at" and len(command) == 4):
        return True
    if not has_amount(command) or not command[-1].isdecimal() or (*command[:-1], "1") not in sight.legal:
        return False
    return 1 <= int(command[-1]) <= _most(sight.seen["inventory"], command[0], command[-2])


def _most(held: Mapping[str, int], verb: str, item: str) -> int:
    """Return the greatest amount with which a command (`verb` and `item`) can begin, given the items that
    the seat holds. For verbs that use up no items, the result is 9999, which means no limit."""
    if verb == "craft":
        book = recipe_book()
        return max((book.most_times(row, held) for row in book.by_item.get(item, ())), default=0)
    return held.get(item, 0) if verb in ("give", "put", "discard", "smelt") else 9999


def _planned(sight: SeatObservation) -> Command | None:
    """Return the next command of the agent's seat by the rules of the planner. Return None if the planner
    would wait."""
    seat, brief, seen = sight.seat, sight.brief, sight.seen
    situation = Situation(
        world="",
        step=seen["step"],
        seats=(seat,),
        briefs={seat: brief},
        observations={seat: seen},
        legal={seat: sight.legal},
    )
    command: Command
    if "dishes" in brief:
        command = kitchen_commands(situation).get(seat, GO_ON)
    elif "target" in brief or "targets" in brief:
        aim = PURSUER.suggest(brief, seen, seat, ())
        return PURSUER.pursue(situation, seat, aim, None).command if aim else None
    else:
        builds = (each for each in sight.legal if each[0] == "build")
        command = next(builds, GO_ON)
        if command == GO_ON:
            command = commands_of(Team(situation)).get(seat, GO_ON)
    return None if command == GO_ON else command


def _done(sight: SeatObservation, event: Event) -> Iterator[Skill]:
    if event.kind == "done" and "macro" in event.data:
        yield tuple(event.data["macro"])
    elif event.kind == "performed" and "dishes" in sight.brief and event.data["command"][0] in ACTIONS:
        yield tuple(event.data["command"])


# Reading a model's words


def _tokens(words: Sequence[str]) -> list[str]:
    return _TOKEN.findall(" ".join(words).lower())


def _fit(written: Sequence[str], head: Sequence[str]) -> list[str]:
    """Return the tokens of a command if the written words begin with them; else an empty list."""
    tokens = _tokens(head)
    return tokens if list(written[: len(tokens)]) == tokens else []


def _read_freely(written: Sequence[str]) -> Skill | None:
    """Return the command in the written words even if it is not in the menu: a verb, followed by as many
    names and numbers as the verb needs. Return None if there is none."""
    arities = {verb: len(rule.arguments) for verb, rule in MACROS.items()}
    arities |= {verb: int(verb != "takeOutFurnace") for verb in ACTIONS}
    verbs = [(tokens, verb) for verb in arities if (tokens := _fit(written, [verb]))]
    if not verbs:
        return None
    tokens, verb = max(verbs, key=lambda each: len(each[0]))
    rest, found = list(written[len(tokens) :]), list[str]()
    while rest and len(found) < arities[verb]:
        spans = (tuple(rest[:length]) for length in (4, 3, 2, 1))
        name = next((span for span in spans if _is_code(span)), None)
        if name is None:
            break
        found.append("_".join(name))
        rest = rest[len(name) :]
    return (verb, *found) if len(found) == arities[verb] else None


def _is_code(span: tuple[str, ...]) -> bool:
    """Return whether these tokens are a number, or the code of an item, block or animal."""
    return (len(span) == 1 and span[0].isdecimal()) or has_name("_".join(span))


SKILLS = BlockSkills()
