"""Make malformed messages to websockets of players. None may be accepted.

The commands are those of the chef's seat of Collab-Overcooked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

NO_MACRO: tuple[Any, ...] = (
    ["fly"],
    ["pickup", "stone", "counter"],
    ["pickup", "egg"],
    ["pickup", "egg", "ingredient_dispenser", "now"],
    ["cook", "blender0"],
    ["wait", "0"],
    ["wait", "-1"],
    ["wait", "many"],
    ["deliver", "egg"],
    "deliver",
    "[",
    "",
    [],
    [["deliver"]],
    ["cook", 0],
    ["cook", "pot0\x00"],
    ["x" * 2001],
    ["wait"] * 17,
    None,
    7,
    {"verb": "cook"},
)
"""No macro of anybody, or nothing that could be one."""
ASSISTANTS: tuple[Any, ...] = (
    ["cut", "chopping_board0"],
    ["stir", "blender0"],
    ["pickup", "egg", "ingredient_dispenser"],
)
"""Macros of the other seat."""
CHEFS: tuple[Any, ...] = (["cook", "pot0"], ["deliver"], ["fill_dish_with_food", "oven0"])
"""Macros that nobody can ask the assistant to do."""


def command(chance: Random) -> Any:
    bad = chance.choice([*NO_MACRO, *ASSISTANTS])
    then = chance.choice([[], [bad], [["wait", "1"]]])
    return {"type": "command", "step": 1, "command": bad, "then": then}


def command_in_no_step(chance: Random) -> Any:
    step: Any = chance.choice([0, -1, 2, 10**9, 1.0, True, None, "one", [1], {}])
    return {"type": "command", "step": step, "command": ["wait", "1"]}


def plan(chance: Random) -> Any:
    then = chance.choice([[chance.choice([*NO_MACRO, *ASSISTANTS])], [["wait", "1"]] * 51, 7, {}, "["])
    return {"type": chance.choice(["plan", "command"]), "step": 1, "command": ["wait", "1"], "then": then}


def requests(chance: Random) -> Any:
    asked = chance.choice(
        [[chance.choice([*NO_MACRO, *CHEFS])], [ASSISTANTS[0], ["fly"]], 7, "fly", {"a": 1}]
    )
    return {"type": "say", "text": chance.choice(["", "Please."]), "requests": asked}


def say(chance: Random) -> Any:
    wrong: dict[str, list[Any]] = {
        "text": ["", " ", "x" * 501, None, 7],
        "to": [[9], [0], "x", [True]],
        "kind": ["shout", 7, "inform"],
    }
    name = chance.choice(list(wrong))
    return {"type": "say", "text": "Please.", name: chance.choice(wrong[name])}


def no_message(chance: Random) -> Any:
    return chance.choice([None, 1, "x", [], {}, {"type": None}, {"type": ["say"]}, {"type": "shout"}])


def no_json(chance: Random) -> str:
    text = "".join(chance.choices('{}[]":,type say\\u0000\u202e', k=chance.randrange(1, 40)))
    return chance.choice([f"{{{text}", "[" * 9000, '{"type": "say", "text": "' + "x" * 9000 + '"}'])


OBJECTS: tuple[Callable[[Random], Any], ...] = (command, command_in_no_step, plan, requests, say, no_message)


def malformed(chance: Random) -> str:
    make = chance.choice([*OBJECTS, no_json])
    return no_json(chance) if make is no_json else json.dumps(make(chance))


def malformed_key(chance: Random) -> str:
    """Return a malformed message to the websocket of a real-time episode."""
    wrong: dict[str, list[Any]] = {
        "command": [*NO_MACRO, *ASSISTANTS],
        "down": [None, 1, "yes", []],
        "number": [-1, 2**53, 1.5, True, "1", None, []],
    }
    name = chance.choice(list(wrong))
    key = {"type": "key", "command": ["north"], "down": True, "number": 1, name: chance.choice(wrong[name])}
    return chance.choice([json.dumps(key), json.dumps(no_message(chance)), no_json(chance)])
