"""Define the aims (goals) that others can ask a player in a world of blocks to reach, and check their status.

`World.aims` lists the aims. Their status is computed from what the player itself sees. The list does not
depend on secret plans or recipes, or on what players hold. So it reveals no secret.
"""

# obtain ITEMS N   hold N of each of these items, joined by +
# give K ITEM      give seat K all of an item
# give_all K       give seat K everything but tools
# store ITEM       put all of an item into the chest
# build LEVEL      complete a level of the blueprint
# deliver DISH     put one more of a dish into the chest (kitchen)
# ready DISH       have a dish ready in the furnace (kitchen)
# fuel             have fuel in the furnace (kitchen)

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Aim, Command, Json, World
from kitchen.worlds.blocks.block_grid import AIR, rank_from
from kitchen.worlds.blocks.blueprints import TOOLS
from kitchen.worlds.blocks.cooking_tasks import JOIN, cooking_file
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks

OBTAIN, GIVE, GIVE_ALL, STORE, BUILD = "obtain", "give", "give_all", "store", "build"
DELIVER, READY, FUEL = "deliver", "ready", "fuel"
RAW_AMOUNTS = (1, 3)
"""Amounts of raw food that can be asked for."""
GATHER_AMOUNTS = (5, 10)
"""Small amounts that can be asked for where an amount is gathered."""
GATHER_TOOLS = ("crafting_table", "wooden_pickaxe", "stone_pickaxe")
"""Things that players of the gathering world make for themselves."""


# The list of aims


def seat_aims(brief: Mapping[str, Json], seats: int, seat: int) -> tuple[Aim, ...]:
    """Return all aims of the player in this seat. `brief` is what the seat knows before the game, and `seats`
    is the number of seats."""
    others = [str(other) for other in range(seats) if other != seat]
    if "dishes" in brief:
        return _kitchen_aims(brief["dishes"])
    if "target" in brief:
        return tuple(_crafting_aims(tuple(brief["target"].items()), others))
    if "targets" in brief:
        return tuple(_cooking_aims(brief["targets"], [] if brief["no_help"] else others))
    if "item" in brief:
        return tuple(_gather_aims(brief, others, seats))
    return tuple(_building_aims(brief, others))


def _kitchen_aims(dishes: Iterable[str]) -> tuple[Aim, ...]:
    listed = list(dishes)
    return (*((DELIVER, dish) for dish in listed), *((READY, dish) for dish in listed), (FUEL,))


@cache
def crafted_items() -> tuple[str, ...]:
    """Return every item that the shipped crafting tasks make on the way to their targets, sorted."""
    return tuple(sorted({item for task in crafting_tasks().values() for item, _ in task.crafts or ()}))


def _crafting_aims(target: Sequence[tuple[str, int]], others: Sequence[str]) -> Iterator[Aim]:
    first = [(OBTAIN, item, str(amount)) for item, amount in target]
    yield from first
    yield from ((GIVE_ALL, other) for other in others)
    yield from (aim for item in crafted_items() if (aim := (OBTAIN, item, "1")) not in first)


def _cooking_aims(targets: Sequence[str], others: Sequence[str]) -> Iterator[Aim]:
    """Yield the aims of a cook: all targets, each target, gifts, and raw food."""
    yield from dict.fromkeys((OBTAIN, items, "1") for items in (JOIN.join(targets), *targets))
    yield from ((GIVE_ALL, other) for other in others)
    raw = raw_food()
    yield from ((OBTAIN, item, str(amount)) for item in raw for amount in RAW_AMOUNTS)
    things = dict.fromkeys((*targets, *raw, *_dealt_items()))
    yield from ((GIVE, other, item) for other in others for item in things)


@cache
def raw_food() -> tuple[str, ...]:
    """Return everything that the farm's plants and animals give."""
    given = cooking_file()
    return tuple(dict.fromkeys((*given.gives.values(), *filter(None, given.meat.values()))))


@cache
def _dealt_items() -> tuple[str, ...]:
    """Return all items that a cook may hold when the episode starts."""
    given = cooking_file()
    return tuple(sorted({item for items in given.items.values() for item in items}))


