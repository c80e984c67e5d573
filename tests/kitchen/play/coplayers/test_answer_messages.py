"""Talk within a step: a mind answers who writes to it before anybody chooses."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from kitchen import tasks
from kitchen.contract.agent import REASON_TO_ANSWER, Agent, Decision, Situation
from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers import answer_messages
from kitchen.play.coplayers.agent_decisions import ask_mind, decide_step
from kitchen.play.coplayers.agent_situations import MindOutcome
from kitchen.play.coplayers.answer_messages import decide_answer, send_message
from kitchen.play.episode.advance_episode import close_expired_turn
from kitchen.play.episode.create_episode import members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Mind, Seat, SeatCommand
from kitchen.play.turn import play_task_queue
from kitchen.play.turn.speaking_order import minds_to_answer
from kitchen.play.turn.step_timer import start_first_turn_timer
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_claims import claim_decision, release_claim
from kitchen.play.turn.turn_searches import unanswered_turns
from kitchen.registry import agent_registry
from kitchen.tasks import answer
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

TOLD: list[Situation] = []
SILENT: list[bool] = []
"""Whether it says nothing."""


class Partner(Agent):
    """Says how often it was asked, and wants to do something else each time."""

    kind = "partner"

    async def decide(self, situation: Situation) -> Decision:
        TOLD.append(situation)
        count = (situation.memory or 0) + 1
        says = (
            (MessageDraft(f"answer {count}"),)
            if situation.request.because == REASON_TO_ANSWER and not SILENT
            else ()
        )
        return Decision({1: ("goto", f"pot{count - 1}")}, memory=count, says=says)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "partner", f"{__name__}:Partner")
    TOLD.clear()
    SILENT.clear()


def pair(*, rounds: int = 3, **more: Any) -> Episode:
    minds = (mind("partner", 1),)
    made = make_organisation("pair", members_of_plans(minds, seats=2), seats=2, settings={"rounds": rounds})
    return make_episode(seats=2, minds=minds, organisation=made, **more)


def say(episode: Episode, text: str, kind: str = "say") -> None:
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft(text, kind)).accepted
    with read_turn(episode.pk) as turn:
        asks = minds_to_answer(turn) != []
    if asks:
        answer(episode.pk, Episode.objects.get(pk=episode.pk).step + 1, 0)


def said(episode: Episode) -> list[tuple[int, str, int]]:
    return list(episode.sent.order_by("number").values_list("sender", "text", "step"))


def test_a_mind_answers_within_the_step_and_what_it_decides_last_is_followed() -> None:
    episode = pair(rounds=2)
    for text in ("who takes the rice?", "and the salmon?", "well?"):
        say(episode, text)
    assert said(episode) == [
        (0, "who takes the rice?", 1),
        (1, "answer 1", 1),
        (0, "and the salmon?", 1),
        (1, "answer 2", 1),
        (0, "well?", 1),
    ]
    assert Episode.objects.get(pk=episode.pk).step == 0
    submit(episode, 1, "noop")
    decide_step(episode_id=episode.pk, step=1)
    assert [told.request.because for told in TOLD] == ["answer", "answer", "message"]
    assert [(one.text, one.is_new) for one in TOLD[2].talk.messages] == [
        ("who takes the rice?", False),
        ("answer 1", False),
        ("and the salmon?", False),
        ("answer 2", False),
        ("well?", True),
    ]
    assert SeatCommand.objects.get(episode=episode, seat=1, step=1).command == ["goto", "pot2"]
    rows = DecisionRow.objects.order_by("number").values_list("number", "because", "memory", "step")
    assert list(rows) == [(1, "answer", 1, 1), (2, "answer", 2, 1), (3, "message", 3, 1)]
    note: Any = DecisionRow.objects.get(number=1).note
    assert note["dropped"] == {"commands": {"1": ["goto", "pot0"]}}
    assert [verdict.holds for verdict in verify_episode_logs(Episode.objects.all())] == [True]


@pytest.mark.parametrize(("text", "kind"), [("hello", "say"), ("", "end")])
def test_who_repeats_themselves_or_ends_it_is_not_answered(text: str, kind: str) -> None:
    episode = pair()
    say(episode, "hello")
    say(episode, text, kind)
    assert len(TOLD) == 1 and said(episode)[-1] == (0, text, 1)


def test_an_answer_that_comes_after_the_choice_is_dropped_and_the_mind_is_asked_for_its_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episode = pair()

    def chosen_meanwhile(*asked: Any) -> MindOutcome:
        submit(episode, 1, "noop")
        return ask_mind(*asked)

    monkeypatch.setattr(answer_messages, "ask_mind", chosen_meanwhile)
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("hello")).accepted
    answer(episode.pk, 1, 0)
    assert said(episode) == [(0, "hello", 1)]
    assert DecisionRow.objects.get().dropped == "late"
    assert Mind.objects.get().deciding_by == ""  # nobody has to wait for the claim
    decide_step(episode_id=episode.pk, step=1)
    assert [told.request.because for told in TOLD] == ["answer", "message"]


def test_an_answer_that_cannot_be_stored_is_given_up_and_not_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(decided: list[tuple[DecisionRow, object]]) -> None:
        if decided[0][0].fallback != "error":
            raise OverflowError("too many tokens")

    monkeypatch.setattr(answer_messages, "store_calls", full)
    episode = pair()
    say(episode, "hello")
    row = DecisionRow.objects.get()
    assert row.because == "answer" and row.error.startswith("OverflowError in ")
    assert said(episode) == [(0, "hello", 1)] and len(TOLD) == 1
    with read_turn(episode.pk) as turn:
        assert minds_to_answer(turn) == []


def test_an_answer_that_fails_leaves_no_claim_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*asked: Any) -> MindOutcome:
        raise RuntimeError("broken")

    monkeypatch.setattr(answer_messages, "ask_mind", broken)
    episode = pair()
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("hello")).accepted
    with pytest.raises(RuntimeError, match="broken"):
        answer(episode.pk, 1, 0)
    assert Mind.objects.get().deciding_by == ""
    monkeypatch.setattr(answer_messages, "ask_mind", ask_mind)
    answer(episode.pk, 1, 0)
    assert said(episode)[-1] == (1, "answer 1", 1)


def test_nobody_is_answered_twice_for_one_message() -> None:
    episode = pair()
    say(episode, "hello")
    assert not decide_answer(episode_id=episode.pk, step=1, mind=0)
    answer(episode.pk, 1, 0)
    assert len(said(episode)) == 2


def test_an_answer_that_was_lost_is_asked_for_again_as_long_as_one_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(play_task_queue, "_send_later", lambda *task, **_: sent.append(task))
    monkeypatch.setattr(play_task_queue, "_not_lately", lambda *_: True)
    episode = pair(rounds=1)
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("hello")).accepted
    tasks.pick_up_open_turns()
    assert sent == []  # it was sent a moment ago
    monkeypatch.setattr(answer_messages, "unanswered_turns", partial(unanswered_turns, timedelta()))
    claim = claim_decision(episode_id=episode.pk, step=1, mind=0)
    tasks.pick_up_open_turns()
    assert sent == []  # somebody is asking
    release_claim(claim)
    tasks.pick_up_open_turns()
    assert sent == [(play_task_queue.ANSWER, episode.pk, 1, 0)]
    answer(*sent.pop()[1:])
    say(episode, "and now?")  # it has spoken as often as it may
    assert unanswered_turns(timedelta()) == [episode.pk]
    tasks.pick_up_open_turns()
    assert sent == []


def test_people_have_their_time_anew_after_each_answer() -> None:
    episode = pair(step_seconds=20.0, decision_seconds=5.0)
    Seat.objects.filter(episode=episode).update(page="open")
    start_first_turn_timer(episode_id=episode.pk)
    before = Episode.objects.get(pk=episode.pk)
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("hello")).accepted
    waits = Episode.objects.get(pk=episode.pk)
    assert waits.turn_closes_at and before.turn_closes_at
    assert waits.turn_closes_at - before.turn_closes_at >= timedelta(seconds=5)
    answer(episode.pk, 1, 0)
    after = Episode.objects.get(pk=episode.pk)
    assert after.turn_closes_at and before.turn_closes_at < after.turn_closes_at < waits.turn_closes_at
    assert after.turn_opened_at == before.turn_opened_at
    with read_turn(episode.pk) as turn:
        assert turn.asked_at > turn.episode.turn_opened_at


def test_who_is_silent_after_an_answer_has_run_out_of_time_and_no_outage_did() -> None:
    episode = pair(step_seconds=20.0)
    Seat.objects.filter(episode=episode).update(page="open")
    start_first_turn_timer(episode_id=episode.pk)
    say(episode, "hello")
    past = timezone.now() - timedelta(seconds=30)
    Episode.objects.update(asked_at=past, turn_closes_at=past + timedelta(seconds=20))
    assert close_expired_turn(episode_id=episode.pk, step=1)
    assert SeatCommand.objects.get(seat=0).chosen_by == "timeout"


def test_an_answer_without_words_is_one_and_nobody_is_asked_for_it_again() -> None:
    episode = pair(rounds=1)
    SILENT.append(True)
    say(episode, "hello")
    assert DecisionRow.objects.get().because == REASON_TO_ANSWER and len(said(episode)) == 1
    say(episode, "are you there?")
    assert len(TOLD) == 1


def test_what_is_written_while_an_answer_is_made_is_answered_too() -> None:
    episode = pair()

    def more(*asked: Any) -> MindOutcome:
        if len(TOLD) == 0:
            assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("and the salmon?")).accepted
        return ask_mind(*asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answer_messages, "ask_mind", more)
        assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("hello")).accepted
        answer(episode.pk, 1, 0)
    with read_turn(episode.pk) as turn:
        assert minds_to_answer(turn) != []
    answer(episode.pk, 1, 0)
    assert [text for _, text, _ in said(episode)] == ["hello", "and the salmon?", "answer 1", "answer 2"]
