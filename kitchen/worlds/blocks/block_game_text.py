"""Describe a world of blocks and its present state in English, for the prompts of language models.

A text holds only what one player knows: the brief (facts that never change) and the player's observation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kitchen.contract.agent_skills import GameDescription, SeatObservation, Skill, spell_skill
from kitchen.contract.world import Json
from kitchen.words.english_text import and_list, counted_noun

Brief = Mapping[str, Json]
MOST_CELLS = 12
"""Maximum number of cells to change that a scene lists."""
SINCE_WORDS: Mapping[str, str] = {"gained": "got", "lost": "gave or used"}
"""What came of the last command, by key of the observation."""

WALKS: tuple[tuple[Skill, str], ...] = (
    (("goto", "kind"), "walk to the nearest block or animal of this kind."),
    (("goto_seat", "player"), "walk to a player, given by its number, and follow it until you are there."),
)
HANDS: tuple[tuple[Skill, str], ...] = (
    (("craft", "item", "times"), "make an item so many times; you must hold all that it needs."),
    (("give", "player", "item", "n"), "walk to a player, given by its number, and give it n of an item."),
    (("discard", "item", "n"), "throw n of an item away for ever."),
)
FIELD: tuple[tuple[Skill, str], ...] = (
    (("collect", "kind", "n"), "take the nearest block of this kind, n times; some kinds need a tool."),
)
FARM: tuple[tuple[Skill, str], ...] = (
    *FIELD,
    (("attack", "animal"), "hunt the nearest animal of this kind; its meat is yours."),
    (("smelt", "item", "n"), "put n of an item into the furnace, with fuel, and wait 10 steps for each."),
)
STORE: tuple[tuple[Skill, str], ...] = (
    (("put", "item", "n"), "put n of an item into the chest."),
    (("take", "item", "n"), "take n of an item out of the chest."),
)
SITE: tuple[tuple[Skill, str], ...] = (
    (("build", "level"), "place all missing blocks of a level that you hold; levels count from 0."),
    (("place", "item", "x", "y", "z"), "place a block in a cell; y is the level."),
    (("remove", "x", "y", "z"), "take a block away."),
)
ORDERS: tuple[tuple[Skill, str], ...] = (
    (("goto", "place"), "go to furnace, oak_log, chest, sheep, chicken or pig; it takes one step."),
    (("mineBlock", "oak_log"), "take a log; one must be within 6 cells."),
    (("killMob", "animal"), "take the meat of an animal; one must be within 6 cells."),
    (("putFuelFurnace", "oak_log"), "put a log into the furnace; it cooks one piece."),
    (("putItemFurnace", "meat"), "put one piece of meat into the furnace, which must hold no other meat."),
    (("takeOutFurnace",), "take all that is ready out of the furnace."),
    (("putInChest", "item"), "put all of an item into the chest."),
)


def player_name(seat: int) -> str:
    """Return the name of a seat in prompts, such as `Player 0`."""
    return f"Player {seat}"


def counted_codes(items: Mapping[str, int]) -> str:
    """Return items with their amounts as text, with the codes that commands use, such as `3 wheat, 1 egg`.
    Return `nothing` if there are no items."""
    return ", ".join(f"{amount} {item}" for item, amount in items.items()) or "nothing"


# What never changes


def describe_game(brief: Brief, seat: int, seats: int) -> GameDescription:
    """Return the description of the game for the player in this seat."""
    others = and_list([player_name(each) for each in range(seats) if each != seat])
    beside = f" You play beside {others}, whose way of playing you do not know." if others else ""
    return GameDescription(
        role=f"You are {player_name(seat)} in a game that is made of blocks.{beside} Do what helps most.",
        rules=tuple(_rules(brief)),
        making=tuple(_making(brief)),
        skills=_skill_texts(brief),
        remarks=("An amount may be any number up to what you have or find.",)
        if "dishes" not in brief
        else (),
        game="Players gather, make and build things in a game that is made of blocks.",
    )


def _rules(brief: Brief) -> Iterator[str]:
    yield f"The game has at most {brief.get('limit', brief.get('steps', 0))} steps."
    if "dishes" in brief:
        yield f"Ordered dishes must be in the chest in time. They can be: {and_list(brief['dishes'])}."
        yield "Meat becomes a dish in the furnace. One log cooks one piece. A piece takes one step."
        yield "Animals and the log are back in the next step. Each action takes one step."
        return
    yield f"The goal: {goal_text(brief)}"
    yield "An action goes on by itself until it is done. A player walks up to 4 cells in a step."
    yield "You see what you hold, but not what others hold."
    if "recipes" in brief or "targets" in brief:
        yield "There is one workbench (crafting_table) and one furnace."
        yield "Only one player can use the furnace at a time."
    if brief.get("no_help"):
        yield "Nobody can give things to others."


def goal_text(brief: Brief) -> str:
    """Return the goal of a game with a goal, as a sentence."""
    if "target" in brief:
        return f"one player holds {counted_codes(brief['target'])}."
    if "targets" in brief:
        if brief["each_their_own"]:
            first, second = brief["targets"]
            return f"{player_name(0)} holds {first}, and {player_name(1)} holds {second}."
        return f"one player holds all of this: {and_list(brief['targets'])}."
    if "item" in brief:
        return f"all players and the chest together hold {brief['amount']} {brief['item']}."
    return "the building looks like its blueprint, and nothing else stands there."


def _making(brief: Brief) -> Iterator[str]:
    yield from (_step_text({"do": "craft", **step}) for step in brief.get("plan", ()))
    for target, steps in brief.get("recipes", {}).items():
        yield f"To make {target}:"
        yield from (f"- {_step_text(step)}" for step in steps)
    for block, each in brief.get("collects", {}).items():
        yield f"{block} gives {each['gives']}; steps for each by tool: {each['steps']}."
    if "blueprint" in brief:
        yield from _blueprint(brief["blueprint"])


def _step_text(step: Mapping[str, Json]) -> str:
    source = counted_codes(step["needs"]) if "needs" in step else " or ".join(step["from"])
    table = ", at a crafting_table that you hold or that is near" if step.get("table") else ""
    return f"{step['do']} {step['amount']} {step['makes']} from {source}{table}."


def _blueprint(drawing: Mapping[str, Json]) -> Iterator[str]:
    legend = ", ".join(f"{letter} is {block}" for letter, block in drawing["legend"].items())
    yield f"The blueprint, level by level from below. Rows are z from 0, columns x from 0; {legend}."
    for level, rows in enumerate(drawing["levels"]):
        yield f"Level {level}: {' / '.join(rows)}"


def _skill_texts(brief: Brief) -> tuple[tuple[Skill, str], ...]:
    if "dishes" in brief:
        return ORDERS
    if "target" in brief:
        return (*WALKS, *HANDS)
    if "targets" in brief:
        return (*WALKS, *FARM, *HANDS)
    if "item" in brief:
        return (*WALKS, *FIELD, *HANDS, *STORE)
    return (*WALKS, *SITE, *HANDS)


# The present state


def describe_scene(sight: SeatObservation) -> str:
    """Return the present state of the game as one player sees it."""
    seen = sight.seen
    lines = _kitchen_lines(seen) if "players" in seen else _own_lines(sight)
    return "\n".join([*lines, f"{counted_noun(seen['steps_left'], 'step')} left."])


def _kitchen_lines(seen: Mapping[str, Json]) -> Iterator[str]:
    orders = (f"{each['dish']}, {counted_noun(each['steps_left'], 'step')} left" for each in seen["orders"])
    yield f"Orders: {'; '.join(orders) or 'none now'}."
    for each in seen["players"]:
        yield _player_line(each["seat"], each["at"], each["holds"])
    furnace = seen["furnace"]
    parts = [f"{counted_noun(furnace['fuel'], 'log')} of fuel"]
    for words, (item, amount) in (("to cook", furnace["input"]), ("ready", furnace["output"])):
        parts += [f"{amount} {item} {words}"] if amount else []
    yield f"Furnace: {', '.join(parts)}."
    yield f"Chest: {counted_codes(seen['chest'])}."


def _own_lines(sight: SeatObservation) -> Iterator[str]:
    seen, me = sight.seen, player_name(sight.seat)
    yield _player_line(sight.seat, seen["at"], seen["inventory"])
    if seen["doing"]:
        yield f"{me} is busy with {spell_skill(tuple(seen['doing']))}."
    elif seen["since"]["command"]:
        yield f"Last: {_since_text(seen['since'])}."
    others = (each for each in seen["seats"] if each["seat"] != sight.seat)
    yield from (f"{player_name(each['seat'])} is at {_cell(each['at'])}." for each in others)
    yield from _near_lines(seen)
    if "chest" in seen:
        yield f"Chest: {counted_codes(seen['chest'])}."
    if "left_by_level" in seen:
        yield from _site_lines(seen)


def _player_line(seat: int, at: Json, held: Mapping[str, int]) -> str:
    return f"{player_name(seat)} is at {_cell(at)} and holds {counted_codes(held)}."


def _near_lines(seen: Mapping[str, Json]) -> Iterator[str]:
    for each in seen["stations"]:
        user = "" if each["used_by"] is None else f", in use by {player_name(each['used_by'])}"
        yield f"{each['kind']} at {_cell(each['at'])}{user}."
    if seen["near"]:
        near = (f"{each['kind']} at {_cell(each['at'])} ({each['count']})" for each in seen["near"])
        yield f"Near, the nearest of each kind and how many: {'; '.join(near)}."


def _since_text(since: Mapping[str, Json]) -> str:
    parts = [f"{words} {counted_codes(since[key])}" for key, words in SINCE_WORDS.items() if since[key]]
    return f"{spell_skill(tuple(since['command']))}: {', '.join(parts) or 'nothing changed'}"


def _site_lines(seen: Mapping[str, Json]) -> Iterator[str]:
    yield f"Blocks missing, by level from 0: {', '.join(map(str, seen['left_by_level']))}."
    changes = [
        f"({x}, {seen['level']}, {z}): {wanted} instead of {present}"
        for x, z, wanted, present in seen["differences"][:MOST_CELLS]
    ]
    if changes:
        yield f"To change on level {seen['level']}: {'; '.join(changes)}."


def _cell(cell: Json) -> str:
    return f"({', '.join(map(str, cell))})"
