"""Answers of more than 300 shapes are read as they are meant, or asked for again; none is misread."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kitchen.contract.language_model import Reply
from kitchen.contract.world import Command
from kitchen.experiments.log_entries import same_request
from kitchen.llm.recorded_calls import RecordedCalls
from kitchen.worlds.cuisine.dispatcher.command_extraction import LevelNames
from kitchen.worlds.cuisine.dispatcher.reply_extraction import RequestedCommands, extract_commands
from tests.kitchen.worlds.cuisine.cooking import kitchen
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import decide, script, seen

NAMES = LevelNames.of(kitchen("level_3").brief(0))
ASKED = RequestedCommands((1, 2), 12)
RIGHT: Mapping[int, Command] = {1: ("goto", "pot0"), 2: ("get", "storage0", "tuna")}
FILLED = {
    "{right}": "goto_agent1_pot0\nget_agent2_storage0_tuna",
    "{wrong}": "goto_agent1_mixer0\nget_agent2_storage0_rice",
    "{right,}": "goto_agent1_pot0, get_agent2_storage0_tuna",
    "{wrong,}": "goto_agent1_mixer0, get_agent2_storage0_rice",
    "{n}": "\n",
}


def _tables(name: str) -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def filled(text: str) -> str:
    for name, commands in FILLED.items():
        text = text.replace(name, commands)
    return text


SHAPES, STYLES = _tables("reply_shapes.toml"), _tables("styles.toml")


def carried_out(text: str) -> Mapping[int, Command]:
    """The first command of each agent, as the check takes it."""
    return dict(reversed(extract_commands(filled(text), NAMES, ASKED).given))


def unclear(text: str) -> Mapping[int, Sequence[Command]]:
    return extract_commands(filled(text), NAMES, ASKED).unclear


def test_no_answer_is_misread_and_those_that_can_be_understood_are_read() -> None:
    meant = {**STYLES["spellings"], **STYLES["lists"], **SHAPES["read"]}
    assert len(meant) + sum(map(len, SHAPES.values())) > 300
    assert [name for name, text in meant.items() if carried_out(text) != RIGHT] == []
    opaque = {name: carried_out(text) for name, text in SHAPES["asked_again"].items()}
    assert [name for name, read in opaque.items() if not read.items() <= RIGHT.items()] == []


def test_what_is_taken_back_or_left_open_is_not_carried_out() -> None:
    silent = {**STYLES["words"], **SHAPES["left_open"]}
    assert [name for name, text in silent.items() if 1 in carried_out(text)] == []
    taken = {name: text for name, text in silent.items() if name.startswith(("taken back,", "inline no"))}
    assert len(taken) > 50
    assert [name for name, text in taken.items() if 1 not in unclear(text)] == []


def test_a_doubt_takes_back_only_the_commands_that_it_names() -> None:
    assert set(unclear("{right}\n\nActually agent1 cannot reach pot0.")) == {1}
    assert set(unclear("{right}\n\nThe tuna is a bad idea.")) == {2}
    assert set(unclear("{right}\n\nCancel agents 1 and 2.")) == {1, 2}


def test_the_last_command_of_an_answer_that_was_cut_off_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, Reply("goto_agent1_pot0\nget_agent2_storage0_tuna", stop="max_tokens"))
    assert decide(seen()).commands == {1: ("goto", "pot0")}
    assert extract_commands('{"agent1": "goto pot0", "agent2": "get storage0 tu', NAMES, ASKED).given == (
        (1, ("goto", "pot0")),
    )


@pytest.mark.parametrize(("ask_unclear", "calls"), [(False, 1), (True, 2)])
def test_an_answer_that_takes_its_commands_back_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, ask_unclear: bool, calls: int
) -> None:
    model = script(monkeypatch, filled("{wrong}\n\nWait, that is wrong."), "Commands:\n" + filled("{right}"))
    decision = decide(seen(), ask_unclear=ask_unclear)
    assert decision.commands == ({1: RIGHT[1], 2: ("noop",)} if ask_unclear else {})
    assert len(model.requests) == calls
    if ask_unclear:
        assert "your reply took its command back (goto_agent1_mixer0)" in model.said()


@pytest.mark.parametrize(
    ("model", "address", "structured"),
    [
        ("anthropic:claude-sonnet-5-5", "", True),
        ("openai:gpt-6", "", True),
        ("openai:gpt-6", "https://api.openai.com/v1", True),
        ("openai:qwen", "http://127.0.0.1:8080/v1", False),
    ],
)
def test_a_strict_schema_is_used_where_the_provider_has_one(
    monkeypatch: pytest.MonkeyPatch, model: str, address: str, structured: bool
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    asked = script(monkeypatch, filled("{right}"))
    note: Any = decide(seen(), model=model, reply="strict").note
    assert (asked.requests[0].tool is not None) is structured
    assert note["reply"] == ("tool" if structured else "text")


@pytest.mark.parametrize("there", ["https://api.openai.com/v1", "http://127.0.0.1:8080/v1"])
def test_a_recorded_answer_is_asked_for_in_its_recorded_form_on_any_server(
    monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    addresses = ["https://api.openai.com/v1", "http://127.0.0.1:8080/v1"]
    monkeypatch.setenv("OPENAI_BASE_URL", there)
    with monkeypatch.context() as scripted:
        script(scripted, filled("{right}")).provider = "openai-compatible"
        first = decide(seen(), model="openai:gpt-6", reply="strict")
    for here in addresses:
        monkeypatch.setenv("OPENAI_BASE_URL", here)
        stored = RecordedCalls(first.calls, same_request)
        limits = replace(seen().limits, answers=stored)
        again = decide(replace(seen(), limits=limits), model="openai:gpt-6", reply="strict")
        assert not list(stored.differences())
        assert (again.commands, again.note["reply"]) == (first.commands, first.note["reply"])