def gather_share(brief: Mapping[str, Json], seats: int) -> int:
    """Return the amount that each of the seats has to gather, rounded up."""
    return -(-int(brief["amount"]) // seats)


def _gather_aims(brief: Mapping[str, Json], others: Sequence[str], seats: int) -> Iterator[Aim]:
    items = [each["gives"] for each in brief["collects"].values()]
    amounts = sorted({*GATHER_AMOUNTS, gather_share(brief, seats), brief["amount"]})
    yield from ((OBTAIN, item, str(amount)) for item in items for amount in amounts)
    yield from ((OBTAIN, tool, "1") for tool in GATHER_TOOLS)
    yield from ((GIVE, other, item) for other in others for item in (*items, *GATHER_TOOLS))
    yield from ((STORE, item) for item in items)


def _building_aims(brief: Mapping[str, Json], others: Sequence[str]) -> Iterator[Aim]:
    """Yield the aims that a builder can be given. A builder who does not know the blueprint is not asked
    to build a level."""
    if "blueprint" in brief:
        yield from ((BUILD, str(level)) for level in range(len(brief["blueprint"]["levels"])))
    yield from ((GIVE_ALL, other) for other in others)


# The status of an aim


def aim_mark(seen: Mapping[str, Json], aim: Aim) -> Json:
    """Return what `aim_status` compares with later: the step of a gift, or how many of a dish are in the
    chest; None for other aims. `seen` is the seat's observation."""
    if aim[0] == DELIVER:
        return seen["chest"].get(aim[1], 0)
    return seen["step"] if aim[0] in (GIVE, STORE) else None


def aim_status(seen: Mapping[str, Json], legal: Sequence[Command], aim: Aim, since: Json) -> str:
    """Return SUCCESS if a seat's aim is reached, FAIL if the seat can do nothing for it now, else UNKNOWN.

    Only gifts, storing and building can fail. `seen` and `legal` are the seat's observation and menu. `since`
    is the result of `aim_mark` when the aim was given.
    """
    verb = aim[0]
    if verb in (DELIVER, READY, FUEL):
        return SUCCESS if _is_kitchen_aim_reached(seen, aim, since) else UNKNOWN
    held = seen["inventory"]
    if verb == OBTAIN:
        has_all = all(held.get(item, 0) >= int(aim[2]) for item in aim[1].split(JOIN))
        return SUCCESS if has_all else UNKNOWN
    if verb == GIVE_ALL:
        return UNKNOWN if held.keys() - TOOLS.keys() else SUCCESS
    if verb == BUILD:
        return _building_status(seen, legal, int(aim[1]))
    if _has_passed(seen, aim, since):
        return SUCCESS
    return UNKNOWN if seen["doing"] or aim[-1] in held else FAIL


def _is_kitchen_aim_reached(seen: Mapping[str, Json], aim: Aim, since: Json) -> bool:
    if aim[0] == DELIVER:
        return bool(seen["chest"].get(aim[1], 0) > since)
    furnace = seen["furnace"]
    return bool(furnace["fuel"]) if aim[0] == FUEL else bool(furnace["output"][0] == aim[1])


def _has_passed(seen: Mapping[str, Json], aim: Aim, since: Json) -> bool:
    """Return whether the seat's last macro gave away or stored the aim's item, and ended after the aim was
    given (`since`)."""
    last, head = seen["since"], ("put", *aim[1:]) if aim[0] == STORE else aim
    begun = seen["step"] - last["steps"]
    is_it = tuple(last["command"] or ())[:-1] == head and begun >= since
    return bool(is_it and not seen["doing"] and last["lost"].get(aim[-1]))


def _building_status(seen: Mapping[str, Json], legal: Sequence[Command], level: int) -> str:
    lowest, left = seen["level"], seen["left_by_level"]
    if lowest is None or level < lowest or (level > lowest and not left[level]):
        return SUCCESS
    return UNKNOWN if seen["doing"] or level_command(seen, legal, level) else FAIL


def level_command(seen: Mapping[str, Json], legal: Sequence[Command], level: int) -> Command | None:
    """Return the next command of a seat that has the aim to build this level. It places all missing blocks
    of the level. If this cannot begin and the level is the lowest unfinished one, it changes one cell.
    Return None if the seat can do nothing for the level now."""
    if (build := ("build", str(level))) in legal:
        return build
    return nearest_change(seen) if level == seen["level"] else None


def nearest_change(seen: Mapping[str, Json], taken: Iterable[tuple[int, ...]] = ()) -> Command | None:
    """Return the command that removes the nearest wrong block, or places the nearest missing one that the
    seat holds, on the lowest unfinished level. Cells in `taken` are left out. None if there is no such
    cell."""
    rank, skipped = rank_from(tuple(seen["at"])), set(taken)
    options = []
    for x, z, wanted, present in seen.get("differences", ()):
        cell = x, seen["level"], z
        words = tuple(map(str, cell))
        if cell not in skipped and present != AIR:
            options.append((rank(cell), ("remove", *words)))
        elif cell not in skipped and wanted in seen["inventory"]:
            options.append((rank(cell), ("place", wanted, *words)))
    return min(options)[1] if options else None


class AimedWorld(World):
    """A world of blocks whose players can be asked to reach aims."""

    def aims(self, seat: int) -> list[Aim]:
        """Return all aims that others can ask this seat to reach, the usual ones first."""
        return list(seat_aims(self.brief(seat), self.seats, seat))

    def aim_mark(self, seat: int, aim: Aim) -> Json:
        """Return the facts about the present moment that `aim_status` later compares with, to see whether
        the aim was reached after it was given."""
        return aim_mark(self.observe(seat), aim)

    def aim_status(self, seat: int, aim: Aim, since: Json) -> str:
        """Return SUCCESS if the aim is reached, FAIL if the seat can do nothing for it now, else UNKNOWN."""
        return aim_status(self.observe(seat), self.legal_actions(seat), aim, since)
