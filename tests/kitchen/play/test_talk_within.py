"""People and several minds talk within a step: who is asked when, who hears what, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar

import pytest
from django.utils import timezone

from kitchen import tasks
from kitchen.contract.agent import REASON_TO_ANSWER, Agent, Decision, Situation
from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command
from kitchen.contract.world_errors import SettingsError
from kitchen.play.coplayers import answer_messages
from kitchen.play.coplayers.agent_decisions import ask_mind, decide_step
from kitchen.play.coplayers.agent_situations import MindOutcome
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.create_episode import MindPlan, create_episode, members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.page_session import open_page
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Mind, Seat, SeatCommand, Step
from kitchen.play.turn import play_task_queue
from kitchen.play.turn.speaking_order import minds_to_answer
from kitchen.play.turn.step_timer import start_first_turn_timer
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_claims import claim_decision, release_claim
from kitchen.play.turn.turn_searches import unanswered_turns
from kitchen.play.turn.websocket_messages import CommandMessage
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import WORLDS_VARIABLE
from kitchen.tasks import answer
from tests.kitchen.factories import submit
from tests.worlds.tunnel.kit import LINE
from tests.worlds.tunnel.world import DIG, GO_ON, REST, STOP, Tunnel

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

OnCommit = Callable[..., AbstractContextManager[object]]


class Talker(Agent):
    """Says its next line, which may be several messages, and commands what it is told to, by step."""

    kind = "talker"
    instant = light = True
    asked: ClassVar[list[Situation]] = []
    lines: ClassVar[dict[int, list[Any]]] = {}
    told: ClassVar[dict[tuple[int, int], Sequence[Command]]] = {}

    async def decide(self, situation: Situation) -> Decision:
        self.asked.append(situation)
        left = self.lines.get(situation.talk.member, [])
        line = left.pop(0) if left else ""
        says = (line if isinstance(line, MessageDraft) else MessageDraft(line),) if line else ()
        seat = situation.seats[0]
        first, *then = self.told.get((situation.step + 1, seat), ()) or (None,)
        commands = {seat: first} if first else {}
        plans = {seat: then} if then else {}
        return Decision(commands, memory=(situation.memory or 0) + 1, says=says, plans=plans)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setitem(agent_registry.AGENTS, "talker", f"{__name__}:Talker")
    yield
    for each in (Talker.asked, Talker.lines, Talker.told):
        each.clear()


def make(*minds: int, seats: int = 3, kind: str = "graph", within: bool = True, **more: Any) -> Episode:
    """An episode in which these seats are minds', and the others people's."""
    plans = tuple(MindPlan("talker", (seat,)) for seat in minds)
    chosen = {"within": within, **more.pop("organised", {})}
    made = make_organisation(kind, members_of_plans(plans, seats=seats), seats=seats, settings=chosen)
    settings = more.pop("settings", {})
    return create_episode(
        world="tunnel", settings=settings, seats=seats, seed=1, minds=plans, organisation=made, **more
    )


def say(episode: Episode, text: str, *to: int, seat: int = 0, kind: str = "say") -> None:
    assert send_message(episode_id=episode.pk, seat=seat, say=MessageDraft(text, kind, to)).accepted


def due(episode: Episode) -> list[int]:
    """The numbers of the minds that are to speak now."""
    with read_turn(episode.pk) as turn:
        return [mind.number for mind in minds_to_answer(turn)]


def all_answer(episode: Episode) -> None:
    """Everybody who is to speak does, until nobody is."""
    while minds := due(episode):
        for mind in minds:
            answer(episode.pk, step_of(episode) + 1, mind)


def step_of(episode: Episode) -> int:
    return Episode.objects.get(pk=episode.pk).step


def said(episode: Episode) -> list[tuple[int, str]]:
    return list(episode.sent.order_by("number").values_list("sender", "text"))


def asked() -> list[tuple[int, int, str, list[str]]]:
    """Who was asked, for which step, why, and what of all they heard was new to them."""
    return [
        (
            one.step + 1,
            one.talk.member,
            one.request.because,
            [each.text for each in one.talk.messages if each.is_new],
        )
        for one in Talker.asked
    ]


def did(episode: Episode, step: int) -> list[list[str]]:
    rows = SeatCommand.objects.filter(episode=episode, step=step).order_by("seat")
    return [[row.chosen_by, row.command[0]] for row in rows]


def holds(episode: Episode) -> bool:
    return all(verdict.holds for verdict in verify_episode_logs(Episode.objects.filter(pk=episode.pk)))


def test_three_minds_talk_and_what_each_decided_last_is_followed() -> None:
    episode = make(0, 1, 2)
    Talker.lines |= {0: ["who digs?", "good"], 1: ["I do", "thanks"], 2: ["not I"]}
    Talker.told |= {(1, 0): [REST], (1, 1): [DIG], (1, 2): [REST]}
    assert decide_step(episode_id=episode.pk, step=1)
    assert said(episode) == [(0, "who digs?"), (1, "I do"), (2, "not I"), (0, "good"), (1, "thanks")]
    assert did(episode, 1) == [["talker", "rest"], ["talker", "dig"], ["talker", "rest"]]
    assert [one.talk.messages[-1].number for one in Talker.asked if one.talk.messages] == [1, 2, 3, 4, 5, 5]
    rows: Any = DecisionRow.objects.order_by("mind__number").values_list("memory", "note")
    assert [(memory, note["heard"], "missed" in note) for memory, note in rows] == [
        (3, 5, False),
        (2, 4, False),
        (2, 5, False),
    ]
    assert holds(episode)


def test_what_was_heard_in_the_talk_is_not_new_in_the_next_step_and_what_came_after_is() -> None:
    episode = make(0, 1, 2)
    Talker.lines |= {0: ["who digs?"], 1: [MessageDraft("I do", to=(2,))], 2: ["fine"]}
    decide_step(episode_id=episode.pk, step=1)
    Talker.asked.clear()
    decide_step(episode_id=episode.pk, step=2)
    assert {member: new for _, member, _, new in asked()} == {0: [], 1: [], 2: []}
    Talker.lines |= {2: [MessageDraft("late", "end")], 0: [""], 1: [""]}
    for step in (3, 4):
        Talker.asked.clear()
        decide_step(episode_id=episode.pk, step=step)
    assert {member: new for _, member, _, new in asked()} == {0: ["late"], 1: ["late"], 2: []}


def test_a_busy_mind_answers_and_may_stop_what_it_does() -> None:
    episode = make(0, 1, 2)
    Talker.told |= {(1, 0): [DIG], (2, 0): [STOP]}
    decide_step(episode_id=episode.pk, step=1)
    Talker.asked.clear()
    Talker.lines |= {1: [MessageDraft("stop!", to=(0,)), MessageDraft("thanks", to=(0,))], 0: ["I do"]}
    decide_step(episode_id=episode.pk, step=2)
    assert said(episode) == [(1, "stop!"), (0, "I do"), (1, "thanks")]
    assert did(episode, 2)[0] == ["talker", "stop"]
    assert [
        (one.talk.member, one.request.because, one.request.asked, one.request.may_act)
        for one in Talker.asked[:2]
    ] == [
        (1, "seat", (1,), ()),
        (0, REASON_TO_ANSWER, (), (0,)),
    ]
    assert DecisionRow.objects.get(step=2, mind__number=0).because == REASON_TO_ANSWER and holds(episode)


def test_a_busy_mind_to_which_nobody_writes_is_not_asked() -> None:
    episode = make(0, 1, 2)
    Talker.told[1, 0] = [DIG]
    decide_step(episode_id=episode.pk, step=1)
    Talker.asked.clear()
    decide_step(episode_id=episode.pk, step=2)
    assert [one.talk.member for one in Talker.asked] == [1, 2]
    assert did(episode, 2)[0] == ["world", "go_on"]


def test_the_plan_of_a_busy_mind_counts_only_if_it_may_act(monkeypatch: pytest.MonkeyPatch) -> None:
    legal = Tunnel.legal_actions
    for may_act, left in ((True, [REST]), (False, [DIG])):
        if not may_act:
            monkeypatch.setattr(
                Tunnel,
                "legal_actions",
                lambda world, seat: [GO_ON] if world.left[seat] else legal(world, seat),
            )
        episode = make(0, 1, 2)
        Talker.told |= {(1, 0): [DIG, DIG], (2, 0): [GO_ON, REST]}
        Talker.lines |= {0: ["", "yes"], 1: ["", "rest then", ""]}
        decide_step(episode_id=episode.pk, step=1)
        decide_step(episode_id=episode.pk, step=2)
        assert said(episode) == [(1, "rest then"), (0, "yes")]
        with read_turn(episode.pk) as turn:
            assert [list(each) for each in turn.plans[0].then] == [list(each) for each in left]


def test_every_mind_that_a_person_writes_to_answers_by_a_task_and_a_claim_of_its_own(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: OnCommit
) -> None:
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(play_task_queue, "_send_later", lambda *task, **_: sent.append(task))
    episode = make(1, 2)
    Talker.lines |= {1: ["one"], 2: ["two"]}
    with django_capture_on_commit_callbacks(execute=True):
        say(episode, "who?")
    assert sent == [(play_task_queue.ANSWER, episode.pk, 1, 0), (play_task_queue.ANSWER, episode.pk, 1, 1)]
    first = claim_decision(episode_id=episode.pk, step=1, mind=0)
    second = claim_decision(episode_id=episode.pk, step=1, mind=1)
    assert first and second
    for claim in (first, second):
        release_claim(claim)
    for task in sent[:2]:
        answer(*task[1:])
    assert said(episode) == [(0, "who?"), (1, "one"), (2, "two")] and due(episode) == []
    assert step_of(episode) == 0
    submit(episode, 1, *REST)
    decide_step(episode_id=episode.pk, step=1)
    assert [(member, because) for _, member, because, _ in asked()] == [
        (1, REASON_TO_ANSWER),
        (2, REASON_TO_ANSWER),
        (1, "message"),
        (2, "seat"),
    ]
    assert step_of(episode) == 1 and holds(episode)


def test_only_who_is_written_to_answers_and_who_is_asked_by_a_mind_answers_it() -> None:
    episode = make(1, 2)
    Talker.lines |= {1: [MessageDraft("ask the other", to=(2,)), "so we do"], 2: ["I dig"]}
    say(episode, "you?", 1)
    assert due(episode) == [0]
    answer(episode.pk, 1, 0)
    assert due(episode) == [1]
    answer(episode.pk, 1, 1)
    assert due(episode) == []  # nobody speaks again before a person does
    say(episode, "and?", 1)
    all_answer(episode)
    assert said(episode) == [
        (0, "you?"),
        (1, "ask the other"),
        (2, "I dig"),
        (0, "and?"),
        (1, "so we do"),
    ]
    assert asked()[2][3] == ["I dig", "and?"]


def test_a_mind_answers_as_often_as_the_organisation_lets_it() -> None:
    episode = make(1, 2, organised={"rounds": 2, "messages_a_step": 9})
    Talker.lines |= {1: list("abc"), 2: list("xyz")}
    for text in ("one", "two", "three"):
        say(episode, text)
        all_answer(episode)
    assert [text for sender, text in said(episode) if sender == 1] == ["a", "b"]
    assert [text for sender, text in said(episode) if sender == 2] == ["x", "y"]


def test_an_opening_without_words_takes_no_answer_away() -> None:
    episode = make(0, seats=2, kind="pair", organised={"rounds": 2})
    Talker.lines[0] = ["", "one", "two", "three"]
    all_answer(episode)
    for text in "ab":
        say(episode, text, seat=1)
        all_answer(episode)
    assert [text for sender, text in said(episode) if sender == 0] == ["one", "two"]


@pytest.mark.parametrize(("text", "kind"), [("hello", "say"), ("Hel lo", "say"), ("", "end")])
def test_nobody_answers_who_repeats_themselves_or_ends_it(text: str, kind: str) -> None:
    episode = make(1, 2)
    say(episode, "hello")
    all_answer(episode)
    say(episode, text, kind=kind)
    assert due(episode) == [] and len(Talker.asked) == 2


def test_a_mind_that_comes_first_opens_towards_a_person_before_they_choose(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: OnCommit
) -> None:
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(play_task_queue, "_send_later", lambda *task, **_: sent.append(task))
    Talker.lines |= {0: [MessageDraft("shall I dig?", to=(2,)), "", MessageDraft("now?", to=(2,))]}
    with django_capture_on_commit_callbacks(execute=True):
        episode = make(0, 1)
    assert sent == [(play_task_queue.ANSWER, episode.pk, 1, 0)]  # the other mind waits
    answer(*sent.pop()[1:])
    view = current_seat_view(episode.seats.get(number=2))
    assert [one.text for one in view.talk.messages] == ["shall I dig?"] and view.phase == "choose"
    assert due(episode) == [] and did(episode, 1) == []
    say(episode, "yes", 0, seat=2)
    all_answer(episode)
    assert asked() == [(1, 0, REASON_TO_ANSWER, []), (1, 0, REASON_TO_ANSWER, ["yes"])]
    with django_capture_on_commit_callbacks(execute=True):
        assert submit(episode, 1, *REST, seat=2).accepted
        decide_step(episode_id=episode.pk, step=1)
    assert step_of(episode) == 1
    assert sent[-1] == (play_task_queue.ANSWER, episode.pk, 2, 0)  # and so in the next step


def test_only_a_mind_that_may_write_to_a_person_opens_and_only_where_that_is_set() -> None:
    assert due(make(0, 1)) == [0] and due(make(1, 2)) == []
    assert due(make(0, seats=2, kind="pair")) == [0]
    assert due(make(0, seats=2, kind="pair", within=False)) == []
    assert due(make(0, 1, kind="chain")) == []  # who comes first writes to the second alone


def test_people_have_their_time_anew_when_a_mind_has_opened() -> None:
    episode = make(0, seats=2, step_seconds=20.0)
    Seat.objects.filter(episode=episode).update(page="open")
    start_first_turn_timer(episode_id=episode.pk)
    Talker.lines[0] = ["shall I?"]
    past = timezone.now() + timedelta(seconds=3)
    Episode.objects.update(turn_closes_at=past)
    answer(episode.pk, 1, 0)
    closes = Episode.objects.get().turn_closes_at
    assert closes and closes - past > timedelta(seconds=10)


def test_two_people_and_a_mind_talk_and_nobody_waits_for_another() -> None:
    episode = make(2)
    say(episode, "we two?", 1, seat=0)
    say(episode, "yes", 0, seat=1)
    assert due(episode) == []
    say(episode, "and you?", 2, seat=0)
    assert due(episode) == [0]
    submit(episode, 1, *REST, seat=0)
    assert due(episode) == []  # who asked has chosen, the other still talks
    say(episode, "tell me", 2, seat=1)
    Talker.lines[2] = ["I dig"]
    all_answer(episode)
    assert said(episode)[-1] == (2, "I dig") and step_of(episode) == 0
    submit(episode, 1, *REST, seat=1)
    decide_step(episode_id=episode.pk, step=1)
    assert step_of(episode) == 1


def test_an_answer_after_the_people_have_chosen_is_dropped_and_the_minds_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episode = make(1, 2)
    Talker.lines |= {1: ["too late"], 2: []}

    def chosen_meanwhile(*asked: Any) -> MindOutcome:
        submit(episode, 1, *REST)
        assert claim_decision(episode_id=episode.pk, step=1) == ""  # not while it answers
        return ask_mind(*asked)

    monkeypatch.setattr(answer_messages, "ask_mind", chosen_meanwhile)
    say(episode, "hello", 1)
    answer(episode.pk, 1, 0)
    assert said(episode) == [(0, "hello")] and DecisionRow.objects.get().dropped == "late"
    assert decide_step(episode_id=episode.pk, step=1)
    assert step_of(episode) == 1


def test_one_answer_is_stored_where_two_workers_made_it(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = make(1, 2)
    Talker.lines |= {1: [MessageDraft(text, to=(0,)) for text in ("first", "second")]}

    def again(*asked: Any) -> MindOutcome:
        made = ask_mind(*asked)
        monkeypatch.setattr(answer_messages, "ask_mind", ask_mind)
        answer_messages.decide_answer(episode_id=episode.pk, step=1, mind=0)  # a claim that lapsed
        say(episode, "and?", 1)
        return made

    monkeypatch.setattr(answer_messages, "ask_mind", again)
    say(episode, "hello", 1)
    answer(episode.pk, 1, 0)
    assert said(episode) == [(0, "hello"), (1, "second"), (0, "and?")]
    assert list(DecisionRow.objects.order_by("pk").values_list("dropped", flat=True)) == ["", "late"]
    assert due(episode) == [0]


@pytest.mark.parametrize("lost", ["answer", "opening"])
def test_a_task_that_was_lost_is_found(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(play_task_queue, "_send_later", lambda *task, **_: sent.append(task))
    monkeypatch.setattr(play_task_queue, "_not_lately", lambda *_: True)
    episode = make(1, 2) if lost == "answer" else make(0, seats=2)
    if lost == "answer":
        say(episode, "hello")
    tasks.pick_up_open_turns()
    assert sent == []  # it was sent a moment ago
    monkeypatch.setattr(answer_messages, "unanswered_turns", partial(unanswered_turns, timedelta()))
    claim = claim_decision(episode_id=episode.pk, step=1)
    tasks.pick_up_open_turns()
    assert sent == []  # somebody is asking
    release_claim(claim)
    tasks.pick_up_open_turns()
    minds = [0, 1] if lost == "answer" else [0]
    assert sent == [(play_task_queue.ANSWER, episode.pk, 1, mind) for mind in minds]
    for task in sent:
        answer(*task[1:])
        answer(*task[1:])  # it came twice
    sent.clear()
    tasks.pick_up_open_turns()
    assert sent == [] and len(Talker.asked) == len(minds)


def test_what_a_person_writes_while_minds_talk_is_new_to_them_in_the_next_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episode = make(1, 2, organised={"messages_a_step": 5})
    Talker.lines |= {1: ["a", "b"], 2: ["x"]}
    submit(episode, 1, *REST)

    def writes_meanwhile(*asked: Any) -> MindOutcome:
        if not Talker.asked:
            say(episode, "wait!")
        return ask_mind(*asked)

    decide_step(episode_id=episode.pk, step=1, ask=writes_meanwhile)
    assert said(episode) == [(0, "wait!"), (1, "a"), (2, "x"), (1, "b")]
    notes: Any = DecisionRow.objects.order_by("mind__number").values_list("note", flat=True)
    assert [(note["heard"], note.get("missed")) for note in notes] == [(3, [1]), (4, [1])]
    Talker.asked.clear()
    submit(episode, 2, *REST)
    decide_step(episode_id=episode.pk, step=2)
    assert [(member, because, new) for _, member, because, new in asked()] == [
        (1, "message", ["wait!"]),
        (2, "message", ["wait!"]),
    ]


def test_minds_hear_what_people_chose_and_what_minds_said_to_them() -> None:
    episode = make(1, 2)
    Talker.lines |= {1: ["I dig"]}
    say(episode, "who?")
    all_answer(episode)
    submit(episode, 1, *REST)
    Talker.asked.clear()
    decide_step(episode_id=episode.pk, step=1)
    assert [[one.text for one in each.talk.messages] for each in Talker.asked] == [["who?", "I dig"]] * 2
    assert [dict(each.commanded) for each in Talker.asked] == [{0: REST}] * 2


def test_a_seat_that_the_world_lets_hear_nothing_hears_nothing_of_the_talk() -> None:
    episode = make(0, 1, 2, settings={"deaf": True})
    Talker.lines |= {0: ["who digs?"], 1: ["I"]}
    decide_step(episode_id=episode.pk, step=1)
    assert [one.talk.messages for one in Talker.asked if one.talk.member == 2] == [()]
    mixed = make(1, 2, settings={"deaf": True})
    say(mixed, "hello")
    assert due(mixed) == [0]


def test_a_person_writes_to_a_busy_mind_and_it_answers_and_may_stop() -> None:
    episode = make(1, 2)
    Talker.told |= {(1, 1): [DIG], (2, 1): [STOP]}
    submit(episode, 1, *REST)
    decide_step(episode_id=episode.pk, step=1)
    Talker.lines[1] = ["stopping"]
    say(episode, "stop!", 1)
    all_answer(episode)
    assert said(episode)[-1] == (1, "stopping") and did(episode, 2) == []  # it is not followed yet
    submit(episode, 2, *REST)
    decide_step(episode_id=episode.pk, step=2)
    assert did(episode, 2)[1] == ["talker", "stop"] and holds(episode)


def test_minds_that_need_no_time_talk_where_the_step_is_taken() -> None:
    episode = make(1, 2)
    Talker.lines |= {1: ["a"], 2: ["x"]}
    page, _ = open_page(episode.seats.get(number=0).key, "page-of-test", newest=True, json=True)
    assert page
    page.command(CommandMessage(step=1, command=REST))
    assert step_of(episode) == 1 and said(episode) == [(1, "a"), (2, "x")]


def test_minds_that_talk_within_a_step_are_not_asked_side_by_side() -> None:
    with pytest.raises(SettingsError, match="one after the other"):
        make(1, 2, knowing="nobody")


def test_without_the_setting_minds_of_a_graph_hear_one_another_in_the_next_step() -> None:
    episode = make(0, 1, 2, within=False)
    Talker.lines |= {0: ["who digs?"]}
    decide_step(episode_id=episode.pk, step=1)
    assert [one.talk.messages for one in Talker.asked] == [(), (), ()]
    assert Mind.objects.count() == 3 and Step.objects.count() == 1
