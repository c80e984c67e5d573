"""How replies were read is counted from what the notes of decisions tell, and a warning comes from 5 % on."""

from __future__ import annotations

import pytest

from kitchen.contract.decision_notes import ReplyReading, ReplyReadings, reading_from_note
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import decide, script, seen

WHOLE = "goto_agent1_pot0\nnoop_agent2"
PART = "goto_agent1_pot0"
INVALID = "goto_agent1_fridge7\nput_agent2_pot0"
NONSENSE = "I am a teapot."


@pytest.mark.parametrize(
    ("replies", "repair", "reading"),
    [
        ([WHOLE], 0, ReplyReading(2, 0, 0, 0)),
        ([PART], 0, ReplyReading(2, 1, 0, 0)),
        ([NONSENSE], 0, ReplyReading(2, 2, 0, 0)),
        ([INVALID], 0, ReplyReading(2, 0, 2, 2)),
        ([INVALID, WHOLE], 1, ReplyReading(2, 0, 2, 0)),
        ([NONSENSE, WHOLE], 1, ReplyReading(2, 0, 0, 0)),
        ([NONSENSE, INVALID], 1, ReplyReading(2, 0, 0, 2)),
        ([PART, NONSENSE], 1, ReplyReading(2, 1, 0, 0)),
    ],
)
def test_a_decision_tells_how_its_replies_were_read(
    monkeypatch: pytest.MonkeyPatch, replies: list[str], repair: int, reading: ReplyReading
) -> None:
    script(monkeypatch, *replies)
    assert reading_from_note(decide(seen(), repair=repair).note, 2) == reading


@pytest.mark.parametrize("note", [None, "x", {"plan": []}, {"fallback": {"by": "planner"}}])
def test_a_note_without_replies_has_no_reading(note: object) -> None:
    assert reading_from_note(note, 2) is None
    assert ReplyReadings.of(None) == ReplyReadings()


def test_many_decisions_are_added_up_in_words() -> None:
    read = ReplyReadings.of(ReplyReading(2, 0, 1, 0), 57) + ReplyReadings.of(ReplyReading(2, 1, 0, 0), 2)
    read += ReplyReadings.of(ReplyReading(2, 2, 0, 0))
    assert read.columns == {
        "read_whole": 57,
        "read_in_part": 2,
        "read_not_at_all": 1,
        "commands_asked": 120,
        "commands_invalid_before": 57,
        "commands_invalid": 0,
    }
    assert read.words == (
        "57 of 60 decisions read whole, 2 in part, 1 not at all; 0 of 120 commands invalid (57 before a "
        "second try)"
    )
    assert ReplyReadings().words == ReplyReadings().warning == ReplyReadings().short == ""


def test_the_warning_comes_from_five_in_a_hundred_on() -> None:
    whole, none, invalid = ReplyReading(2, 0, 0, 0), ReplyReading(2, 2, 0, 0), ReplyReading(2, 0, 2, 2)
    below = ReplyReadings.of(whole, 96) + ReplyReadings.of(none, 4)
    assert (below.is_bad, below.warning, below.short) == (False, "", "")
    unread = ReplyReadings.of(whole, 95) + ReplyReadings.of(none, 5)
    assert unread.short == "5% of decisions not read whole"
    assert unread.warning.startswith("5% of the decisions were not read whole: these agents waited")
    assert ReplyReadings.of(none, 3).short == "100% of decisions not read whole"
    both = unread + ReplyReadings.of(invalid, 50)
    assert both.short == "33% of commands invalid"
    assert both.is_bad and "33% of the commands were invalid" in both.warning
