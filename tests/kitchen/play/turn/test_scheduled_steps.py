"""Schedules in live play: people beside agents whose decisions take effect later."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command
from kitchen.contract.world_errors import SettingsError
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.create_episode import MindPlan, create_episode, members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Decision as StoredDecision
from kitchen.play.models import Episode, SeatCommand, Step
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.turn_searches import turns_to_decide
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import WORLDS_VARIABLE
from kitchen.replay.replay_verification import verify_replays
from tests.worlds.errands import LINE

pytestmark = pytest.mark.django_db


class Eager(Agent):
    """Begins the first open errand, and waits while there is none."""

    kind = "eager"
    instant = True
    TOLD: ClassVar[list[Situation]] = []

    async def decide(self, situation: Situation) -> Decision:
        Eager.TOLD.append(situation)
        seat = situation.seats[0]
        run = [command for command in situation.legal[seat] if command[0] == "run"]
        asked = situation.request.asked or ()
        words = "I begin it." if seat in asked else "I am busy."
        says = (MessageDraft(words, to=(0,)),) if run or seat not in asked else ()
        return Decision({seat: run[0]} if run and seat in asked else {}, says=says)


@pytest.fixture(autouse=True)
def _errands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setitem(agent_registry.AGENTS, "eager", f"{__name__}:Eager")
    monkeypatch.setattr(Eager, "TOLD", [])


def beside(schedule: str, lengths: str = "2,9,1", kind: str = "graph", **settings: Any) -> Episode:
    """A person in seat 0 beside an eager agent."""
    minds = [MindPlan("eager", (1,))]
    organisation = make_organisation(
        kind, members_of_plans(minds, seats=2), seats=2, settings={"schedule": schedule, **settings}
    )
    return create_episode(
        world="errands",
        settings={"lengths": lengths},
        seats=2,
        seed=1,
        minds=minds,
        organisation=organisation,
    )


def play(episode: Episode, *commands: Command) -> str:
    """Give the person's commands, one for each step, and let the agent decide; return the last answer."""
    for command in commands:
        episode.refresh_from_db()
        step = episode.step + 1
        given = [SubmittedCommand(0, command)]
        code = submit_commands(episode_id=episode.pk, step=step, commands=given).code
        decide_step(episode_id=episode.pk, step=step)
    episode.refresh_from_db()
    return code


def chosen(episode: Episode, seat: int) -> list[tuple[str, str]]:
    rows = SeatCommand.objects.filter(episode=episode, seat=seat).order_by("step")
    return [(" ".join(row.command), row.chosen_by) for row in rows]


def test_late_commands_of_an_agent_are_dropped_if_a_person_was_faster() -> None:
    """Case 11: a decision seen before step 1 takes effect in step 3; its command is possible no longer."""
    episode = beside("free")
    play(episode, ("wait",), ("run", "0"))
    assert chosen(episode, 1)[:2] == [("wait", "thinking")] * 2
    events = Step.objects.get(episode=episode, number=2).events
    stale = [event for event in events if event["kind"] == "plan_broken"]
    assert stale == [
        {"kind": "plan_broken", "seat": 1, "why": "stale", "left": [["run", "0"]], "planned_in": 1}
    ]
    decide_step(episode_id=episode.pk, step=3)
    late = Eager.TOLD[-1].late
    assert [(one.step, dict(one.commands), one.stale) for one in late] == [(3, {1: ("run", "0")}, True)]
    play(episode, ("wait",), ("wait",), ("wait",))
    assert ("run 1", "eager") in chosen(episode, 1)
    rows = SeatCommand.objects.filter(episode=episode, seat=1, chosen_by="eager")
    assert [(row.step, row.planned_in) for row in rows] == [(5, 3)]
    assert [row.note["due"] for row in StoredDecision.objects.filter(mind__episode=episode)][:2] == [3, 5]


def test_messages_of_a_decision_are_sent_when_it_takes_effect() -> None:
    episode = beside("free")
    play(episode, ("wait",))
    assert episode.messages == 0
    play(episode, ("wait",))
    said = episode.sent.get()
    assert said.decision
    assert (said.step, said.text, said.data["asked_in"], said.decision.step) == (3, "I begin it.", 1, 1)


def test_a_person_waits_for_their_turn_in_a_relay() -> None:
    episode = beside("relay", think_steps=1)
    assert play(episode, ("run", "0")) == "accepted"
    assert {who for _, who in chosen(episode, 1)} == {"waiting"}
    assert play(episode, ("run", "2")) == "passed_by"
    assert [row for row in chosen(episode, 0) if row[1] != "world"] == [
        ("run 0", "person"),
        ("wait", "waiting"),
    ]


