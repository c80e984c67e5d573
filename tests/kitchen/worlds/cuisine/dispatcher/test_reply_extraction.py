"""Commands are found wherever a model puts them, and no text makes extraction fail or crawl."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kitchen.contract.world import Command
from kitchen.worlds.cuisine.command_rules import VERBS
from kitchen.worlds.cuisine.dispatcher.command_check import spell_command
from kitchen.worlds.cuisine.dispatcher.command_extraction import LevelNames
from kitchen.worlds.cuisine.dispatcher.model_exchange import dispatch_tool
from kitchen.worlds.cuisine.dispatcher.reply_extraction import extract_commands, extract_from_call
from kitchen.worlds.cuisine.dispatcher.reply_phrases import NOT_MEANT, heading_rank
from tests.kitchen.worlds.cuisine.cooking import kitchen
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import moment
from tests.nightly import nightly

NAMES = LevelNames.of(kitchen("level_3").brief(0))
GOTO = (1, ("goto", "pot0"))
TUNA = (2, ("get", "storage0", "tuna"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("goto_agent1_pot0", [GOTO]),
        ("goto(agent1, pot0)", [GOTO]),
        ("get_agent2_storage0_tuna", [TUNA]),
        ("get(agent2,storage0,tuna)", [TUNA]),
        ("noop_agent3", [(3, ("noop",))]),
        ("noop(agent3)", [(3, ("noop",))]),
        ("GOTO_Agent1_POT0 and Get(AGENT2, Storage0, TUNA)", [GOTO, TUNA]),
        ("goto (agent 1, pot 0)", [GOTO]),
        ("goto(1, pot0)", [GOTO]),
        ('goto("agent1", "pot0")', [GOTO]),
        ("go_to_agent1_pot0", [GOTO]),
        ("goto\\_agent1\\_pot0", [GOTO]),
        ("**goto_agent1_pot0**, then `get_agent2_storage0_tuna`.", [GOTO, TUNA]),
        ("```python\n[goto_agent1_pot0, get_agent2_storage0_tuna]\n```", [GOTO, TUNA]),
        ("1. goto_agent1_pot0\n2. get_agent2_storage0_tuna", [GOTO, TUNA]),
        ("Sorry for the mistake! So agent1 must go: goto_agent1_pot0.", [GOTO]),
        ("get_agent2_storage0_tuna\ngoto_agent1_pot0", [TUNA, GOTO]),
        ("goto_agent1_serving_table0", [(1, ("goto", "servingtable0"))]),
        ("goto(agent1, Serving Table)", [(1, ("goto", "servingtable0"))]),
        ("get_agent1_storage_tuna", [(1, ("get", "storage0", "tuna"))]),
        ("get_agent1_storage0_seaweed_sheet", [(1, ("get", "storage0", "seaweedSheet"))]),
        ("get_agent1_pot0", [(1, ("get", "pot0"))]),
        ("get_agent1_pot0_cookedrice", [(1, ("get", "pot0", "cookedRice"))]),
        ("put_agent1_pot0_rice", [(1, ("put", "pot0"))]),
        ("put(agent1, pot0, rice)", [(1, ("put", "pot0"))]),
        ("goto_agent1_fridge7", [(1, ("goto", "fridge7"))]),
        ("get(agent1, storage0, gold)", [(1, ("get", "storage0", "gold"))]),
        ("cook_agent1_pot0", [(1, ("cook", "pot0"))]),
        ("cook_agent1_pot0 goto_agent1_pot0", [GOTO]),
        ("goto_agent1_pot0 goto_agent1_pot1", []),
        ("goto_agent1_pot0 activate_agent1_pot0", [GOTO, (1, ("activate", "pot0"))]),
        ("<think>goto_agent1_pot1? No.</think>goto_agent1_pot0", [GOTO]),
        ("at(agent1, pot0) hold(agent1, tuna) occupy(agent1)", []),
        ("Step (2) is to get (1) tuna and put it (agent1).", []),
        ("agent1 should go to pot0", []),
        ("Commands (goto_agent1_pot0; get_agent2_storage0_tuna)", [GOTO, TUNA]),
        ("Plan (agent1: goto_agent1_pot0)", [GOTO]),
        ("<think> maybe goto_agent1_pot0", []),
        ("<think>\nIf goto_agent1_pot1, then", []),
        ("goto_agent1_pot0\n<thinking>Or goto_agent1_pot1?", [GOTO]),
        ("<think>No.</think>goto_agent1_pot0 <think> or goto_agent1_pot1", [GOTO]),
        ("", []),
    ],
)
def test_commands_are_found_in_text(text: str, found: list[Any]) -> None:
    assert list(extract_commands(text, NAMES).given) == found


@pytest.mark.parametrize(
    "text",
    [
        "I apologize for put_agent1_pot0, which was refused.\nCommands:\ngoto_agent1_pot0",
        "I apologize for put_agent1_pot0, which was refused. Instead goto_agent1_pot0.",
        "put_agent1_pot0 was refused: agent1 stands elsewhere.\n\n- goto_agent1_pot0\n- noop_agent2",
        "Commands: goto_agent1_pot0\nThat is better than put_agent1_pot0, which was refused.",
        "**Commands:** goto_agent1_pot0 and noop_agent2.\nIn the next step, put_agent1_pot0 can follow.",
        "Refused: put_agent1_pot0\nCommand: goto_agent1_pot0",
        "My draft:\nput_agent1_pot0\nBut it holds nothing, so:\n1. `goto_agent1_pot0`,",
        "put_agent1_pot0? No! goto(agent1,\n pot0) is better.",
    ],
)
def test_a_command_that_is_only_quoted_or_weighed_is_not_meant(text: str) -> None:
    assert [each for each in extract_commands(text, NAMES).given if each[0] == 1] == [GOTO]


@pytest.mark.parametrize(
    "text",
    [
        "goto_agent1_pot0\nput_agent1_pot0",
        "Agent 1: goto_agent1_pot0\nAgent 2: put_agent1_pot0",
        "So goto_agent1_pot0, then put_agent1_pot0 as well.",
    ],
)
def test_an_agent_that_is_commanded_twice_in_one_passage_stays_so(text: str) -> None:
    assert list(extract_commands(text, NAMES).given) == [GOTO, (1, ("put", "pot0"))]


def test_agents_may_be_commanded_in_different_passages() -> None:
    text = "First get_agent2_storage0_tuna. Then the pot: goto_agent1_pot0 is next.\nnoop_agent3"
    assert list(extract_commands(text, NAMES).given) == [TUNA, GOTO, (3, ("noop",))]


def test_spelled_commands_are_parsed_in_every_level() -> None:
    for level in ("level_0", "level_5", "level_9", "level_11", "level_12"):
        world = kitchen(level, seats=2)
        names = LevelNames.of(world.brief(0))
        tool, stock = list(world.level.places)[-1], world.level.stock
        commands: list[Command] = [("goto", place) for place in world.level.places]
        commands += [("get", "storage0", item) for item in stock.ingredients]
        commands += [("get", tool, item) for item in world.level.recipes]
        for command in commands:
            assert extract_commands(spell_command(1, command), names).given == ((1, command),)


pieces = st.sampled_from(
    [
        "goto",
        "get(",
        "_agent1",
        "agent",
        "_",
        "(",
        ")",
        ",",
        " ",
        "pot0",
        "tuna",
        "\\_",
        "</think>",
        "99999",
        "`",
        "\n",
        ": ",
        "|",
        "=",
        "[",
        '{"agent": "agent1", "verb": "goto"}',
        "verb: ",
        "Commands:\n",
    ]
)
texts = st.one_of(st.text(max_size=400), st.lists(pieces, max_size=80).map("".join))


@given(texts)
def test_no_text_makes_it_fail(text: str) -> None:
    for seat, command in extract_commands(text, NAMES).given:
        assert 0 <= seat < 1000
        assert command and all(isinstance(word, str) and word for word in command)


commands = st.tuples(st.integers(0, 7), st.sampled_from([GOTO[1], TUNA[1], ("noop",)]))


@given(st.lists(commands, min_size=1, max_size=6), texts)
def test_commands_in_a_list_are_found_whatever_stands_before(written: list[Any], noise: str) -> None:
    assume(not extract_commands(noise, NAMES).given)  # such as half a command: it is read first
    assume(all(heading_rank(line, None) > NOT_MEANT for line in noise.splitlines()))  # such as "not"
    text = noise + "\n\n" + "\n".join(spell_command(*each) for each in written)
    found = [each for each in extract_commands(text, NAMES).given if each[1][0] in VERBS]
    assert found[-len(written) :] == written


@pytest.mark.parametrize(
    "piece",
    [
        "goto(agent1,",
        "[{",
        "agent1: goto pot0 and ",
        '{"agent1": ["goto", "pot0"]} ',
        *nightly(
            "goto",
            "goto(",
            "goto_agent1",
            "goto_agent1_" + "x" * 41,
            "(",
            "_",
            "a" * 50,
            "go to",
            "goto agent1 ",
            "agent: agent1, ",
            "| agent1 ",
            "goto_agent1_pot0\n",
            "Now: noop(1). ",
        ),
    ],
)
def test_the_time_is_linear(piece: str) -> None:
    def spent(times: int) -> float:
        began = time.process_time()
        extract_commands(piece * times, NAMES)
        return time.process_time() - began

    spent(100)
    assert spent(8_000) < 40 * max(spent(800), 0.002)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["commands", "agent", "verb", "location", "item", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["commands", "plan"]), json_values, max_size=2))
def test_no_structured_reply_makes_it_fail(call: dict[str, Any]) -> None:
    for _, command in extract_from_call(call, NAMES).given:
        assert all(isinstance(word, str) for word in command)


def test_a_structured_reply_is_read_in_its_order() -> None:
    entries = [
        {"agent": "agent2", "verb": "get", "location": "storage0", "item": "tuna"},
        {"agent": "agent1", "verb": "goto", "location": "pot0", "item": "none"},
        {"agent": "agent3", "verb": "noop", "location": "none", "item": "none"},
        {"agent": 4, "verb": "put", "location": "pot0", "item": "rice"},
        "noop_agent5",
        7,
    ]
    found = extract_from_call({"plan": "…", "commands": entries}, NAMES).given
    assert found == (TUNA, GOTO, (3, ("noop",)), (4, ("put", "pot0")), (5, ("noop",)))


def test_the_schema_is_strict_and_of_this_kitchen_and_team() -> None:
    now = moment()
    schema: Any = dispatch_tool(now).schema
    command = schema["properties"]["commands"]["items"]
    for each in (schema, command):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    fields = {name: value["enum"] for name, value in command["properties"].items()}
    assert fields["agent"] == ["agent1", "agent2"]
    assert fields["verb"] == list(VERBS)
    assert fields["location"] == [*now.brief["locations"], "none"]
    assert set(fields["item"]) == {*now.brief["base"], *now.brief["recipes"], "none"}
