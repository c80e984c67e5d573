"""Find a player's next command towards an aim (a goal that somebody asked for), in the worlds of blocks.

The rules are those of the agent `blocks_planner`. The command depends only on what the player sees now. A
player without plan or recipes makes only what its menu offers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kitchen.contract.advisers import AimPursuer, AimStep
from kitchen.contract.agent import Situation
from kitchen.contract.world import FAIL, UNKNOWN, Aim, Command, Json
from kitchen.worlds.blocks.block_aims import (
    BUILD,
    DELIVER,
    FUEL,
    GIVE,
    GIVE_ALL,
    OBTAIN,
    READY,
    STORE,
    aim_mark,
    aim_status,
    gather_share,
    level_command,
    raw_food,
    seat_aims,
)
from kitchen.worlds.blocks.block_planner import gather_step, item_sources, making_step, raw_step
from kitchen.worlds.blocks.blueprints import TOOLS
from kitchen.worlds.blocks.cooking_tasks import JOIN
from kitchen.worlds.blocks.kitchen_planner import ANIMAL_OF
from kitchen.worlds.blocks.kitchen_world import (
    CHEST,
    FURNACE,
    GOTO,
    KILL,
    LOG,
    MEAT,
    MINE,
    PUT_FUEL,
    PUT_IN_CHEST,
    PUT_ITEM,
    TAKE_OUT,
)
from kitchen.worlds.blocks.macro_world import GO_ON
from kitchen.worlds.blocks.make_plans import plan_items
from kitchen.worlds.blocks.planner_team import Team

MAKERS = 3
"""How many players one after another try to make the targets; each has this part of the time."""


class BlockPursuer(AimPursuer):
    """Pursues an aim of a player of blocks, one macro after the other."""

    suggests_in_stages = True

    def pursue(self, situation: Situation, seat: int, aim: Aim, since: Json) -> AimStep:
        """Return the status of the aim and the next macro towards it. The macro is None while another one is
        in progress, or if none can begin now."""
        seen, legal = situation.observations[seat], situation.legal[seat]
        if aim not in self.aims(situation, seat):
            return AimStep(FAIL)
        status = aim_status(seen, legal, aim, since)
        if status != UNKNOWN or seen.get("doing"):
            return AimStep(status)
        command = next_command(situation, seat, aim)
        return AimStep(UNKNOWN, command if command and _can_begin(command, legal) else None)

    def aims(self, situation: Situation, seat: int) -> Sequence[Aim]:
        """Return all aims of the player."""
        return seat_aims(situation.briefs[seat], seats_in(situation.observations[seat]), seat)

    def mark(self, situation: Situation, seat: int, aim: Aim) -> Json:
        """Return what `World.aim_mark` returns."""
        return aim_mark(situation.observations[seat], aim)

    def can_suggest(self, brief: Mapping[str, Json]) -> bool:
        """Return whether the brief tells the goal, so that useful aims can be suggested."""
        return bool({"dishes", "target", "targets", "item", "size", "blueprint"} & brief.keys())

    def suggest(
        self, brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int, taken: Sequence[Aim]
    ) -> Aim | None:
        """Return what helps most. Items are handed to one player, who makes the targets; this player changes
        after a while. Amounts to gather are shared out. Builders take different levels."""
        if "dishes" in brief:
            return _wanted_dish(brief, seen, taken)
        if "target" in brief or "targets" in brief:
            return _target_aim(brief, seen, seat)
        if "item" in brief:
            return (OBTAIN, brief["item"], str(gather_share(brief, seats_in(seen))))
        return _level_aim(brief, seen, seat, taken)


def seats_in(seen: Mapping[str, Json]) -> int:
    """Return the number of seats that an observation shows."""
    return len(seen["players"] if "players" in seen else seen["seats"])


def _can_begin(command: Command, legal: Sequence[Command]) -> bool:
    return command in legal or (*command[:-1], "1") in legal or command[0] == "goto_at"


# What a leader asks for


def _wanted_dish(brief: Mapping[str, Json], seen: Mapping[str, Json], taken: Sequence[Aim]) -> Aim | None:
    """Return the aim to deliver the most urgent ordered dish that no seat delivers (`taken` lists the aims
    that seats have). If there is none, return the aim to deliver a dish in advance. Return None if all
    dishes are taken."""
    left = Counter(aim[1] for aim in taken if aim[0] == DELIVER)
    for order in sorted(seen["orders"], key=lambda one: one["steps_left"]):
        if not left[order["dish"]]:
            return DELIVER, order["dish"]
        left[order["dish"]] -= 1
    ahead = (dish for dish in brief["dishes"] if (DELIVER, dish) not in taken)
    return next(((DELIVER, dish) for dish in ahead), None)


def _target_aim(brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int) -> Aim:
    if brief.get("each_their_own"):
        return OBTAIN, brief["targets"][seat], "1"
    maker = seen["step"] * MAKERS // max(brief["limit"], 1) % seats_in(seen)
    if seat != maker:
        return GIVE_ALL, str(maker)
    if "target" in brief:
        ((item, amount),) = brief["target"].items()
        return OBTAIN, item, str(amount)
    return OBTAIN, JOIN.join(brief["targets"]), "1"


def _level_aim(
    brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int, taken: Sequence[Aim]
) -> Aim | None:
    """Return the aim to build an unfinished level that no seat builds. Return None if there is none.
    Different seats begin at different levels. A seat that asks again gets another level, because it may
    lack the material for the first one."""
    shown = seen.get("left_by_level")
    if shown:
        levels = [level for level, left in enumerate(shown) if left or level == seen["level"]]
    else:
        known = brief["size"][1] if "size" in brief else len(brief["blueprint"]["levels"])
        levels = list(range(known))
    if not brief.get("build", True):
        levels = levels[:1]
    free = [level for level in levels if (BUILD, str(level)) not in taken] or levels
    return (BUILD, str(free[(seat + seen["step"]) % len(free)])) if free else None


# Commands towards an aim


def next_command(situation: Situation, seat: int, aim: Aim) -> Command | None:
    """Return the seat's next command towards an aim that is not reached; None if it knows none. The seat is
    free for a command. Whether the command can begin is not checked."""
    seen, legal = situation.observations[seat], situation.legal[seat]
    if aim[0] in (DELIVER, READY, FUEL):
        return _cook(seen, legal, seat, aim)
    held = seen["inventory"]
    if aim[0] == OBTAIN:
        wanted = dict.fromkeys(aim[1].split(JOIN), int(aim[2]))
        return _obtain(Team(replace(situation, seats=(seat,))), seat, wanted)
    if aim[0] == BUILD:
        return level_command(seen, legal, int(aim[1]))
    if aim[0] == GIVE_ALL:
        gifts = ((GIVE, aim[1], item, str(held[item])) for item in sorted(held.keys() - TOOLS.keys()))
        return next(gifts, None)
    head = ("put", aim[1]) if aim[0] == STORE else aim
    return (*head, str(held[aim[-1]]))


def _obtain(team: Team, seat: int, wanted: Mapping[str, int]) -> Command | None:
    """Return the next macro with which a seat gets the wanted items without help. Return None if no macro
    can begin."""
    brief, held, legal = team.situation.briefs[seat], team.held[seat], team.situation.legal[seat]
    if "collects" in brief:
        ((item, amount),) = wanted.items()
        gathering = gather_step(team, seat, item, amount)
        return None if gathering == GO_ON else gathering
    missing = {item: amount for item, amount in wanted.items() if held.get(item, 0) < amount}
    if team.knows_how or missing.keys() <= set(raw_food()):
        steps = plan_items(wanted, held, item_sources(team)) or []
        if command := making_step(team, seat, steps) or raw_step(team, seat, steps, set()):
            return command
    made = (("craft", item, "1") for item in missing)
    return next((command for command in made if command in legal), None)


# The kitchen


def _cook(seen: Mapping[str, Json], legal: Sequence[Command], seat: int, aim: Aim) -> Command | None:
    """Return the next action towards the aim: to fuel the furnace, to cook a dish, or to deliver a dish to
    the chest. Return None if the seat must wait for the furnace."""
    held, furnace = seen["players"][seat]["holds"], seen["furnace"]
    if aim[0] == FUEL:
        return _fuel(held, legal)
    dish = aim[1]
    if dish in held and aim[0] == DELIVER:
        return _at(legal, (PUT_IN_CHEST, dish), CHEST)
    ready, raw = furnace["output"][0], furnace["input"][0]
    if ready is not None and (aim[0] == DELIVER or ready != dish):
        return _at(legal, (TAKE_OUT,), FURNACE)
    meat = MEAT[ANIMAL_OF[dish]]
    if raw is None and meat in held:
        return _at(legal, (PUT_ITEM, meat), FURNACE)
    if raw is not None and not furnace["fuel"]:
        return _fuel(held, legal)
    return _at(legal, (KILL, ANIMAL_OF[dish]), ANIMAL_OF[dish]) if raw is None else None


def _fuel(held: Mapping[str, int], legal: Sequence[Command]) -> Command:
    return _at(legal, (PUT_FUEL, LOG), FURNACE) if LOG in held else _at(legal, (MINE, LOG), LOG)


def _at(legal: Sequence[Command], command: Command, place: str) -> Command:
    """Return the command if it is legal now. Otherwise return the walk to the place where it can be
    carried out."""
    return command if command in legal else (GOTO, place)


PURSUER = BlockPursuer()
