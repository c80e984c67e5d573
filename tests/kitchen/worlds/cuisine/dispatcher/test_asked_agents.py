"""Agents that are busy or follow a plan are neither asked for nor counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kitchen.contract.agent import NO_ONE, PEOPLE, LateDecision, Situation
from kitchen.contract.decision_notes import ReplyReading, reading_from_note
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import KitchenMoment
from kitchen.worlds.cuisine.dispatcher.prompt import fixed_part, prompt_pieces
from kitchen.worlds.cuisine.dispatcher.settings import DispatcherOptions
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import decide, script, seen

GOES, OTHER = ("goto", "storage0"), ("goto", "pot0")


def one_asked() -> Situation:
    """Agent 2 of agents 1 and 2 goes to the pot, whatever is said."""
    return changed(seen(commanded={0: ("noop",), 2: OTHER}), asked=(1,))


def test_only_asked_agents_are_named_in_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "goto_agent1_storage0")
    decision = decide(one_asked(), repair=1)
    assert decision.commands == {1: GOES}
    told = model.said()
    assert "Now command agent1." in told
    lines = [line for line in told.splitlines() if "before your agents" in line]
    assert lines == [
        "agent0 (a person) does in this step, before your agents: noop_agent0",
        "agent2 (not to be commanded now) does in this step, before your agents: goto_agent2_pot0",
    ]
    assert len(model.requests) == 1 and decision.note["faults"] == []
    assert reading_from_note(decision.note, 2) == ReplyReading(1, 0, 0, 0)


def test_a_command_for_another_agent_is_ignored_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, "goto_agent1_storage0\ngoto_agent2_storage0")
    decision = decide(one_asked())
    assert decision.commands == {1: GOES}
    assert [fault["code"] for fault in decision.note["faults"]] == ["not_asked_now"]
    assert reading_from_note(decision.note, 2) == ReplyReading(1, 0, 0, 0)
    script(monkeypatch, "I am a teapot.")
    assert reading_from_note(decide(one_asked()).note, 2) == ReplyReading(1, 1, 0, 0)


def test_stand_in_and_fallback_command_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(decide(one_asked(), model="stand-in").commands) == [1]
    assert reading_from_note(decide(one_asked(), model="stand-in").note, 2) == ReplyReading(1, 0, 0, 0)


def test_a_late_reply_is_part_of_the_feedback(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "noop_agent1\nnoop_agent2")
    late = replace(
        seen(),
        late=(LateDecision(4, {1: OTHER}), LateDecision(5, {}), LateDecision(6, {1: OTHER}, stale=True)),
    )
    decide(late)
    decide(late, feedback=False)
    told = [model.said(number) for number in (0, 1)]
    assert "- Your reply for step 4 came too late and was not followed (goto_agent1_pot0): see" in told[0]
    assert "- Your reply for step 5 came too late and was not followed: see" in told[0]
    assert "- When step 6 came, this was no longer possible and was dropped: goto_agent1_pot0." in told[0]
    assert "too late" not in told[1]


@pytest.mark.parametrize(("knowing", "order"), [(PEOPLE, "before you command"), (NO_ONE, "only after you")])
def test_the_prompt_says_whether_people_are_seen(knowing: str, order: str) -> None:
    alone, options = KitchenMoment.of(changed(seen(), knowing=knowing)), DispatcherOptions.read({})
    several = KitchenMoment.of(changed(seen(people=(0, 1)), seats=(2,), knowing=knowing))
    for moment in (alone, several):
        assert f"in a step {order}" in fixed_part(moment, options)
        assert f"in a step {order}" in prompt_pieces(moment, options)["team"]
