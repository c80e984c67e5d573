"""Only the last part of a long model reply is searched for commands."""

from __future__ import annotations

import pytest

from kitchen.agents.hourglass.reply_reading import UnreadablePlanError, read_commands, read_statuses
from kitchen.agents.pairwise.spoken_reply import read_spoken_reply
from kitchen.contract.language_model import Reply
from kitchen.words.reply_limits import MAX_READ_CHARACTERS, limited_text
from kitchen.worlds.blocks.dispatcher.action_reply import read_action_reply
from kitchen.worlds.collab_overcooked.collab_agent.turn_reply import read_turn_reply
from kitchen.worlds.cuisine.dispatcher.reply_extraction import extract_commands, readable_text
from tests.function_calls import count_calls
from tests.kitchen.worlds.cuisine.dispatcher.test_reply_shapes import ASKED, NAMES

COMMAND = "goto_agent1_pot0\n"


@pytest.mark.parametrize("gap", [" ", "\t", "\n", " \n", "\u3000", "\u200b"])
def test_long_gaps_are_closed_before_a_reply_is_read(gap: str) -> None:
    padded = gap * 200_000 + COMMAND + gap * 200_000
    assert len(readable_text(padded)) < 100
    assert dict(extract_commands(padded, NAMES, ASKED).given) == {1: ("goto", "pot0")}


def test_ordinary_gaps_stay() -> None:
    assert limited_text(said := f"{COMMAND}{' ' * 60}{COMMAND}\n\n\n{COMMAND}") == said


def test_only_the_end_of_a_long_reply_is_read_from_a_whole_line_on() -> None:
    said = limited_text("goto_agent1_mixer0\n" + COMMAND * 20_000 + "Cancel agent1.")
    assert len(said) <= MAX_READ_CHARACTERS and said.startswith(COMMAND) and said.endswith("Cancel agent1.")
    assert len(limited_text("a" * 200_000)) == MAX_READ_CHARACTERS


def test_a_reply_of_any_length_costs_no_more_than_the_longest_that_is_read() -> None:
    def calls(number: int) -> int:
        return count_calls(lambda: extract_commands(COMMAND * number, NAMES, ASKED))

    longest = MAX_READ_CHARACTERS // len(COMMAND)
    assert calls(2 * longest) < 1.1 * calls(longest)


def test_the_actions_of_a_blocks_reply_are_found_behind_a_long_gap() -> None:
    reply = read_action_reply(Reply("\n" * 200_000 + "Actions:\nnoop(agent1)"))
    assert reply.given == read_action_reply(Reply("Actions:\nnoop(agent1)")).given != ()


STATUS, COMMANDS, LINE = "Task 1: success", "Actions:\n- goto pot0", "say to a"


@pytest.mark.parametrize("filler", ["\n", " \n", "*\n", " ", "*", "-", "> "])
def test_no_filler_makes_an_agent_read_a_reply_again_and_again(filler: str) -> None:
    """A pattern that begins anew at each place would need minutes here."""
    much = filler * 100_000
    assert read_statuses(Reply(f"{much}\n{STATUS}"), 1) == {1: "success"}
    assert read_commands(Reply(f"{much}\n{COMMANDS}"), [("goto", "pot0")]) == [("goto", "pot0")]
    with pytest.raises(UnreadablePlanError):
        read_commands(Reply(f"{COMMANDS}{much}x"), [("goto", "pot1")])
    read_spoken_reply(Reply(f"{LINE}{much}x"))
    assert read_spoken_reply(Reply(f"{much}\nsay: Hello{much}x")) is not None
    said = read_turn_reply(Reply(f"Analysis: none\nPlan: wait(1)\nSay: Hello{much}x")).say
    assert said.startswith("Hello")
