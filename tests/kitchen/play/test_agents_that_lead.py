"""An agent without a seat leads others in live play."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from kitchen.contract.agent import NO_ONE, Agent, Decision, Situation
from kitchen.contract.assigned_jobs import jobs_in
from kitchen.contract.organisation import INFORM, Member, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world_errors import SettingsError
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.create_episode import MindPlan, members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.log_metrics import read_logs
from kitchen.play.live.page_session import open_page
from kitchen.play.models import Decision as StoredDecision
from kitchen.play.models import Episode, Message, SeatCommand
from kitchen.play.turn.conversation import member_message
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_rules import missing_seats
from kitchen.play.turn.turn_searches import minds_asked_separately, turns_to_decide
from kitchen.registry import agent_registry
from kitchen.replay.replay_verification import verify_replays
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

AIM = ("fetch", "rice")


class Leader(Agent):
    """Asks each worker once for rice, and counts how often it is asked."""

    kind = "leader"
    reads_words = True
    leads = True
    instant = True

    async def decide(self, situation: Situation) -> Decision:
        talk, times = situation.talk, (situation.memory or 0) + 1
        idle = [one for one in talk.aims if AIM in talk.aims[one] and times == 1]
        says = tuple(MessageDraft("", INFORM, (one,), {"aim": list(AIM)}) for one in idle)
        note = {
            "seats": list(situation.seats),
            "level": talk.public_brief["level"],
            "left": talk.public_state["steps_left"],
        }
        return Decision({}, memory=times, note=note, says=says)


class Plodder(Agent):
    """Plans two steps of waiting, and says so once."""

    kind = "plodder"
    instant = True

    async def decide(self, situation: Situation) -> Decision:
        wait = ("noop",)
        says = (MessageDraft("I wait.", to=(1,)),) if situation.step == 3 else ()
        return Decision({0: wait}, says=says, plans={0: [wait, wait]})


@pytest.fixture(autouse=True)
def leaders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "leader", f"{__name__}:Leader")
    monkeypatch.setitem(agent_registry.AGENTS, "plodder", f"{__name__}:Plodder")


def led(*workers: MindPlan, people: int = 0, knowing: str = "everybody", **more: object) -> Episode:
    seats = people + sum(len(one.seats) for one in workers)
    minds = (*workers, mind("leader"))
    members = [Member(seats, (), is_person=False, name="Lead"), *members_of_plans(minds, seats=seats)]
    made = make_organisation("tree", members, seats=seats, settings={"sees": "all"})
    return make_episode(seats=seats, minds=minds, organisation=made, knowing=knowing, **more)


def states(episode: Episode) -> dict[int, str]:
    with read_turn(episode.pk) as turn:
        return {job.worker: job.state for job in jobs_in(map(member_message, turn.sent))}


def play(episode: Episode, steps: int) -> None:
    for _ in range(steps):
        episode.refresh_from_db()
        decide_step(episode_id=episode.pk, step=episode.step + 1)


def test_an_agent_without_a_seat_gives_jobs_that_are_done() -> None:
    episode = led(mind("follower", 0), mind("follower", 1))
    play(episode, 5)
    assert states(episode) == {0: "done", 1: "done"}
    given = Message.objects.filter(kind=INFORM)
    assert [(one.sender, one.to, one.text) for one in given] == [
        (2, [0], "Fetch rice"),
        (2, [1], "Fetch rice"),
    ]
    assert {row.seat for row in SeatCommand.objects.all()} == {0, 1}
    row = StoredDecision.objects.filter(mind__kind="leader").first()
    assert row is not None and (row.note["seats"], row.note["level"]) == ([], "level_3")
    assert row.note["left"] == 60
    assert {one.member for one in read_logs([episode])[episode.pk].decisions} == {0, 1, 2}
    assert [verdict.holds for verdict in verify_episode_logs(Episode.objects.all())] == [True]


def test_a_person_is_a_leaf_of_an_agent_that_leads() -> None:
    episode = led(mind("follower", 1), people=1)
    submit(episode, 1, "noop")
    assert missing_of(episode) == {1, 2}
    play(episode, 1)
    assert states(episode) == {0: "given", 1: "given"}
    say = MessageDraft("", "accept", (2,), {"job": 1})
    assert send_message(episode_id=episode.pk, seat=0, say=say).accepted
    for step, command in enumerate((("goto", "storage0"), ("get", "storage0", "rice")), 2):
        submit(episode, step, *command)
        play(episode, 1)
    assert states(episode)[0] == "done"
    last = StoredDecision.objects.filter(mind__kind="leader").last()
    assert last is not None and (last.step, last.because) == (3, "job")


def test_a_person_declines_a_job_of_the_stand_in_and_it_plans_again() -> None:
    minds = (mind("follower", 1), mind("hourglass", model="stand-in"))
    members = [Member(2, (), is_person=False, name="Lead"), *members_of_plans(minds, seats=2)]
    made = make_organisation("tree", members, seats=2, settings={"sees": "all"})
    episode = make_episode(seats=2, minds=minds, organisation=made, steps=20)
    submit(episode, 1, "noop")
    play(episode, 1)
    job, other = Message.objects.filter(kind=INFORM)
    assert (job.sender, job.to, job.text) == (2, [0], "Make tuna sashimi")
    assert (other.sender, other.to, other.text) == (2, [1], "Serve tuna sushi")
    page, answer = open_page(
        episode.seats.get(number=0).key, "page-of-leaf", newest=True, json=False, language="es"
    )
    shown = "".join(answer.texts)
    assert page is not None and "sashimi de atún" in shown and "Lead" not in shown
    say = MessageDraft("no", "decline", (2,), {"job": job.number})
    assert send_message(episode_id=episode.pk, seat=0, say=say).accepted
    submit(episode, 2, "noop")
    play(episode, 1)
    assert Message.objects.filter(kind=INFORM).count() == 2, "the other member has the rest of the order"
    rows = StoredDecision.objects.filter(mind__kind="hourglass")
    assert [(row.because, row.note["iteration"], row.calls.count()) for row in rows] == [
        ("seat", 1, 1),
        ("job", 2, 1),
    ]
    assert [verdict.fault for verdict in verify_replays(Episode.objects.all())] == [""]


def missing_of(episode: Episode) -> set[int]:
    with read_turn(episode.pk) as turn:
        return missing_seats(turn)


def test_a_step_waits_for_a_leader_that_decides_side_by_side_with_others() -> None:
    episode = led(mind("follower", 0), knowing=NO_ONE)
    Episode.objects.update(turn_opened_at=timezone.now() - timedelta(minutes=1))
    decide_step(episode_id=episode.pk, step=1, mind=0)
    assert (missing_of(episode), minds_asked_separately(episode.pk, 1)) == ({1}, [1])
    assert turns_to_decide() == [(episode.pk, 1)]
    receipts = [decide_step(episode_id=episode.pk, step=1, mind=1) for _ in range(2)]
    assert [one and one.code for one in receipts] == ["accepted", None]
    episode.refresh_from_db()
    assert episode.step == 1 and minds_asked_separately(episode.pk, 2) == [0, 1]


def test_a_leader_is_asked_once_for_a_step() -> None:
    episode = led(mind("follower", 1), people=1, knowing=NO_ONE)
    submit(episode, 1, "noop")
    decide_step(episode_id=episode.pk, step=1, mind=1)
    assert decide_step(episode_id=episode.pk, step=1, mind=1) is None
    assert StoredDecision.objects.count() == 1 and missing_of(episode) == {1}


def test_a_leader_of_busy_workers_is_asked_when_it_has_news() -> None:
    """The worker's plans last two steps; it reports when it is asked for the second time."""
    episode = led(mind("plodder", 0), steps=8)
    play(episode, 8)
    asked = StoredDecision.objects.values_list("mind__kind", "step", "because").order_by("step", "mind")
    assert list(asked) == [
        *(("plodder", 1, "seat"), ("leader", 1, "seat")),
        *(("plodder", 4, "job"), ("leader", 4, "seat")),
        ("leader", 5, "message"),
        *(("plodder", 7, "seat"), ("leader", 7, "seat")),
    ]
    assert turns_to_decide() == []


def test_a_member_without_a_seat_must_be_in_the_organisation() -> None:
    with pytest.raises(SettingsError, match="without a seat"):
        make_episode(seats=1, minds=(mind("follower", 0), mind("leader")))
    minds = (mind("follower", 0),)
    with pytest.raises(SettingsError, match="random cannot lead without a seat"):
        make_episode(seats=1, minds=(*minds, mind("random")))
    members = [Member(1, (), is_person=False, name="Lead"), *members_of_plans(minds, seats=1)]
    with pytest.raises(SettingsError, match="without a seat"):
        make_episode(seats=1, minds=minds, organisation=make_organisation("tree", members, seats=1))
