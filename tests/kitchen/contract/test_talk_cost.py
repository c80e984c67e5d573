"""A message takes its sender's step where the condition says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kitchen.agents.talk_rules import talk_rule_lines
from kitchen.contract.agent import Decision, Situation, TeamTalk
from kitchen.contract.organisation import INFORM, Member, Organisation, make_organisation
from kitchen.contract.talk_cost import charge_talk
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError

MEMBERS = (Member(0, (0,), is_person=True), Member(1, (1,), is_person=False))
CHARGED: Mapping[str, Json] = {"takes_step": True}
WORK = {1: ("put", "pot0")}


def team(kind: str = "graph", **settings: Json) -> Organisation:
    return make_organisation(kind, MEMBERS, seats=2, settings=settings)


def charged(organisation: Organisation | None, says: Sequence[MessageDraft]) -> Decision:
    talk = TeamTalk(organisation=organisation, member=1)
    situation = Situation("cuisine", 4, (1,), {}, {}, {}, talk=talk)
    plans = {1: [("noop",)]}
    return charge_talk(
        situation, Decision(WORK, note="why", plans=plans, intents={1: {"do": "stir"}}, says=tuple(says))
    )


def test_who_writes_does_nothing_else_and_the_note_has_what_was_dropped() -> None:
    made = charged(team(**CHARGED), [MessageDraft("The rice is mine.")])
    assert (made.commands, made.plans, made.intents) == ({}, {}, {})
    assert made.note == {"note": "why", "talk_took_step": {"1": ["put", "pot0"]}}
    assert [say.text for say in made.says] == ["The rice is mine."]


@pytest.mark.parametrize(
    ("organisation", "says"),
    [
        (team(), [MessageDraft("Hello")]),
        (None, []),
        (team(**CHARGED), []),
        (team(**CHARGED), [MessageDraft("Cook rice.", INFORM)]),
        (team(**CHARGED), [MessageDraft("  ")]),
        (team(**CHARGED, unasked="never"), [MessageDraft("Nobody asked.")]),
    ],
    ids=["no cost", "no team", "no message", "a job", "an empty message", "a message that is not sent"],
)
def test_all_else_keeps_its_commands(organisation: Organisation | None, says: list[MessageDraft]) -> None:
    assert charged(organisation, says).commands == WORK


def test_the_cost_is_stored_with_the_organisation_and_told_to_models() -> None:
    made = team(**CHARGED)
    assert Organisation.from_json(made.to_json()) == made
    assert "A message takes your step" in talk_rule_lines(made)[0]
    assert "takes_step" not in team().to_json()


def test_a_cost_is_refused_where_members_talk_before_the_step_or_under_a_clock() -> None:
    with pytest.raises(SettingsError, match="takes_step: it means nothing in graph"):
        team(**CHARGED, within=True)
    for kind in ("pair", "pairwise"):
        with pytest.raises(SettingsError, match=f"takes_step: it means nothing in {kind}"):
            team(kind, **CHARGED)
    assert "a clock takes the steps" in team("each", talk=True, **CHARGED).clock_refusal
