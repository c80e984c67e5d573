"""People and co-players write to each other while a clock takes the steps."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from kitchen.contract import mailbox
from kitchen.contract.agent import Decision as Made
from kitchen.contract.organisation import Member, Organisation, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.models import Decision, Episode, Message, Seat
from kitchen.realtime import realtime_agents, realtime_episode
from kitchen.realtime.realtime_episode import RealtimeEpisode, read_realtime_episode
from kitchen.realtime.realtime_storage import store_tick_groups
from kitchen.realtime.tick_messages import TickSource, TickUpdates, read_said
from kitchen.replay.replay_verification import verify_replays
from tests.kitchen.realtime.conftest import standing, taken_by

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

PAGE = "page-of-0"
ONIONS = MessageDraft("Onions are yours", to=(1,))


@pytest.fixture(autouse=True)
def agents_answer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(deciding: Coroutine[Any, Any, Made]) -> Future[Made]:
        made = Future[Made]()
        made.set_result(asyncio.run(deciding))
        return made

    monkeypatch.setattr(realtime_agents, "start_in_loop", start)
    monkeypatch.setattr(realtime_episode, "LEAD_IN_SECONDS", 0.0)


def team(kind: str = "central", **settings: Any) -> Organisation:
    members = (Member(0, (0,), is_person=True), Member(1, (1,), is_person=False))
    talk = {"talk": True} if kind == "central" else {}
    return make_organisation(kind, members, seats=2, settings={**talk, **settings})


AGENT = MindPlan("fast_and_slow", (1,), {"model": "stand-in"})


def episode_with(
    organisation: Organisation | None = None, ticks: int = 12, minds: Sequence[MindPlan] = (AGENT,)
) -> Episode:
    episode = create_episode(
        world="overcooked",
        settings={"layout": "asymmetric_advantages", "clock": "tick", "tick_ms": 150, "ticks": ticks},
        seats=2,
        seed=3,
        minds=list(minds),
        organisation=organisation or team(),
    )
    Seat.objects.filter(episode=episode, mind=None).update(page=PAGE)
    return episode


def ticked(game: RealtimeEpisode, count: int, after: int = 0) -> None:
    for number in range(after, after + count):
        game.tick(0.15 * (number + 1))


def test_words_change_the_aims_two_ticks_later_and_the_answer_is_stored() -> None:
    episode = episode_with()
    game = taken_by("me", episode)
    ticked(game, 3)
    assert game.say(0, PAGE, ONIONS, after=0) == ""
    ticked(game, 9, after=3)
    assert episode.pk in store_tick_groups("me", [game.written()])
    asked, answer = Message.objects.filter(episode=episode).order_by("number")
    assert (asked.text, asked.step, asked.sender) == ("Onions are yours", 4, 0)
    assert answer.text.startswith("Understood. I do this first: onions.")
    assert (answer.sender, answer.to, answer.step) == (1, [0], 5)
    notes = Decision.objects.filter(mind__episode=episode).order_by("step").values_list("step", "note")
    changes = [(step, one) for step, note in notes for one in (note or {}).get("aim_changes", ())]
    ((step, change),) = changes
    assert (step, change["message"], change["written_in"], change["ms"]) == (5, 1, 4, 150)
    assert Episode.objects.get(pk=episode.pk).messages == 2


def test_episode_with_messages_replays_to_the_same_states() -> None:
    episode = episode_with()
    game = taken_by("me", episode)
    game.say(0, PAGE, ONIONS, after=0)
    ticked(game, 12)
    store_tick_groups("me", [game.written()])
    (verdict,) = verify_replays(Episode.objects.filter(pk=episode.pk))
    assert verdict.fault == ""


def test_message_between_two_ticks_is_stored_without_a_step() -> None:
    episode = episode_with()
    game = taken_by("me", episode)
    ticked(game, 1)
    store_tick_groups("me", [game.written()])
    game.stored()
    game.say(0, PAGE, ONIONS, after=0)
    assert episode.pk in store_tick_groups("me", [game.written()])
    game.stored()
    ticked(game, 3, after=1)
    assert episode.pk in store_tick_groups("me", [game.written()])
    assert [one.number for one in Message.objects.filter(episode=episode).order_by("number")] == [1, 2]


def test_agents_do_not_take_old_messages_for_new_ones_in_another_process() -> None:
    episode = episode_with()
    game = taken_by("me", episode)
    game.say(0, PAGE, ONIONS, after=0)
    ticked(game, 2)
    game.say(0, PAGE, MessageDraft("Stop", to=(1,)), after=2)
    store_tick_groups("me", [game.written()])
    again = read_realtime_episode(standing(episode), 9.0)
    assert again is not None
    (asked,) = again.minds._thinking.values()
    texts = [(one.text, one.is_new) for one in asked.situation.talk.messages if one.sender == 0]
    assert texts == [("Onions are yours", False), ("Stop", True)]


def test_messages_and_their_ticks_need_no_query(django_assert_num_queries: Any) -> None:
    game = taken_by("me", episode_with())
    with django_assert_num_queries(0):
        game.say(0, PAGE, ONIONS, after=0)
        ticked(game, 3)
        game.sights()


def test_page_gets_each_message_once_and_all_of_them_with_the_whole_state() -> None:
    game = taken_by("me", episode_with())
    updates = TickUpdates(game, TickSource("me"))
    game.say(0, PAGE, ONIONS, after=0)
    texts = []
    for number in range(4):
        part = updates.tick(game.tick(0.15 * (number + 1)))["seats"]["0"]
        texts += [said.text for said in read_said(part)]
        assert "said" not in part
    assert len(texts) == 2 and texts[0] == "Onions are yours"
    assert [said.text for said in read_said(updates.whole()["seats"]["0"])] == texts


def test_message_reaches_everybody_although_one_page_asked_for_the_whole_state() -> None:
    people = Member(0, (0,), is_person=True), Member(1, (1,), is_person=True)
    both = make_organisation("central", people, seats=2, settings={"talk": True})
    game = taken_by("me", episode_with(both, minds=()))
    updates = TickUpdates(game, TickSource("me"))
    updates.tick(game.tick(0.15))
    game.say(0, PAGE, ONIONS, after=0)
    updates.whole()  # the page of one person
    seats = updates.tick(game.tick(0.3))["seats"]
    assert [[said.text for said in read_said(seats[seat])] for seat in "01"] == 2 * [["Onions are yours"]]
    updates.whole(to_all=True)
    assert not read_said(updates.tick(game.tick(0.45))["seats"]["1"])


def test_tick_looks_only_at_new_messages_and_at_the_newest_ones_of_agents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = taken_by("me", episode_with(ticks=200))
    for number in range(80):
        game.say(0, PAGE, MessageDraft(f"word {number}", to=(1,)), after=None)
        game.tick(0.15 * number)
    updates = TickUpdates(game, TickSource("me"))
    assert [one.text for one in read_said(updates.whole()["seats"]["0"])][-2] == "word 79"
    looked: list[int] = []
    see = mailbox.may_see_message

    def counted(*given: Any) -> bool:
        looked.append(1)
        return see(*given)

    monkeypatch.setattr(mailbox, "may_see_message", counted)
    game.sights()
    assert not looked
    game.say(0, PAGE, ONIONS, after=None)
    game.sights()
    assert len(looked) == 1
    game.tick(99.0)
    assert len(looked) <= 2 * mailbox.MAX_MESSAGES_TOLD < game.episode.messages


def test_repeated_message_is_sent_once_and_another_page_cannot_write() -> None:
    game = taken_by("me", episode_with())
    game.tick(0.15)
    assert game.say(0, PAGE, ONIONS, after=0) == ""
    assert game.say(0, PAGE, ONIONS, after=0) == ""
    assert game.say(0, "another", ONIONS, after=None) == "elsewhere"
    assert game.say(0, PAGE, MessageDraft(" ", to=(1,)), after=None) == "empty"
    assert len([row for row in game.turn.sent if row.sender == 0]) == 1


@pytest.mark.parametrize(
    ("organisation", "why"),
    [(team("pair", within=True), "not in turns"), (team("pairwise"), "one to one")],
)
def test_talk_in_turns_is_refused_under_a_clock(organisation: Organisation, why: str) -> None:
    assert why in organisation.clock_refusal
    assert team().clock_refusal == ""
