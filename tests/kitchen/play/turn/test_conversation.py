"""Messages: who may send what to whom, who gets to know it, and that nothing else changes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from kitchen.contract import mailbox
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.organisation import Member, Organisation, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Event
from kitchen.contract.world_errors import SettingsError
from kitchen.infra.append_only import erasure_allowed, unguarded_tables
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.agent_situations import checked_decision
from kitchen.play.coplayers.answer_messages import MESSAGE_RECEIPTS, send_message
from kitchen.play.episode.create_episode import members_of_plans
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.common_panels import shared_panels, talk_panel
from kitchen.play.live.seat_view import current_seat_view, seat_states, state_message
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Message, Seal, Step
from kitchen.play.turn.conversation import messages_known_to, unblocked_text
from kitchen.play.turn.turn_cache import read_turn
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import get_page
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

LED = tuple(Member(seat, (seat,), is_person=seat == 1) for seat in range(3))
TOLD: list[Situation] = []
SAYS: list[MessageDraft] = []


class Talker(Agent):
    """Says what the test wants, and notes what it is told."""

    kind = "talker"

    async def decide(self, situation: Situation) -> Decision:
        TOLD.append(situation)
        return Decision(commands={}, note="idle", says=tuple(SAYS))


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "talker", f"{__name__}:Talker")
    TOLD.clear()
    SAYS.clear()


def team(kind: str = "tree", *, people: int = 3, robots: int = 0, **settings: Any) -> Episode:
    """So many people, then so many talkers, one for each robot."""
    seats = people + robots
    minds = tuple(mind("talker", seat) for seat in range(people, seats))
    made = make_organisation(kind, members_of_plans(minds, seats=seats), seats=seats, settings=settings)
    return make_episode(seats=seats, minds=minds, organisation=made)


def say(
    episode: Episode, seat: int, text: str, *to: int, kind: str = "say", page: str = "", **data: Any
) -> str:
    return send_message(
        episode_id=episode.pk, seat=seat, say=MessageDraft(text, kind, to, data), page=page
    ).code


def known(episode: Episode, member: int) -> list[str]:
    with read_turn(episode.pk) as turn:
        return [one.text for one in messages_known_to(turn, member)]


def take(episode: Episode, people: int = 1) -> None:
    """Everybody waits a step."""
    step = Episode.objects.get(pk=episode.pk).step + 1
    for seat in range(people):
        submit(episode, step, "noop", seat=seat)
    decide_step(episode_id=episode.pk, step=step)


def test_a_mind_is_asked_because_of_what_is_new() -> None:
    episode = team("tree", people=1, robots=2)
    take(episode)
    say(episode, 0, "hello", 1)
    say(episode, 0, "fetch rice", 2, kind="inform")
    say(episode, 0, "and be quick", 2)
    take(episode)
    take(episode)
    rows = DecisionRow.objects.filter(mind__episode=episode).order_by("step", "mind")
    assert list(rows.values_list("because", flat=True)) == ["seat", "seat", "message", "job", "seat", "seat"]
    assert {situation.request.knowing for situation in TOLD} == {"everybody"}


def test_a_message_reaches_its_addressees_and_nobody_else() -> None:
    episode = team("graph")
    assert say(episode, 0, "only for you", 1) == "accepted"
    assert say(episode, 2, "for all of you") == "accepted"
    assert [known(episode, member) for member in range(3)] == [
        ["only for you", "for all of you"],
        ["only for you", "for all of you"],
        ["for all of you"],
    ]
    rows = Message.objects.filter(episode=episode).order_by("number")
    assert list(rows.values_list("number", "step", "sender", "to", "kind")) == [
        (1, 1, 0, [1], "say"),
        (2, 1, 2, [0, 1], "say"),
    ]


def test_a_leaf_gives_no_job_to_its_leader_nor_to_another_leaf() -> None:
    episode = team("tree")
    assert [say(episode, 1, "chop", to, kind="inform") for to in (0, 2)] == ["not_allowed"] * 2
    assert say(episode, 0, "chop", 1, kind="inform") == "accepted"
    assert say(episode, 1, "done", 0, kind="report", job=1, status="done") == "accepted"
    assert say(episode, 0, "done", 1, kind="report", job=1, status="done") == "not_allowed"
    assert say(episode, 2, "", 0, kind="accept", job=1) == "no_such_job"  # it was never theirs
    assert say(episode, 1, "", 0, kind="accept", job=1) == "no_such_job"  # it is done


@pytest.mark.parametrize(
    ("text", "to", "kind", "code"),
    [
        ("hello", (7,), "say", "not_allowed"),
        ("hello", (0,), "say", "not_allowed"),
        ("hello", (1, 7), "say", "not_allowed"),
        ("hello", (1,), "system", "not_allowed"),
        ("hello", (1,), "shout", "not_allowed"),
        (" \n ", (1,), "say", "empty"),
        ("x" * 501, (1,), "say", "too_long"),
        ("x" * 500, (1,), "say", "accepted"),
    ],
)
def test_what_may_not_be_sent_is_told_and_leaves_nothing(
    text: str, to: tuple[int, ...], kind: str, code: str
) -> None:
    episode = team("tree")
    assert say(episode, 0, text, *to, kind=kind) == code
    assert Message.objects.count() == (code == "accepted")
    assert code in MESSAGE_RECEIPTS


def test_somebody_may_write_so_often_in_a_step_and_again_in_the_next() -> None:
    episode = team("tree", messages_a_step=2)
    assert [say(episode, 0, str(number)) for number in range(3)] == ["accepted", "accepted", "too_many"]
    assert say(episode, 1, "me too") == "accepted"
    take(episode, people=3)
    assert say(episode, 0, "again") == "accepted"


def test_nothing_is_said_where_nobody_may_from_another_page_or_after_the_end() -> None:
    assert say(make_episode(seats=2), 0, "hello") == "not_allowed"
    silent = team("each", people=1, robots=1)
    assert say(silent, 0, "hello") == say(silent, 1, "as the robot") == "not_allowed"
    episode = team("tree")
    assert say(episode, 0, "hello", page="of-another-tab") == "elsewhere"
    assert say(episode, 9, "hello") == "not_allowed"
    end_episode(episode_id=episode.pk, reason="enough")
    assert say(episode, 0, "hello") == "over"
    assert not Message.objects.exists()


def test_a_world_may_keep_a_message_from_who_is_too_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Event] = []

    def visible(world: CuisineWorld, seat: int, event: Event) -> bool:
        asked.append(event)
        return event.kind != "message" or seat != 1

    monkeypatch.setattr(CuisineWorld, "visible", visible)
    episode = team("graph")
    say(episode, 0, "hello")
    assert [known(episode, member) for member in range(3)] == [["hello"], [], ["hello"]]
    assert asked[0] == Event("message", 0, {"said": "say", "text": "hello", "to": [1, 2]})


def test_a_mind_is_told_what_it_may_hear_once_as_new_and_what_it_says_is_sent() -> None:
    episode = team("tree", people=1, robots=2)
    say(episode, 0, "only for robot two", 1)
    SAYS.append(MessageDraft("I heard that", to=(0,)))
    take(episode)
    assert [[(one.text, one.is_new) for one in told.talk.messages] for told in TOLD] == [
        [("only for robot two", True)],
        [],
    ]
    assert [(told.talk.member, told.talk.organisation and told.talk.organisation.kind) for told in TOLD] == [
        (1, "tree"),
        (2, "tree"),
    ]
    said = Message.objects.filter(sender__in=[1, 2]).order_by("number")
    assert list(said.values_list("sender", "step", "text", "decision__mind__number")) == [
        (1, 1, "I heard that", 0),
        (2, 1, "I heard that", 1),
    ]
    TOLD.clear()
    say(episode, 0, "well done")
    take(episode)
    assert [(one.text, one.is_new) for one in TOLD[0].talk.messages] == [
        ("only for robot two", False),
        ("I heard that", False),
        ("well done", True),
    ]


def test_what_was_said_in_a_step_in_which_a_mind_failed_is_new_to_it_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episode = team("tree", people=1, robots=1)
    decide = Talker.decide
    monkeypatch.setattr(Talker, "decide", lambda talker, situation: 1 / 0)
    say(episode, 0, "stop chopping", 1)
    take(episode)
    monkeypatch.setattr(Talker, "decide", decide)
    take(episode)
    take(episode)
    told = [[(one.text, one.is_new) for one in each.talk.messages] for each in TOLD]
    assert told == [[("stop chopping", True)], [("stop chopping", False)]]


def test_what_a_mind_says_is_heard_in_the_next_step_by_whoever_is_asked_later_in_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episode = team("graph", people=1, robots=2)
    Episode.objects.filter(pk=episode.pk).update(knowing="nobody")
    SAYS.append(MessageDraft("I take the rice"))
    for step in (1, 2):
        submit(episode, step, "noop")
        decide_step(episode_id=episode.pk, step=step, mind=0)
        say(episode, 0, f"well done {step}")
        decide_step(episode_id=episode.pk, step=step, mind=1)
    later = [
        [(one.sender, one.text, one.is_new) for one in told.talk.messages]
        for told in TOLD
        if told.talk.member == 2
    ]
    assert later == [
        [(0, "well done 1", True)],
        [
            (1, "I take the rice", True),
            (0, "well done 1", False),
            (2, "I take the rice", False),
            (0, "well done 2", True),
        ],
    ]


def test_where_everybody_has_one_partner_a_third_is_told_busy_and_nothing_is_delivered() -> None:
    episode = team("pairwise", people=2, robots=1, messages_a_step=2)
    SAYS.append(MessageDraft("help me", to=(0,)))
    assert say(episode, 0, "hello", 1) == "accepted"
    assert say(episode, 1, "hello yourself") == "accepted"  # to the partner
    assert say(episode, 0, "and you?", 2) == "talking"
    take(episode, people=2)
    assert known(episode, 0) == known(episode, 1) == ["hello", "hello yourself"]
    assert known(episode, 2) == ["Member 0 is talking with somebody else, and got nothing of that."]
    note: Any = DecisionRow.objects.get().note
    assert [(one["text"], one["code"]) for one in note["unsaid"]] == [("help me", "busy")]
    assert say(episode, 1, "", kind="end") == "accepted"
    take(episode, people=2)
    assert [one.text for one in TOLD[1].talk.messages] == known(episode, 2)[:1]
    assert (TOLD[1].talk.messages[0].sender, TOLD[1].talk.messages[0].is_new) == (None, True)
    assert known(episode, 0)[-1] == "help me"


def test_who_asks_somebody_busy_again_and_again_has_written_too_much() -> None:
    episode = team("pairwise", messages_a_step=2)
    say(episode, 0, "hello", 1)
    assert [say(episode, 2, "me too", 0) for _ in range(3)] == ["busy", "busy", "too_many"]


def test_a_page_says_with_whom_one_talks_and_who_was_busy() -> None:
    episode = team("pairwise")
    say(episode, 0, "hello", 1)
    say(episode, 2, "me too", 1)
    views = [current_seat_view(seat) for seat in episode.seats.all()]
    shown = [{panel.id: panel for panel in shared_panels(get_page("cuisine"), view)} for view in views]
    assert [panels["partner"].shows for panels in shown] == [("Robot 2",), ("Robot 1",), ("",)]
    (line,) = shown[2]["talk"].parts
    assert line.shows[3:] == (
        True,
        "Robot 2 is talking with somebody else and did not receive your message.",
        True,
        *("", "", ""),
    )
    say(episode, 1, "", kind="end")
    told = talk_panel(get_page("cuisine"), current_seat_view(episode.seats.get(number=0))).parts[-1].shows
    assert "The conversation has ended." in told


def test_a_blocked_word_is_shown_to_nobody_and_the_log_has_it() -> None:
    made = replace(make_organisation("graph", members_of_plans((), seats=2), seats=2), blocked=("idiot",))
    episode = make_episode(seats=2, organisation=made)
    assert say(episode, 0, "Fetch rice, idiot", spoken=True) == "accepted"
    assert known(episode, 0) == known(episode, 1) == ["Fetch rice, ***"]
    with read_turn(episode.pk) as turn:
        (heard_of,) = messages_known_to(turn, 1)
    assert heard_of.data == {"spoken": True}
    row = Message.objects.get()
    assert (row.text, unblocked_text(row)) == ("Fetch rice, ***", "Fetch rice, idiot")


def test_a_mind_is_told_of_its_open_jobs_however_much_was_said_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mailbox, "MAX_MESSAGES_TOLD", 2)
    episode = team("tree", people=1, robots=2)
    for text in ("chop", "fry"):
        say(episode, 0, text, 1, kind="inform")
    say(episode, 0, "", 1, kind="withdraw", job=1)
    take(episode)
    say(episode, 0, "hello")
    say(episode, 0, "how are you?")
    take(episode)
    later = next(told for told in TOLD if (told.talk.member, told.step) == (1, 1))
    assert [(job.number, job.text) for job in later.talk.jobs] == [(2, "fry")]
    assert [one.text for one in later.talk.messages] == ["hello", "how are you?"]
    assert all(told.talk.jobs == () for told in TOLD if told.talk.member == 2)


def test_a_mind_that_leads_sees_what_its_team_sees_where_that_is_said() -> None:
    for sees, seen in (("private", {0}), ("team", {0, 1, 2})):
        made = make_organisation("tree", LED, seats=3, settings={"sees": sees})
        episode = make_episode(seats=3, minds=(mind("talker", 0), mind("talker", 2)), organisation=made)
        TOLD.clear()
        submit(episode, 1, "noop", seat=1)
        decide_step(episode_id=episode.pk, step=1)
        assert [set(told.observations) for told in TOLD] == [seen, {2}]


@pytest.mark.parametrize(("sees", "seen"), [("private", set()), ("team", {1, 2}), ("all", {1, 2})])
def test_a_person_who_leads_is_shown_what_their_team_sees_where_that_is_said(
    sees: str, seen: set[int]
) -> None:
    episode = team("tree", people=2, robots=1, sees=sees)
    leader, worker = (current_seat_view(seat) for seat in episode.seats.filter(number__lt=2))
    assert set(leader.jobs.seen) == seen and worker.jobs.seen == {}
    told = state_message("cuisine", leader).seen
    assert told == {str(seat): leader.jobs.seen[seat] for seat in seen}


def test_what_a_mind_may_not_say_is_not_sent_and_its_log_says_so() -> None:
    episode = team("tree", people=1, robots=2)
    SAYS.extend([MessageDraft("chop!", "inform", (0,)), MessageDraft("hello", to=(2,))])
    take(episode)
    assert list(Message.objects.values_list("sender", "text")) == [(1, "hello")]
    notes = list(DecisionRow.objects.order_by("mind__number").values_list("note", flat=True))
    assert [[one["code"] for one in note["unsaid"]] for note in notes] == [
        ["not_allowed"],
        ["not_allowed"] * 2,
    ]
    assert notes[0]["note"] == "idle" and notes[0]["heard"] == 0


def test_what_a_mind_says_of_a_job_that_is_none_any_more_stands_in_its_log() -> None:
    episode = team("tree", people=1, robots=1)
    say(episode, 0, "chop", 1, kind="inform")
    say(episode, 0, "", 1, kind="withdraw", job=1)
    SAYS.extend([MessageDraft("yes", "accept", (0,), {"job": 1}), MessageDraft("hello", to=(0,))])
    take(episode)
    note: Any = DecisionRow.objects.get().note
    (unsaid,) = note["unsaid"]
    assert (unsaid["kind"], unsaid["code"]) == ("accept", "no_such_job")
    assert Message.objects.last().text == "hello"  # type: ignore[union-attr]


def test_without_an_organisation_a_mind_is_told_nothing_and_its_note_is_its_own() -> None:
    episode = make_episode(seats=2, minds=(mind("talker", 1),))
    SAYS.append(MessageDraft("hello"))
    take(episode)
    assert (TOLD[0].talk.organisation, TOLD[0].talk.messages) == (None, ())
    assert DecisionRow.objects.get().note == "idle" and not Message.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        ["hello"],
        [MessageDraft(7)],  # type: ignore[arg-type]
        [MessageDraft("x", data={"a": {1}})],
        [MessageDraft("x", to=("you",))],  # type: ignore[arg-type]
    ],
)
def test_a_mind_that_says_nonsense_has_failed(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        checked_decision(Decision({}, says=tuple(wrong)))


def test_what_is_said_changes_no_state_and_no_hash() -> None:
    silent, loud = make_episode(seats=3), team("graph")
    say(loud, 0, "hello")
    for episode in (silent, loud):
        take(episode, people=3)
    hashes = Step.objects.order_by("episode").values_list("state_hash", "events")
    assert hashes[0] == hashes[1]


def test_a_page_has_to_change_when_something_is_said() -> None:
    episode = team("graph")
    seat = episode.seats.get(number=1)
    with read_turn(episode.pk) as turn:
        before = turn.stamp
    say(episode, 0, "hello")
    with read_turn(episode.pk) as turn:
        assert before != turn.stamp == seat_states([seat.pk])[seat.pk][2]


def test_what_was_said_is_never_changed_and_sealed_with_the_episode() -> None:
    episode = team("graph")
    say(episode, 0, "hello")
    row = Message.objects.get()
    assert "kitchen_message" not in unguarded_tables()
    with pytest.raises(DatabaseError), transaction.atomic():
        super(type(Message.objects.all()), Message.objects.all()).update(text="goodbye")
    end_episode(episode_id=episode.pk, reason="enough")
    assert Seal.objects.get().facts["organisation"]["kind"] == "graph"
    assert [verdict.holds for verdict in verify_episode_logs(Episode.objects.all())] == [True]
    with erasure_allowed():
        row.delete()
    assert [verdict.holds for verdict in verify_episode_logs(Episode.objects.all())] == [False]


@pytest.mark.parametrize(
    "members",
    [
        (Member(0, (0,), is_person=True), Member(1, (1,), is_person=True)),
        (Member(0, (0, 1), is_person=True),),
    ],
)
def test_an_organisation_of_others_than_those_who_play_is_refused(members: tuple[Member, ...]) -> None:
    with pytest.raises(SettingsError, match="not those who play"):
        make_episode(seats=2, minds=(mind("talker", 1),), organisation=Organisation("custom", members))
    assert not Episode.objects.exists()


def test_nulls_and_halves_of_characters_are_left_out() -> None:
    episode = team("graph")
    say(episode, 0, "a\x00b\ud800c")
    assert json.dumps(known(episode, 1)) == '["abc"]'
