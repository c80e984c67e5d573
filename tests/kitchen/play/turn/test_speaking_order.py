"""Two members who take turns within a step: who may choose or write when, and who waits for whom."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from kitchen.contract.agent import REASON_TO_ANSWER, Decision, Situation
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import MESSAGE_RECEIPTS, decide_answer, send_message
from kitchen.play.episode.absent_players import AbsencePolicy
from kitchen.play.episode.advance_episode import close_expired_turn, leave_seat
from kitchen.play.live import page_watchdog
from kitchen.play.live.page_session import OpenPage, open_page
from kitchen.play.live.seat_view import current_seat_view, seat_states
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Message, Seat, SeatCommand
from kitchen.play.turn.speaking_order import held_seats, member_to_speak
from kitchen.play.turn.step_timer import extend_deadlines, start_first_turn_timer
from kitchen.play.turn.submitted_commands import RECEIPTS
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_searches import unanswered_turns
from kitchen.play.turn.websocket_messages import CommandMessage, PlanMessage, SayMessage
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import WORLDS_VARIABLE
from kitchen.tasks import answer
from kitchen.uptime.outage_detection import Span
from tests.kitchen.factories import submit
from tests.kitchen.play.test_talk_within import Talker, all_answer, did, due, holds, make, said, step_of
from tests.worlds.tunnel.kit import LINE
from tests.worlds.tunnel.world import DIG, REST

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


class Failing(Talker):
    """Is late whenever it is asked; its fallback rests."""

    kind = "failing"

    async def decide(self, situation: Situation) -> Decision:
        self.asked.append(situation)
        raise TimeoutError

    def fall_back(self, situation: Situation, code: str) -> Decision:
        return Decision(dict.fromkeys(situation.seats, REST))


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setitem(agent_registry.AGENTS, "talker", "tests.kitchen.play.test_talk_within:Talker")
    monkeypatch.setitem(agent_registry.AGENTS, "failing", f"{__name__}:Failing")
    yield
    for each in (Talker.asked, Talker.lines, Talker.told):
        each.clear()


def pair(*minds: int, **more: Any) -> Episode:
    """A pair that takes turns; these seats are minds', and the others people's."""
    return make(*minds, seats=2, kind="pair", **more)


def write(episode: Episode, text: str, seat: int, kind: str = "say") -> str:
    return send_message(episode_id=episode.pk, seat=seat, say=MessageDraft(text, kind)).code


def choose(episode: Episode, seat: int, step: int = 1) -> str:
    return submit(episode, step, *REST, seat=seat).code


def phases(episode: Episode) -> list[str]:
    """What the page of each person says, in the order of seats."""
    return [current_seat_view(seat).phase for seat in episode.seats.filter(mind=None).order_by("number")]


def held(episode: Episode) -> set[int]:
    with read_turn(episode.pk) as turn:
        return held_seats(turn)


def speaker(episode: Episode) -> int | None:
    with read_turn(episode.pk) as turn:
        return member_to_speak(turn)


def timed(*minds: int, **more: Any) -> Episode:
    """A pair with a time limit that runs, with all pages open."""
    episode = pair(*minds, step_seconds=20.0, **more)
    Seat.objects.filter(episode=episode).update(page="open")
    start_first_turn_timer(episode_id=episode.pk)
    return episode


def run_out(episode: Episode) -> bool:
    """Let the time limit end now, and close the turn."""
    past = timezone.now() - timedelta(seconds=1)
    Episode.objects.update(turn_opened_at=past - timedelta(seconds=20), asked_at=None, turn_closes_at=past)
    return close_expired_turn(episode_id=episode.pk, step=step_of(episode) + 1)


def page_of(episode: Episode, seat: int, *, is_json: bool = True) -> OpenPage:
    page, _ = open_page(episode.seats.get(number=seat).key, f"page-of-seat-{seat}", newest=True, json=is_json)
    assert page
    return page


def code(texts: tuple[str, ...]) -> str:
    return str(json.loads(texts[0]).get("code", ""))


# A person after an agent


def test_a_person_waits_until_the_first_member_has_spoken_and_nothing_of_theirs_is_stored() -> None:
    episode = pair(0)
    assert held(episode) == {1} and phases(episode) == ["thinking"]
    assert choose(episode, 1) == write(episode, "hello", 1) == "not_your_turn"
    assert not SeatCommand.objects.exists() and not Message.objects.exists()
    assert Episode.objects.get().messages == 0
    assert "not_your_turn" in RECEIPTS.keys() & MESSAGE_RECEIPTS.keys()


def test_a_silent_opening_releases_the_person_and_is_the_decision_of_the_step() -> None:
    episode = pair(0)
    Talker.told[1, 0] = [DIG, REST]
    answer(episode.pk, 1, 0)
    assert held(episode) == set() and phases(episode) == ["choose"]
    assert did(episode, 1) == [["talker", "dig"]]
    assert choose(episode, 1) == "accepted" and step_of(episode) == 1
    assert decide_step(episode_id=episode.pk, step=1) is None
    assert len(Talker.asked) == 1 and Talker.asked[0].request.because == "seat"
    row = DecisionRow.objects.get()
    assert row.because == "seat" and "dropped" not in (row.note or {}) and holds(episode)
    with read_turn(episode.pk) as turn:
        assert turn.plans[0].then == (REST,) and turn.memories[row.mind_id] == 1


def test_an_agent_that_opened_with_words_is_answered_and_asked_again() -> None:
    episode = pair(0)
    Talker.lines[0] = ["shall I dig?", ""]
    Talker.told[1, 0] = [DIG]
    answer(episode.pk, 1, 0)
    assert did(episode, 1) == [] and speaker(episode) == 1
    assert write(episode, "yes", 1) == "accepted" and held(episode) == {1}
    assert choose(episode, 1) == write(episode, "well?", 1) == "not_your_turn"
    answer(episode.pk, 1, 0)
    assert held(episode) == set() and choose(episode, 1) == "accepted"
    decide_step(episode_id=episode.pk, step=1)
    assert [one.request.because for one in Talker.asked] == ["seat", REASON_TO_ANSWER, "seat"]
    assert said(episode) == [(0, "shall I dig?"), (1, "yes")] and did(episode, 1)[0][1] == "dig"


def test_an_opening_that_ends_the_talk_counts_as_well() -> None:
    episode = pair(0)
    Talker.lines[0] = [MessageDraft("I dig", "end")]
    answer(episode.pk, 1, 0)
    assert did(episode, 1) == [["talker", "go_on"]] and speaker(episode) is None
    assert choose(episode, 1) == "accepted" and step_of(episode) == 1 and len(Talker.asked) == 1


def test_a_person_may_write_after_a_silent_opening_and_the_first_decision_still_counts() -> None:
    episode = pair(0)
    Talker.lines[0], Talker.told[1, 0] = ["", "no"], [DIG]
    answer(episode.pk, 1, 0)
    Talker.told[1, 0] = [REST]
    assert write(episode, "will you rest?", 1) == "accepted" and held(episode) == {1}
    answer(episode.pk, 1, 0)
    assert Talker.asked[1].memory == 1 and Talker.asked[1].request.asked == ()
    assert choose(episode, 1) == "accepted" and did(episode, 1)[0] == ["talker", "dig"]
    assert len(Talker.asked) == 2 and said(episode)[-1] == (0, "no") and holds(episode)


@pytest.mark.parametrize("silent_first", [False, True])
def test_there_are_never_more_rounds_than_the_organisation_allows(*, silent_first: bool) -> None:
    episode = pair(0, organised={"rounds": 2, "messages_a_step": 9})
    Talker.lines[0] = ["", *"abcdef"] if silent_first else [*"abcdef"]
    all_answer(episode)
    for text in "xyz":
        write(episode, text, 1)
        all_answer(episode)
    assert choose(episode, 1) == "accepted"
    decide_step(episode_id=episode.pk, step=1)
    assert step_of(episode) == 1
    assert [text for sender, text in said(episode) if sender == 0] == ["a", "b"]
    unsaid: Any = DecisionRow.objects.order_by("-number").values_list("note__unsaid", flat=True)[0]
    assert silent_first or [(one["text"], one["code"]) for one in unsaid] == [("c", "too_many")]


def test_the_persons_time_begins_with_their_turn() -> None:
    episode = timed(0, decision_seconds=5.0)
    Talker.lines[0] = ["hello"]
    assert not run_out(episode) and step_of(episode) == 0 and not SeatCommand.objects.exists()
    assert current_seat_view(episode.seats.get(number=1)).timing.seconds_left is None
    answer(episode.pk, 1, 0)
    left = current_seat_view(episode.seats.get(number=1)).timing.seconds_left
    assert left and 15 < left <= 20
    assert run_out(episode) and SeatCommand.objects.get(seat=1).chosen_by == "timeout"


def test_the_page_says_whose_turn_it_is_and_since_when_also_after_a_reload() -> None:
    episode = pair(0)
    Episode.objects.update(turn_opened_at=timezone.now() - timedelta(seconds=7))
    for _ in range(2):
        page = page_of(episode, 1, is_json=False)
        (html,) = page.show().texts
        assert "speaks first" in html and 'data-phase="thinking"' in html
        assert re.search(r'data-waited="([789]|1\d)"', html)
        assert 'name="command"' not in html
    Talker.lines[0] = ["hello"]
    answer(episode.pk, 1, 0)
    (html,) = page.look().texts
    assert "answer Player 1" in html and "data-waited" not in html and "hello" in html
    page.say(SayMessage("yes", (0,)))
    assert "is answering" in page.show().texts[0] and "data-waited" in page.show().texts[0]


def test_a_page_that_missed_the_notification_sees_that_its_turn_has_come() -> None:
    episode = pair(0)
    page = page_of(episode, 1)
    seat = episode.seats.get(number=1)
    assert page.shows(seat_states([seat.pk]))
    answer(episode.pk, 1, 0)
    assert not page.shows(seat_states([seat.pk]))
    assert json.loads(page.look().texts[0])["phase"] == "choose" and page.shows(seat_states([seat.pk]))


def test_what_a_page_sends_too_early_is_refused_in_words_and_the_answer_shows_the_state() -> None:
    episode = pair(0, offers_plans=True)
    page = page_of(episode, 1)
    sent = (
        page.command(CommandMessage(1, REST)),
        page.plan(PlanMessage((REST,), 1)),
        page.say(SayMessage("hello", (0,))),
    )
    for one in sent:
        assert not hasattr(one, "asked") and one.close is None
        assert code(one.texts) == "not_your_turn" and json.loads(one.texts[1])["legal"] == []
    assert Talker.asked == [] and Episode.objects.get().plans is None


def test_a_refusal_for_an_early_command_disappears_when_the_turn_comes() -> None:
    episode = pair(0)
    page = page_of(episode, 1, is_json=False)

    def notice(answered: Any) -> str | None:
        """The notice that the page is sent; None if the notice stays as it is."""
        found = re.search(r'<div id="notice"[^>]*>(.*?)</div>', "".join(answered.texts))
        return found and found[1]

    assert "not your turn" in str(notice(page.command(CommandMessage(1, REST))))
    assert notice(page.look()) is None, "it still waits"
    answer(episode.pk, 1, 0)
    assert notice(page.look()) == "" and held(episode) == set()
    assert "has not begun" in str(notice(page.command(CommandMessage(7, REST))))
    assert write(episode, "hello", 1) == "accepted"
    assert (changed := page.look()).texts and notice(changed) is None, "another notice stays"


def test_an_agent_that_is_late_releases_the_person_by_its_fallback() -> None:
    episode = pair(0)
    Episode.objects.get().minds.update(kind="failing")
    answer(episode.pk, 1, 0)
    row = SeatCommand.objects.get()
    assert (row.seat, row.fallback, tuple(row.command)) == (0, "timeout", REST)
    assert choose(episode, 1) == "accepted" and step_of(episode) == 1 and len(Talker.asked) == 1


def test_a_person_whom_no_worker_releases_is_released_by_the_web_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_watchdog, "closing", nullcontext)  # this thread is the test's own
    episode = pair(0, decision_seconds=2.0)
    assert page_watchdog.stranded_turns() == ([], [])
    Episode.objects.update(turn_opened_at=timezone.now() - timedelta(seconds=8))
    undecided, unclosed = page_watchdog.stranded_turns()
    assert undecided == [(episode.pk, 1)] and unclosed == []
    page_watchdog.rescue_turns(undecided, unclosed)
    assert held(episode) == set() and Talker.asked == []
    assert SeatCommand.objects.get().fallback == "timeout"
    assert page_watchdog.stranded_turns() == ([], [])


@pytest.mark.parametrize("words", [False, True])
def test_an_agent_that_a_person_waits_for_is_found_however_long_everything_was_down(*, words: bool) -> None:
    episode = pair(1) if words else pair(0)
    if words:
        write(episode, "dig?", 0)
    assert unanswered_turns() == []  # its task was queued a moment ago
    now = timezone.now()
    for later in (timedelta(hours=5), timedelta(hours=-5)):  # or the clock was set back
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(timezone, "now", lambda at=now + later: at)
            assert unanswered_turns() == [episode.pk]
    answer(episode.pk, 1, 0)
    assert due(episode) == [] and held(episode) == set()


def test_a_task_that_comes_twice_or_late_changes_nothing() -> None:
    episode = pair(0)
    for _ in range(2):
        answer(episode.pk, 1, 0)
    assert not decide_answer(episode_id=episode.pk, step=1, mind=0)
    assert len(Talker.asked) == DecisionRow.objects.count() == SeatCommand.objects.count() == 1
    choose(episode, 1)
    answer(episode.pk, 1, 0)
    assert len(Talker.asked) == 1 and step_of(episode) == 1


@pytest.mark.parametrize(("text", "kind"), [("bye", "end"), ("Y es", "say")])
def test_a_person_who_answers_does_not_end_the_talk_of_an_agent(text: str, kind: str) -> None:
    episode = pair(0)
    Talker.lines[0] = ["hello", "well?", "so?"]
    answer(episode.pk, 1, 0)
    write(episode, "yes", 1)
    answer(episode.pk, 1, 0)
    assert write(episode, text, 1, kind) == "accepted" and due(episode) == [0] and held(episode) == {1}
    answer(episode.pk, 1, 0)
    assert said(episode)[-1] == (0, "so?")


def test_a_person_may_open_after_an_agent_that_only_ended_a_talk() -> None:
    episode = pair(0)
    Talker.lines[0] = [MessageDraft("", "end"), "yes"]
    answer(episode.pk, 1, 0)
    assert write(episode, "will you dig?", 1) == "accepted" and due(episode) == [0]
    answer(episode.pk, 1, 0)
    assert said(episode)[-1] == (0, "yes") and write(episode, "thanks", 1) == "accepted"


# A person before an agent, and others


@pytest.mark.parametrize("last", ["c", "a"])
def test_the_rounds_of_a_person_who_opens_beside_an_agent_are_limited(last: str) -> None:
    episode = pair(1, organised={"rounds": 3 if last == "a" else 2, "messages_a_step": 9})
    Talker.lines[1] = ["yes", "yes", "yes"]
    for text in "ab":
        assert write(episode, text, 0) == "accepted"
        all_answer(episode)
    if last == "a":  # a repetition ends the talk
        assert write(episode, "A", 0) == "accepted" and due(episode) == []
    assert write(episode, "c", 0) == "too_many" and choose(episode, 0) == "accepted"


def test_who_is_held_is_read_once() -> None:
    episode = pair(1)
    write(episode, "dig?", 0)
    with read_turn(episode.pk) as turn:
        assert held_seats(turn) == {0}
        with CaptureQueriesContext(connection) as read:
            assert held_seats(turn) == {0}
        assert len(read) == 0
    answer(episode.pk, 1, 0)
    assert held(episode) == set()


def test_a_person_who_opens_waits_for_the_answer_and_may_choose_without_a_word() -> None:
    episode = pair(1)
    assert held(episode) == set() and phases(episode) == ["choose"]
    write(episode, "dig?", 0)
    assert choose(episode, 0) == "not_your_turn" and phases(episode) == ["thinking"]
    all_answer(episode)
    assert choose(episode, 0) == "accepted"
    silent = pair(1)
    assert choose(silent, 0) == "accepted"


@pytest.mark.parametrize("more", [{"kind": "graph"}, {"kind": "pair", "within": False}])
def test_nobody_is_held_where_members_do_not_take_turns(more: dict[str, Any]) -> None:
    episode = make(0, seats=2, **more)
    assert held(episode) == set() and speaker(episode) is None and choose(episode, 1) == "accepted"


# Two people


def test_two_people_speak_in_turn_until_the_rounds_are_over() -> None:
    episode = pair(organised={"rounds": 2})
    assert phases(episode) == ["choose", "waiting"]
    for number, (seat, text) in enumerate([(0, "a"), (1, "b"), (0, "c"), (1, "d")]):
        assert speaker(episode) == seat and held(episode) == {1 - seat}
        assert write(episode, text, 1 - seat) == choose(episode, 1 - seat) == "not_your_turn"
        assert write(episode, text, seat) == "accepted" and len(said(episode)) == number + 1
    assert held(episode) == set() and phases(episode) == ["choose", "choose"]
    assert write(episode, "e", 0) == write(episode, "f", 1) == "too_many"
    assert choose(episode, 1) == choose(episode, 0) == "accepted" and step_of(episode) == 1


@pytest.mark.parametrize(("text", "kind"), [("bye", "end"), ("He llo", "say")])
def test_a_message_that_ends_or_repeats_frees_both(text: str, kind: str) -> None:
    episode = pair()
    write(episode, "hello", 0)
    write(episode, "yes", 1)
    assert write(episode, text, 0, kind) == "accepted"
    assert held(episode) == set() and write(episode, "but", 1) == "too_many"


def test_the_json_of_both_pages_says_who_is_due() -> None:
    episode = pair()
    pages = [page_of(episode, seat) for seat in (0, 1)]

    def due_in_json() -> list[list[int]]:
        states = [json.loads(text) for page in pages for text in page.show().texts]
        return [state["waiting_for"] for state in states if state["type"] == "state"]

    assert due_in_json() == [[0, 1], [0]]
    assert write(episode, "Shall I dig?", 0) == "accepted"
    assert due_in_json() == [[1], [0, 1]]
    assert write(episode, "Yes.", 1) == "accepted"
    assert choose(episode, 0) == "accepted"
    assert due_in_json() == [[1], [1]]


@pytest.mark.parametrize(("text", "kind"), [("bye", "end"), ("Y es", "say")])
def test_only_the_opener_of_two_people_ends_the_talk(text: str, kind: str) -> None:
    episode = pair(organised={"rounds": 9})
    write(episode, "hello", 0)
    write(episode, "yes", 1)
    write(episode, "well?", 0)
    assert write(episode, text, 1, kind) == "accepted"
    assert speaker(episode) == 0 and held(episode) == {1} and write(episode, "so?", 0) == "accepted"


def test_choosing_is_a_turn_without_words() -> None:
    episode = pair()
    assert choose(episode, 0) == "accepted" and held(episode) == set() and phases(episode)[1] == "choose"
    assert write(episode, "and you?", 1) == "accepted"  # nobody has to answer
    assert choose(episode, 1) == "accepted" and step_of(episode) == 1
    write(episode, "now?", 0)
    assert choose(episode, 1, 2) == "accepted" and held(episode) == set()
    assert choose(episode, 0, 2) == "accepted" and step_of(episode) == 2


def test_an_outage_before_a_persons_turn_gives_no_more_time() -> None:
    episode = timed()
    now = timezone.now()
    began, closes = now - timedelta(seconds=5), now + timedelta(seconds=15)
    Episode.objects.update(turn_opened_at=now - timedelta(seconds=60), asked_at=began, turn_closes_at=closes)
    before = Span(now - timedelta(seconds=40), now - timedelta(seconds=20))
    assert extend_deadlines(part="database", spans=[before]) == 0
    over = Span(now - timedelta(seconds=40), now - timedelta(seconds=2))
    assert extend_deadlines(part="nothing", spans=[over]) == 1
    assert Episode.objects.get(pk=episode.pk).turn_closes_at == closes + timedelta(seconds=3)


def test_each_turn_of_two_people_has_the_time_of_a_step() -> None:
    episode = timed()

    def closes_in(seconds: float) -> None:
        Episode.objects.update(turn_closes_at=timezone.now() + timedelta(seconds=seconds))

    def left() -> float:
        at = Episode.objects.get().turn_closes_at
        assert at
        return (at - timezone.now()).total_seconds()

    acts = [
        partial(write, episode, "a", 0),
        partial(write, episode, "b", 1),
        partial(choose, episode, 0),
    ]
    for act in acts:
        closes_in(3)
        assert act() == "accepted" and left() > 15
    closes_in(3)
    assert write(episode, "c", 1) == "accepted" and left() < 4  # it was their turn already


def test_a_person_who_is_silent_too_long_loses_the_turn_and_the_other_has_time() -> None:
    episode = timed()
    assert run_out(episode)
    assert [(row.seat, row.chosen_by) for row in SeatCommand.objects.all()] == [(0, "timeout")]
    left = current_seat_view(episode.seats.get(number=1)).timing.seconds_left
    assert step_of(episode) == 0 and left and left > 15
    assert run_out(episode) and step_of(episode) == 1


def test_an_absent_person_is_replaced_and_the_agent_then_opens() -> None:
    episode = timed(absence=AbsencePolicy(steps=1, kind="talker"))
    assert run_out(episode)
    assert choose(episode, 1) == "accepted" and step_of(episode) == 1
    assert due(episode) == [0] and held(episode) == {1}
    answer(episode.pk, 2, 0)
    assert choose(episode, 1, 2) == "accepted" and step_of(episode) == 2


def test_when_the_person_whose_turn_it_is_leaves_an_agent_speaks_instead() -> None:
    episode = timed(absence=AbsencePolicy(steps=5, kind="talker"))
    write(episode, "hello", 0)
    write(episode, "yes?", 1)
    assert leave_seat(episode_id=episode.pk, seat=0)
    assert due(episode) == [0] and held(episode) == {1}
    Talker.lines[0] = ["I am new"]
    answer(episode.pk, 1, 0)
    assert held(episode) == set() and choose(episode, 1) == "accepted"
