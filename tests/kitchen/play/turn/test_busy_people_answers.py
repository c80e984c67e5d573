"""A busy person answers a message before the step goes on, where two members take turns to speak."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from kitchen import tasks
from kitchen.contract.agent import REASON_TO_ANSWER
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.absent_players import AbsencePolicy
from kitchen.play.episode.advance_episode import leave_seat, submit_commands
from kitchen.play.live import page_watchdog
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Message, Seat, SeatCommand
from kitchen.play.turn.step_timer import start_first_turn_timer
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_rules import waits_for_minds
from kitchen.play.turn.turn_searches import overdue_turns, turns_to_decide
from kitchen.play.turn.websocket_messages import PlanMessage
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import WORLDS_VARIABLE
from kitchen.tasks import answer
from tests.kitchen.factories import submit
from tests.kitchen.play.test_talk_within import Talker, did, due, holds, said, step_of
from tests.kitchen.play.turn.test_speaking_order import choose, page_of, pair, phases, run_out, write
from tests.worlds.tunnel.kit import LINE
from tests.worlds.tunnel.world import DIG, REST, STOP, Tunnel

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setitem(agent_registry.AGENTS, "talker", "tests.kitchen.play.test_talk_within:Talker")
    yield
    for each in (Talker.asked, Talker.lines, Talker.told):
        each.clear()


def digging(**more: Any) -> Episode:
    """A pair in its second step: the person in seat 1 digs, and the agent in seat 0 is to choose."""
    episode = pair(0, synthetic=True, **more)  # without the pause in which the person could interrupt
    Talker.told[1, 0] = [REST]
    answer(episode.pk, 1, 0)
    assert submit(episode, 1, *DIG, seat=1).code == "accepted" and step_of(episode) == 1
    Talker.asked.clear()
    return episode


def planning(**more: Any) -> Episode:
    """A pair in its second step: the person in seat 1 carries out a plan, and the agent is to choose."""
    episode = pair(0, offers_plans=True, **more)
    Talker.told[1, 0] = [REST]
    answer(episode.pk, 1, 0)
    assert submit_plan(episode, REST, REST, REST) == "accepted" and step_of(episode) == 1
    return episode


def submit_plan(episode: Episode, first: Command, *then: Command) -> str:
    given = SubmittedCommand(1, first, then=then)
    return submit_commands(episode_id=episode.pk, step=1, commands=[given]).code


def decide(episode: Episode) -> None:
    decide_step(episode_id=episode.pk, step=step_of(episode) + 1)


def awaited(episode: Episode) -> set[int]:
    with read_turn(episode.pk) as turn:
        return turn.people_to_answer


def awaits_agents(episode: Episode) -> bool:
    with read_turn(episode.pk) as turn:
        return waits_for_minds(turn)


def test_the_step_waits_until_the_busy_person_has_answered_and_the_agent_has_decided_anew() -> None:
    episode = digging()
    Talker.lines[0] = ["will you stop?"]
    Talker.told |= {(2, 0): [DIG]}
    decide(episode)
    assert step_of(episode) == 1 and phases(episode) == ["answer"] and awaited(episode) == {1}
    assert did(episode, 2) == [] and said(episode) == [(0, "will you stop?")]
    row: Any = DecisionRow.objects.get(step=2)
    assert row.because == REASON_TO_ANSWER and row.note["dropped"]["commands"] == {"0": ["dig"]}
    Talker.told[2, 0] = [REST]
    assert write(episode, "no", 1) == "accepted" and due(episode) == [0] and phases(episode) == ["thinking"]
    answer(episode.pk, 2, 0)
    assert due(episode) == [] and awaited(episode) == set() and awaits_agents(episode)
    decide(episode)
    assert step_of(episode) == 2 and did(episode, 2) == [["talker", "rest"], ["world", "go_on"]]
    assert [one.request.because for one in Talker.asked] == ["seat", "answer", "seat"]
    assert holds(episode)


def test_a_person_whose_plan_continues_is_asked_too_and_the_plan_goes_on() -> None:
    episode = planning()
    Talker.lines[0] = ["wait!"]
    decide(episode)
    assert phases(episode) == ["answer"] and submit(episode, 2, *DIG, seat=1).code == "double"
    write(episode, "no", 1)
    answer(episode.pk, 2, 0)
    decide(episode)
    assert did(episode, 2) == [["talker", "go_on"], ["person", "rest"]] and step_of(episode) == 2


def test_an_agent_that_says_nothing_or_only_ends_a_talk_decides_at_once() -> None:
    episode = digging()
    decide(episode)
    assert step_of(episode) == 2
    Talker.lines[0] = [MessageDraft("bye", "end")]
    decide(episode)
    assert step_of(episode) == 3 and awaited(episode) == set()


def test_no_plan_stops_for_words_that_need_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tunnel, "needs_answer", lambda _, data: data.get("code") != "gives_up")
    tells, episode = MessageDraft("I leave this.", data={"code": "gives_up"}), planning()
    Talker.lines[0] = [tells]
    decide(episode)
    assert step_of(episode) == 2 and awaited(episode) == set()
    Talker.lines[0] = [MessageDraft("will you stop?")]
    decide(episode)
    assert step_of(episode) == 2 and awaited(episode) == {1}
    Talker.lines[0] = [tells]
    assert write(episode, "what?", 1) == "accepted"
    answer(episode.pk, 3, 0)
    assert awaited(episode) == set(), "its answer to the person's words releases the step"


def test_the_talk_goes_on_for_as_many_rounds_as_the_condition_allows() -> None:
    episode = digging(organised={"rounds": 2})
    Talker.lines[0] = ["one", "two", "three"]
    decide(episode)
    write(episode, "a", 1)
    answer(episode.pk, 2, 0)
    assert phases(episode) == ["answer"] and said(episode)[-1] == (0, "two")
    assert write(episode, "b", 1) == "accepted" and due(episode) == []
    assert awaited(episode) == set() and awaits_agents(episode)
    decide(episode)
    assert step_of(episode) == 2 and said(episode)[-1] == (1, "b")  # the agent's third message came too late


def test_the_agent_is_asked_for_commands_as_soon_as_the_person_has_written_the_last_answer(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = digging(organised={"rounds": 1})
    Talker.lines[0] = ["one"]
    decide(episode)
    asked: list[tuple[int, ...]] = []
    monkeypatch.setattr(
        "kitchen.play.episode.advance_episode.ask_coplayers", lambda *given: asked.append(given)
    )
    with django_capture_on_commit_callbacks(execute=True):
        write(episode, "fine", 1)
    assert asked == [(episode.pk, 2)]


def test_a_person_who_passes_leaves_an_empty_end_and_cannot_pass_twice() -> None:
    episode = digging()
    Talker.lines[0] = ["will you stop?", "then not"]
    decide(episode)
    assert write(episode, "", 1, "end") == "accepted" and write(episode, "", 1, "end") == "not_your_turn"
    answer(episode.pk, 2, 0)
    assert said(episode) == [(0, "will you stop?"), (1, ""), (0, "then not")]
    assert phases(episode) == ["answer"]
    write(episode, "", 1, "end")
    answer(episode.pk, 2, 0)
    assert write(episode, "", 1, "end") == "not_your_turn"  # the conversation is over
    decide(episode)
    assert step_of(episode) == 2 and Message.objects.count() == 4


def test_a_busy_person_may_act_instead_of_an_answer_if_the_world_allows_it() -> None:
    episode = digging()
    Talker.lines[0] = ["stop!"]
    decide(episode)
    assert current_seat_view(episode.seats.get(number=1)).choice.may_act
    assert submit(episode, 2, *STOP, seat=1).code == "accepted"
    assert awaited(episode) == set() and due(episode) == []
    decide(episode)
    assert did(episode, 2) == [["talker", "go_on"], ["person", "stop"]] and step_of(episode) == 2


def test_a_new_plan_is_the_answer_of_a_busy_person() -> None:
    episode = planning()
    Talker.lines[0] = ["will you dig next?"]
    decide(episode)
    page = page_of(episode, 1)
    assert [json.loads(text)["type"] for text in page.plan(PlanMessage((DIG,), 2)).texts] == ["state"]
    assert said(episode) == [(0, "will you dig next?"), (1, "")] and due(episode) == [0]
    assert Message.objects.get(sender=1).data == {"house": True, "plan": [["dig"]]}
    assert "You answered with a plan." in page_text(episode)
    answer(episode.pk, 2, 0)
    decide(episode)
    assert step_of(episode) == 2 and did(episode, 3) == [["person", "dig"]]
    assert SeatCommand.objects.get(step=3, seat=1).planned_in == 2


def test_the_time_limit_of_an_answer_runs_from_the_message_and_ends_only_the_answer() -> None:
    episode = digging(step_seconds=20.0, absence=AbsencePolicy(1))
    Seat.objects.filter(episode=episode).update(page="open")
    start_first_turn_timer(episode_id=episode.pk)
    Episode.objects.update(turn_closes_at=timezone.now() + timedelta(seconds=1))
    Talker.lines[0] = ["will you stop?"]
    decide(episode)
    left = current_seat_view(episode.seats.get(number=1)).timing.seconds_left
    assert left is not None and 15 < left <= 20 and overdue_turns() == []
    past = timezone.now() - timedelta(seconds=1)
    Episode.objects.update(turn_closes_at=past)
    assert overdue_turns() == [(episode.pk, 2)]
    assert run_out(episode)
    end = Message.objects.get(sender=1)
    assert (end.kind, end.text, end.data) == ("end", "", {"house": True, "ran_out": True}) and step_of(
        episode
    ) == 1
    assert due(episode) == [0] and episode.seats.get(number=1).is_person
    answer(episode.pk, 2, 0)
    decide(episode)
    assert did(episode, 2)[1] == ["world", "go_on"] and step_of(episode) == 2


def test_no_worker_decides_for_the_agent_while_a_busy_person_is_to_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episode = digging(decision_seconds=2.0)
    Talker.lines[0] = ["will you stop?"]
    decide(episode)
    later = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    monkeypatch.setattr(Message._meta.get_field("sent_at"), "_get_default", lambda: later)
    assert turns_to_decide() == [] and page_watchdog.stranded_turns() == ([], [])
    write(episode, "", 1, "end")
    answer(episode.pk, 2, 0)
    assert turns_to_decide() == [(episode.pk, 2)]
    assert page_watchdog.stranded_turns() == ([], [])  # the agent's time has just begun


def test_a_reloaded_page_shows_the_same_turn_and_json_clients_read_it() -> None:
    episode = digging()
    Talker.lines[0] = ["will you stop?"]
    decide(episode)
    for _ in range(2):
        (state,) = map(json.loads, page_of(episode, 1).show().texts)
        assert (state["phase"], state["waiting_for"]) == ("answer", [0, 1])


def test_a_worker_that_has_asked_is_free_to_ask_for_the_answer_and_a_repeated_task_overruns_nobody() -> None:
    episode = digging()
    Talker.lines[0] = ["will you stop?", "fine"]
    tasks.decide(episode.pk, 2)
    for _ in range(2):
        tasks.decide(episode.pk, 2)
    assert step_of(episode) == 1 and phases(episode) == ["answer"] and len(Talker.asked) == 1
    write(episode, "no", 1)
    answer(episode.pk, 2, 0)
    assert said(episode)[-1] == (0, "fine")
    write(episode, "", 1, "end")
    answer(episode.pk, 2, 0)
    tasks.decide(episode.pk, 2)
    assert step_of(episode) == 2 and len(Talker.asked) == 4


@pytest.mark.parametrize("line", [MessageDraft("bye", "end"), "no"])
def test_commands_are_stored_at_once_if_nobody_has_to_answer(line: Any) -> None:
    episode = digging(settings={"deaf": line == "no"})
    Talker.lines[0] = [line]
    tasks.decide(episode.pk, 2)
    assert step_of(episode) == 2 and len(Talker.asked) == 1


def test_nobody_is_asked_for_an_answer_who_may_not_write_it() -> None:
    episode = digging(organised={"messages_a_step": 1, "rounds": 5})
    Talker.lines[0] = ["one", "two"]
    decide(episode)
    assert write(episode, "a", 1) == "accepted"
    answer(episode.pk, 2, 0)
    assert awaited(episode) == set() and awaits_agents(episode)


def test_a_busy_person_does_not_open_a_conversation() -> None:
    episode = planning()
    assert write(episode, "hello", 1) == write(episode, "", 1, "end") == "not_your_turn"
    assert said(episode) == []


def test_two_people_take_turns_even_if_one_of_them_is_busy() -> None:
    episode = pair()
    submit(episode, 1, *REST, seat=0)
    assert submit(episode, 1, *DIG, seat=1).code == "accepted"
    assert phases(episode) == ["choose", "waiting"]
    assert write(episode, "will you stop?", 0) == "accepted"
    assert phases(episode) == ["waiting", "answer"]
    assert choose(episode, 0, 2) == write(episode, "well?", 0) == "not_your_turn"
    assert write(episode, "no", 1) == "accepted" and phases(episode) == ["choose", "waiting"]
    assert choose(episode, 0, 2) == "accepted" and step_of(episode) == 2
    assert did(episode, 2) == [["person", "rest"], ["world", "go_on"]] and holds(episode)


def test_an_agent_that_takes_over_a_busy_seat_owes_no_answer() -> None:
    episode = pair(absence=AbsencePolicy(5, "talker"))
    submit(episode, 1, *REST, seat=0)
    submit(episode, 1, *DIG, seat=1)
    write(episode, "will you stop?", 0)
    assert awaited(episode) == {1} and leave_seat(episode_id=episode.pk, seat=1) and awaited(episode) == set()
    assert due(episode) == [0]
    answer(episode.pk, 2, 0)
    assert choose(episode, 0, 2) == "accepted"


def test_pages_say_who_is_to_answer_and_offer_to_give_no_answer() -> None:
    episode = digging()
    Talker.lines[0] = ["will you stop?"]
    decide(episode)
    shown = page_text(episode)
    assert "Do not answer" in shown and "answer Player" in shown
    write(episode, "", 1, "end")
    shown = page_text(episode)
    assert "Do not answer" not in shown and "You said nothing more." in shown


def page_text(episode: Episode) -> str:
    """The HTML that a new page of the person in seat 1 gets over the websocket."""
    return "".join(page_of(episode, 1, is_json=False).show().texts)
