"""The researcher can replace the system text and add a persona."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.world_errors import SettingsError
from kitchen.registry.agent_registry import make_agent
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import KitchenMoment
from kitchen.worlds.cuisine.dispatcher.settings import (
    PLACEHOLDERS,
    PROMPT_PARTS,
    USUAL_PROMPT,
)
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import LEVELS, kitchen
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import decide, moment, script, seen
from tests.kitchen.worlds.cuisine.dispatcher.test_message_and_job_text import TEAM
from tests.kitchen.worlds.cuisine.dispatcher.test_prompt import prompt

OFF: dict[str, Any] = {"recipes": False, "instructions": False, "hints": False, "demonstration": "none"}
BARE = "You command {agents}.\n{team}\n\n{talk}\n\n{answer}"


def talking() -> KitchenMoment:
    return KitchenMoment.of(changed(seen(), organisation=TEAM, member=1))


@pytest.mark.parametrize("chosen", [{}, OFF, {"recipes": False}, {"reply": "tool"}, {"persona": "Be calm."}])
def test_the_usual_text_written_with_placeholders_is_the_usual_text_to_the_byte(
    chosen: dict[str, Any],
) -> None:
    for now in (moment(), talking(), *(moment(kitchen(level, seats=2)) for level in LEVELS[:3])):
        assert prompt(now, **chosen, prompt=USUAL_PROMPT) == prompt(now, **chosen)


def test_a_persona_stands_after_the_task_as_it_was_written() -> None:
    usual, persona = prompt(), "You are cautious.\n\nNever say {task}."
    task, rest = usual.split("\n\n# Recipes")
    assert prompt(persona=persona) == f"{task}\n\n# Who you are\n{persona}\n\n# Recipes{rest}"


def test_parts_and_pieces_stand_where_the_text_has_them_and_what_is_off_leaves_nothing() -> None:
    text = "Hello, {agents}: {steps} steps.\n\n\n{recipes}\n\n{hints}\n \n{team}\n\n{answer} {}{1}\n"
    told = prompt(prompt=text, **OFF | {"hints": True}).split("\n\n")
    assert told[0] == "Hello, agent1 and agent2: 60 steps."
    assert told[1].startswith("# Good to know\n- An agent must stand")
    assert told[2].startswith("agent0 is a person")
    assert told[3].startswith("You may think first") and told[3].endswith("{}{1}")
    assert len(told) == 4


def test_every_placeholder_means_something() -> None:
    told = prompt(
        talking(), persona="Be calm.", prompt="\n\n".join(f"<{{{one}}}>" for one, _ in PLACEHOLDERS)
    )
    assert told.count("<") == len(PLACEHOLDERS) and "<>" not in told and "{" not in told


def test_it_is_what_the_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "noop_agent1")
    decide(seen(), **OFF, prompt=BARE)
    assert model.requests[0].messages[0].text.startswith("You command agent1 and agent2.\nagent0 is a person")


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        (
            {"prompt": "{task} {talk} {answer} {tasks}"},
            "prompt: nothing is called {tasks}; there are {task}, ",
        ),
        ({"prompt": "{agents} {talk} {answer}"}, "put in {task}, or both {agents} and {team}"),
        (
            {"prompt": "{task} {talk} {answer}", "recipes": True},
            "{recipes} is missing: put in what is switched",
        ),
        (
            {"prompt": "{task} {talk} {answer}", "persona": "x", "hints": True},
            "{persona} and {hints} are miss",
        ),
        ({"prompt": "{task} {answer}"}, "{talk} is missing: without it nothing is said of people"),
        ({"prompt": "{task} {talk}"}, "nothing tells the form of a reply: put in {answer}"),
        ({"prompt": BARE + "x" * 20_000}, "characters is above 20000"),
        ({"persona": "x" * 2001}, "persona: 2001 characters is above 2000"),
    ],
)
def test_a_missing_part_is_refused(chosen: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError) as refused:
        make_agent("dispatcher", OFF | chosen)
    assert why in str(refused.value)


def test_a_structured_reply_has_its_form_without_words() -> None:
    make_agent("dispatcher", {**OFF, "reply": "tool", "prompt": "{task} {talk}"})


def test_placeholders_of_parts_that_are_off_are_reported() -> None:
    told = make_agent(
        "dispatcher", {**OFF, "prompt": USUAL_PROMPT + "{answer}", "model": "stand-in"}
    ).remarks()
    assert told == (
        "Of the system text {persona}, {recipes}, {instructions}, {hints} and {demonstration} stay empty: "
        "switched off.",
    )
    assert make_agent("dispatcher", {"persona": "x", "prompt": USUAL_PROMPT}).remarks() == ()


def test_the_usual_text_names_every_part() -> None:
    assert [f"{{{name}}}" for name in PROMPT_PARTS] == USUAL_PROMPT.split("\n\n")
