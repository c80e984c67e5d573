"""Replies in many styles are read as they are meant, and reported where they leave something open."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kitchen.contract.world import Command
from kitchen.worlds.cuisine.dispatcher.command_extraction import LevelNames
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import command_object
from kitchen.worlds.cuisine.dispatcher.reply_extraction import (
    RequestedCommands,
    extract_commands,
    extract_from_call,
)
from tests.kitchen.worlds.cuisine.cooking import kitchen
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import decide, script, seen

NAMES = LevelNames.of(kitchen("level_3").brief(0))
ASKED = RequestedCommands((1, 2), 12)
GOTO = (1, ("goto", "pot0"))
TUNA = (2, ("get", "storage0", "tuna"))
WANTED = (GOTO, TUNA)
THESE = "goto_agent1_pot0\nget_agent2_storage0_tuna"

ENTRIES: list[dict[str, Any]] = [
    {"agent": "agent1", "verb": "goto", "location": "pot0", "item": "none"},
    {"agent": "agent2", "verb": "get", "location": "storage0", "item": "tuna"},
]

STYLES = tomllib.loads(Path(__file__).with_name("styles.toml").read_text(encoding="utf-8"))


def styles(table: str) -> pytest.MarkDecorator:
    """One case for each text of a table of `styles.toml`."""
    return pytest.mark.parametrize("text", STYLES[table].values(), ids=STYLES[table])


@styles("spellings")
def test_it_is_read_however_it_is_spelled(text: str) -> None:
    read = extract_commands(text, NAMES, ASKED)
    assert (read.given, read.unclear) == (WANTED, {})


@styles("lists")
def test_of_several_lists_one_is_meant(text: str) -> None:
    assert extract_commands(text, NAMES, ASKED) == extract_commands(THESE, NAMES, ASKED)


def arguments(command: Command) -> dict[str, str]:
    return dict(zip(("location", "item"), command[1:], strict=False))


WAYS: dict[str, Callable[[int, Command], str]] = {
    "blanks": lambda seat, command: " ".join([command[0], f"agent{seat}", *command[1:]]),
    "dashes": lambda seat, command: "-".join([command[0], f"agent{seat}", *command[1:]]),
    "a colon": lambda seat, command: f"Agent {seat}: {' '.join(command)}",
    "a method": lambda seat, command: f"agent{seat}.{command[0]}({', '.join(command[1:])})",
    "keywords": lambda seat, command: (
        f"{command[0]}(agent={seat}{''.join(f', {key}={word}' for key, word in arguments(command).items())})"
    ),
    "a table": lambda seat, command: f"| agent{seat} | {' | '.join(command)} |",
    "JSON": lambda seat, command: json.dumps(command_object(seat, command)),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_command_of_a_kitchen_is_read(way: Callable[[int, Command], str]) -> None:
    for level in ("level_0", "level_5", "level_12"):
        world = kitchen(level, seats=2)
        names, stock, places = LevelNames.of(world.brief(0)), world.level.stock, list(world.level.places)
        commands: list[Command] = [("noop",)]
        commands += [(verb, place) for verb in ("goto", "put", "activate", "get") for place in places]
        commands += [("get", "storage0", item) for item in stock.ingredients]
        commands += [("get", places[-1], item) for item in world.level.recipes]
        for first, second in pairwise(commands):
            text = f"{way(0, first)}\n{way(1, second)}"
            assert extract_commands(text, names, RequestedCommands((0, 1))).given == ((0, first), (1, second))


@styles("words")
def test_words_are_no_commands(text: str) -> None:
    assert extract_commands(text, NAMES, ASKED).given == ()


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("noop(1)", (1, ("noop",))),
        ("noop(agent1)", (1, ("noop",))),
        ("noop(agent=agent1)", (1, ("noop",))),
        ("agent1.noop()", (1, ("noop",))),
        ("agent1: noop (it waits for the pot)", (1, ("noop",))),
        ("agent1: goto stove", (1, ("goto", "stove"))),
        ("agent1: goto fridge7 for milk", (1, ("goto", "fridge7"))),
        ("agent1: get tuna", (1, ("get", "tuna"))),
        ("agent1: activate", (1, ("activate",))),
        ("get(agent1, tuna, storage0)", (1, ("get", "storage0", "tuna"))),
        ("agent1: put the rice into pot 1", (1, ("put", "pot1"))),
        ("cook(agent1, pot0)", (1, ("cook", "pot0"))),
    ],
)
def test_one_command_is_read(text: str, given: Any) -> None:
    assert extract_commands(text, NAMES, ASKED).given == (given,)


@pytest.mark.parametrize(
    "text", ["goto pot0", "- goto_pot0", "Command: goto(pot0)", "I see rice.\n**goto pot0** (for the rice)"]
)
def test_one_agent_alone_need_not_be_named(text: str) -> None:
    assert extract_commands(text, NAMES, RequestedCommands((1,), 12)).given == (GOTO,)
    assert extract_commands(text, NAMES, ASKED).given == ()


CALLS: dict[str, dict[str, Any]] = {
    "as asked": {"plan": "x", "commands": ENTRIES},
    "as text": {"plan": "x", "commands": json.dumps(ENTRIES)},
    "spelled, in one text": {"plan": "x", "commands": THESE},
    "by agent": {"commands": {"agent1": "goto pot0", "agent2": "get storage0 tuna"}},
    "without the list": {"agent1": ENTRIES[0], "agent2": ENTRIES[1]},
    "one too deep": {"arguments": {"plan": "goto_agent1_mixer0", "commands": ENTRIES}},
    "with numbers": {"commands": [{**ENTRIES[0], "agent": 1}, {**ENTRIES[1], "agent": "2"}]},
    "phrases as verbs": {
        "commands": [
            {"agent": "agent1", "verb": "goto pot0"},
            {"agent": "agent2", "verb": "get_agent2_storage0_tuna"},
        ]
    },
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_structured_reply_is_read_in_other_shapes(call: dict[str, Any]) -> None:
    assert extract_from_call(call, NAMES, ASKED).given == WANTED


def test_a_reply_without_commands_in_its_structure_may_have_them_in_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script(monkeypatch, json.dumps({"commands": ENTRIES}))
    assert decide(seen(), reply="tool").note["extracted"] == ["goto_agent1_pot0", "get_agent2_storage0_tuna"]


# What is left open

OPEN = "For agent1 goto_agent1_pot0 is good. For agent1 goto_agent1_mixer0 is fine, too.\nnoop_agent2"


def test_what_several_passages_say_differently_is_left_open() -> None:
    read = extract_commands(OPEN, NAMES, ASKED)
    assert read.given == ((2, ("noop",)),)
    assert read.unclear == {1: (("goto", "pot0"), ("goto", "mixer0"))}


def test_unclear_commands_are_reported_and_not_guessed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = script(monkeypatch, OPEN)
    first = decide(seen())
    assert first.commands == {2: ("noop",)}
    assert [fault["code"] for fault in first.note["faults"]] == ["unclear"]
    decide(seen(memory=first.memory))
    assert "(goto_agent1_pot0 and goto_agent1_mixer0); list one command for each agent, once." in model.said()


@pytest.mark.parametrize("unread", [OPEN, "I am a teapot.", "noop_agent2"])
def test_what_could_not_be_read_is_asked_for_again_with_the_form(
    monkeypatch: pytest.MonkeyPatch, unread: str
) -> None:
    model = script(monkeypatch, unread, "Commands:\nagent1: goto pot0\nagent2: noop")
    decision = decide(seen(), repair=1)
    assert decision.commands == {1: ("goto", "pot0"), 2: ("noop",)}
    asked = model.said()
    assert "goto_AGENT_LOCATION" in asked and "\nCommands:\ngoto_agent1_storage0" in asked
    assert asked.index("Commands:") < asked.index("Feedback")
    assert decision.note["mended"] and not decision.note["faults"]


def test_the_form_is_not_repeated_where_all_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "put_agent1_pot0\nnoop_agent2")
    decide(seen(), repair=1)
    assert "Commands:" not in model.said()


def test_the_form_of_a_structured_reply_is_its_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, {"plan": "", "commands": []})
    decide(seen(), repair=1, reply="tool")
    assert "Answer by calling the tool" in model.said() and "goto_AGENT" not in model.said()