def test_an_agent_that_is_written_to_is_asked_although_it_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost task is found again, too."""
    episode = beside("free", lengths="9,1", think_steps=0)
    play(episode, ("wait",))
    assert dict(chosen(episode, 1))["run 0"] == "eager"
    asked = len(Eager.TOLD)
    play(episode, ("wait",))
    assert len(Eager.TOLD) == asked, "a busy agent without news is not asked"
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("What do you do?")).accepted
    play(episode, ("wait",))
    given = [SubmittedCommand(0, ("wait",))]
    submit_commands(episode_id=episode.pk, step=episode.step + 1, commands=given)
    Episode.objects.filter(pk=episode.pk).update(turn_opened_at="2020-01-01T00:00:00Z")
    assert turns_to_decide() == [(episode.pk, episode.step + 1)]
    decide_step(episode_id=episode.pk, step=episode.step + 1)
    assert (Eager.TOLD[-1].request.because, Eager.TOLD[-1].request.asked) == ("message", ())
    assert turns_to_decide() == []
    assert episode.sent.latest("number").text == "I am busy."


@pytest.mark.parametrize(("text", "asked"), [("I have rice.", False), ("Have you rice?", True)])
def test_a_busy_agent_answers_its_partners_question_at_once_and_all_else_when_it_is_free(
    text: str, asked: bool
) -> None:
    episode = beside("free", lengths="5,1", kind="pairwise", think_steps=0)
    play(episode, ("wait",))
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft(text, to=(1,))).accepted
    play(episode, ("wait",))
    before = len(Eager.TOLD)
    play(episode, ("wait",))
    assert len(Eager.TOLD) == before + asked
    play(episode, *[("wait",)] * 3)
    assert [situation.step for situation in Eager.TOLD[before + asked :]] == [5]
    assert text in [said.text for said in Eager.TOLD[-1].talk.messages]


def test_a_free_agent_answers_a_busy_partner_five_steps_later() -> None:
    episode = beside("free", lengths="20,1,1,1", kind="pairwise", think_steps=0)
    play(episode, ("run", "0"))
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("I do it.", to=(1,))).accepted
    assert episode.sent.latest("number").data["sender_busy"]
    before = len(Eager.TOLD)
    for step in range(2, 9):
        decide_step(episode_id=episode.pk, step=step)
    heard = [
        (one.step, "I do it." in [said.text for said in one.talk.messages]) for one in Eager.TOLD[before:]
    ]
    assert heard == [(1, False), (7, True)]
    assert [who for _, who in chosen(episode, 1)] == ["eager", "eager", *["waiting"] * 5, "eager"]


def test_the_pairwise_agent_answers_a_person() -> None:
    minds = [MindPlan("pairwise", (1,), {"model": "stand-in"})]
    timing = {"schedule": "free", "think_steps": 1}
    team = make_organisation("pairwise", members_of_plans(minds, seats=2), seats=2, settings=timing)
    episode = create_episode(
        world="errands", settings={"lengths": "3,3,9"}, seats=2, seed=1, minds=minds, organisation=team
    )
    assert send_message(
        episode_id=episode.pk, seat=0, say=MessageDraft("What do you have?", to=(1,))
    ).accepted
    play(episode, *[("wait",)] * 3)
    assert [(said.sender, said.kind, said.text) for said in episode.sent.order_by("number")][:2] == [
        (0, "say", "What do you have?"),
        (1, "answer", "I have: nothing."),
    ]
    assert {who for command, who in chosen(episode, 1) if command.startswith("run")} == {"stand-in"}


def test_the_log_of_a_schedule_is_whole_and_replays() -> None:
    episode = beside("free", lengths="2,3,1")
    commands = [("wait",), ("run", "1"), ("wait",), ("wait",), ("run", "2"), *[("wait",)] * 9]
    for command in commands:
        if Episode.objects.get(pk=episode.pk).status == Episode.Status.PLAYING:
            play(episode, command)
    rows = Episode.objects.filter(pk=episode.pk)
    assert episode.status == Episode.Status.OVER and episode.schedule_state is None
    assert all(verdict.holds for verdict in verify_episode_logs(rows))
    assert [verdict.fault for verdict in verify_replays(rows)] == [""]


def test_a_clock_and_a_schedule_exclude_each_other() -> None:
    minds = [MindPlan("eager", (1,))]
    made = make_organisation("each", members_of_plans(minds, seats=2), seats=2, settings={"schedule": "free"})
    with pytest.raises(SettingsError, match="schedule: the clock of the world"):
        create_episode(
            world="overcooked",
            settings={"layout": "cramped_room", "clock": "tick"},
            seats=2,
            seed=1,
            minds=[MindPlan("greedy", (1,))],
            organisation=made,
        )
