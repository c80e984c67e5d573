"""Who is in the middle of something is not waited for, and may be commanded until the step runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from django.utils import timezone

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode import advance_episode
from kitchen.play.episode.advance_episode import close_expired_turn, run_due_step, submit_commands
from kitchen.play.episode.create_episode import MindPlan, create_episode, members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.play_monitoring import episode_facts
from kitchen.play.live.page_session import replace_plan
from kitchen.play.live.seat_view import current_seat_view, seat_view_in_turn
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Seat, Step
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.turn_cache import exclusive_turn, read_turn
from kitchen.play.turn.turn_rules import (
    PAUSE_SECONDS,
    asked_seats,
    minds_asked,
    pause_seconds,
    waits_for_minds,
)
from kitchen.play.turn.turn_searches import (
    minds_asked_separately,
    overdue_turns,
    turns_to_decide,
    undecided_turns,
)
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import WORLDS_VARIABLE
from kitchen.replay.step_replay import PastTurn, world_after_steps
from tests.kitchen.factories import submit
from tests.kitchen.replay.test_step_replay import record_of
from tests.worlds.tunnel.kit import LINE
from tests.worlds.tunnel.world import DIG, GO_ON, REST, STOP, Tunnel

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

OnCommit = Callable[..., AbstractContextManager[object]]


class Digger(Agent):
    """Gives what it is told to, by step; says what it is told to."""

    kind = "digger"
    told: ClassVar[dict[int, Mapping[int, Sequence[Command]]]] = {}
    lines: ClassVar[dict[int, str]] = {}
    asked: ClassVar[list[Situation]] = []

    async def decide(self, situation: Situation) -> Decision:
        self.asked.append(situation)
        step = situation.step + 1
        told = self.told.get(step, {})
        mine = {seat: commands for seat, commands in told.items() if seat in situation.seats}
        return Decision(
            {seat: commands[0] for seat, commands in mine.items() if commands and commands[0]},
            plans={seat: commands[1:] for seat, commands in mine.items() if len(commands) > 1},
            says=(MessageDraft(self.lines[step]),)
            if step in self.lines and situation.talk.member == 1
            else (),
        )


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, Mapping[int, Sequence[Command]]]]:
    """What minds command, by step."""
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setitem(agent_registry.AGENTS, "digger", f"{__name__}:Digger")
    yield Digger.told
    Digger.told.clear()
    Digger.lines.clear()
    Digger.asked.clear()


def make(*minds: tuple[int, ...], seats: int = 2, **more: Any) -> Episode:
    plans = tuple(MindPlan("digger", held) for held in minds)
    return create_episode(world="tunnel", settings={}, seats=seats, seed=1, minds=plans, **more)


def graph(*minds: tuple[int, ...], seats: int = 2, **more: Any) -> Episode:
    plans = tuple(MindPlan("digger", held) for held in minds)
    made = make_organisation("graph", members_of_plans(plans, seats=seats), seats=seats)
    return make(*minds, seats=seats, organisation=made, **more)


def step_of(episode: Episode) -> int:
    return Episode.objects.get(pk=episode.pk).step


def did(episode: Episode, seat: int) -> list[str]:
    """What this seat did, step by step, and who chose it."""
    taken = Step.objects.filter(episode=episode).order_by("number").values_list("commands", flat=True)
    return [
        f"{entry['chosen_by']} {entry['command'][0]}"
        for entries in taken
        for entry in entries
        if entry["seat"] == seat
    ]


def holds(episode: Episode) -> bool:
    return all(verdict.holds for verdict in verify_episode_logs(Episode.objects.filter(pk=episode.pk)))


def test_a_step_runs_without_who_may_act_and_what_they_do_then_is_the_worlds() -> None:
    episode = make(seats=2)
    assert submit(episode, 1, *DIG).accepted and submit(episode, 1, *REST, seat=1).accepted
    with read_turn(episode.pk) as turn:
        assert (turn.may_act, asked_seats(turn), turn.given) == ({0}, {1}, {})
    assert submit(episode, 2, *REST, seat=1).accepted
    assert step_of(episode) == 2 and did(episode, 0) == ["person dig", "world go_on"]
    assert holds(episode)


def test_the_plan_of_one_person_leaves_another_the_time_to_act(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = make(seats=2, offers_plans=True, order_choices=True)
    submit(episode, 1, *DIG), submit(episode, 1, *REST, seat=1, then=[REST])
    for seconds in (0.0, 1.0):
        monkeypatch.setattr(Tunnel, "planned_step_seconds", seconds)
        with read_turn(episode.pk) as turn:
            assert (turn.may_act, turn.given[1].planned_in) == ({0}, 1)
            assert pause_seconds(turn) == max(PAUSE_SECONDS, seconds)


def test_who_may_act_is_told_the_amounts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tunnel, "amounts", lambda self, seat: {("lay",): (1, 3)})
    episode = make(seats=2)
    submit(episode, 1, *DIG), submit(episode, 1, *REST, seat=1)
    view = current_seat_view(episode.seats.get(number=0))
    assert view.choice.may_act and view.choice.amounts == {("lay",): (1, 3)}


def test_a_person_in_a_macro_stops_it_until_the_step_runs() -> None:
    episode = make(seats=2)
    submit(episode, 1, *DIG), submit(episode, 1, *REST, seat=1)
    view = current_seat_view(episode.seats.get(number=0))
    assert (view.choice.may_act, view.choice.passed_by, view.phase) == (True, True, "waiting")
    assert list(view.choice.legal) == [GO_ON, STOP] and view.waiting_for == (1,)
    assert not current_seat_view(episode.seats.get(number=1)).choice.may_act
    assert submit(episode, 2, *DIG).code == "not_offered"
    assert submit(episode, 2, *STOP).accepted
    assert submit(episode, 2, *STOP).code == "repeated"
    assert step_of(episode) == 1  # the other is waited for
    view = current_seat_view(episode.seats.get(number=0))
    assert (view.choice.may_act, view.choice.chosen) == (False, STOP)
    assert submit(episode, 2, *REST, seat=1).accepted
    assert did(episode, 0) == ["person dig", "person stop"]
    with read_turn(episode.pk) as turn:
        assert asked_seats(turn) == {0, 1} and turn.may_act == set()
    assert holds(episode)


def test_who_could_only_do_nothing_is_passed_by_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Tunnel, "legal_actions", lambda world, seat: [GO_ON] if world.left[seat] else [DIG, REST, GO_ON]
    )
    episode = make(seats=2)
    submit(episode, 1, *DIG), submit(episode, 1, *REST, seat=1)
    assert submit(episode, 2, *STOP).code == "passed_by"
    view = current_seat_view(episode.seats.get(number=0))
    assert (view.choice.may_act, view.choice.passed_by, view.choice.legal) == (False, True, ())


def test_a_lone_person_sees_each_step_of_a_macro_and_can_stop_it(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: OnCommit
) -> None:
    later: list[tuple[int, int, float]] = []
    monkeypatch.setattr(advance_episode, "run_step_later", lambda *task: later.append(task))
    episode = make(seats=1)
    with django_capture_on_commit_callbacks(execute=True):
        assert submit(episode, 1, *DIG).accepted
    assert step_of(episode) == 1
    ((_, step, seconds),) = later
    assert step == 2 and 0 < seconds <= 0.6
    assert not run_due_step(episode_id=episode.pk, step=2)  # too early
    opened(episode, ago=1)
    later.clear()
    with django_capture_on_commit_callbacks(execute=True):
        assert run_due_step(episode_id=episode.pk, step=2)
    assert step_of(episode) == 2 and [task[1] for task in later] == [3]  # one step, and the next is to come
    assert not run_due_step(episode_id=episode.pk, step=2)  # the same task once more
    assert submit(episode, 3, *STOP).accepted
    assert did(episode, 0) == ["person dig", "world go_on", "person stop"]
    assert submit(episode, 4, *DIG).accepted and holds(episode)


def opened(episode: Episode, *, ago: float) -> None:
    """As if its step had been opened so many seconds ago, and no worker had said that it would look."""
    past = timezone.now() - timedelta(seconds=ago)
    Episode.objects.filter(pk=episode.pk).update(turn_opened_at=past, deciding_until=None)


def test_a_step_of_a_macro_that_a_task_forgot_is_found() -> None:
    episode = make(seats=1)
    submit(episode, 1, *DIG)
    assert turns_to_decide() == []
    opened(episode, ago=60)
    assert turns_to_decide() == [(episode.pk, 2)]
    decide_step(episode_id=episode.pk, step=2)
    assert step_of(episode) == 2


def test_programs_are_not_held_up(told: dict[int, Any]) -> None:
    alone = make(seats=1, synthetic=True)
    submit(alone, 1, *DIG)
    assert step_of(alone) == 4
    told[1] = {0: [DIG], 1: [DIG]}
    minds = make((0,), (1,))
    decide_step(episode_id=minds.pk, step=1)
    assert step_of(minds) == 4 and holds(minds)


def test_a_mind_beside_a_person_in_a_macro_decides_and_is_not_overlooked(told: dict[int, Any]) -> None:
    told[2] = {1: [REST]}
    episode = make((1,), step_seconds=5)
    submit(episode, 1, *DIG), decide_step(episode_id=episode.pk, step=1)
    opened(episode, ago=60)
    assert turns_to_decide() == [(episode.pk, 2)] == undecided_turns(timedelta())
    Episode.objects.update(turn_closes_at=timezone.now() - timedelta(seconds=9))
    assert overdue_turns() == [] and not close_expired_turn(episode_id=episode.pk, step=2)
    decide_step(episode_id=episode.pk, step=2)
    assert did(episode, 0) == ["person dig", "world go_on"]


def test_a_mind_in_a_macro_is_not_asked(told: dict[int, Any]) -> None:
    told[1] = {1: [DIG]}
    episode = make((1,), (2,), seats=3, knowing="nobody")
    submit(episode, 1, *REST), [decide_step(episode_id=episode.pk, step=1, mind=mind) for mind in (0, 1)]
    submit(episode, 2, *REST)
    assert minds_asked_separately(episode.pk, 2) == [1]
    with read_turn(episode.pk) as turn:
        assert [mind.number for mind in minds_asked(turn)] == [1] and waits_for_minds(turn)
    assert decide_step(episode_id=episode.pk, step=2, mind=0) is None
    decide_step(episode_id=episode.pk, step=2, mind=1)
    assert did(episode, 1) == ["digger dig", "world go_on"]


def test_a_mind_that_is_asked_for_one_seat_may_stop_another(told: dict[int, Any]) -> None:
    told |= {1: {0: [DIG], 1: [REST]}, 2: {1: [REST]}, 3: {0: [STOP], 1: [REST]}, 4: {0: [REST], 1: [REST]}}
    episode = make((0, 1))
    for step in (1, 2, 3, 4):
        decide_step(episode_id=episode.pk, step=step)
    assert did(episode, 0) == ["digger dig", "world go_on", "digger stop", "digger rest"]
    assert [(one.request.asked, one.request.may_act) for one in Digger.asked] == [
        ((0, 1), ()),
        ((1,), (0,)),
        ((1,), (0,)),
        ((0, 1), ()),
    ]
    assert Digger.asked[1].commanded == {} and holds(episode)


def test_a_mind_in_a_macro_is_asked_when_a_person_writes_to_it(told: dict[int, Any]) -> None:
    told |= {1: {1: [DIG]}, 3: {1: [STOP]}}
    episode = graph((1,))
    for step in (1, 2):
        submit(episode, step, *REST)
        decide_step(episode_id=episode.pk, step=step)
    assert step_of(episode) == 2
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("stop!")).accepted
    with read_turn(episode.pk) as turn:
        assert asked_seats(turn) == {0, 1} and turn.may_act == set()
    submit(episode, 3, *REST)
    assert step_of(episode) == 2  # it is waited for
    decide_step(episode_id=episode.pk, step=3)
    assert did(episode, 1) == ["digger dig", "world go_on", "digger stop"]
    assert [one.request.because for one in Digger.asked] == ["seat", "message"] and holds(episode)


def test_a_mind_in_a_macro_is_asked_in_the_step_after_another_mind_wrote_to_it(told: dict[int, Any]) -> None:
    told |= {1: {0: [DIG], 1: [REST]}, 2: {1: [REST]}, 3: {0: [STOP]}}
    Digger.lines[2] = "stop!"
    episode = graph((0,), (1,))
    for step in (1, 2, 3):
        decide_step(episode_id=episode.pk, step=step)
    assert [(one.step, one.talk.member) for one in Digger.asked] == [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)]
    assert did(episode, 0) == ["digger dig", "world go_on", "digger stop"]
    assert DecisionRow.objects.get(step=3, mind__number=0).because == "message"


def test_a_mind_that_is_written_to_keeps_its_plan_unless_it_gives_another(told: dict[int, Any]) -> None:
    told |= {1: {1: [DIG, REST]}, 2: {1: [GO_ON]}, 3: {1: [STOP, DIG]}}
    episode = graph((1,))
    for step in (1, 2, 3):
        if step > 1:
            assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft(f"hello {step}")).accepted
        submit(episode, step, *REST)
        decide_step(episode_id=episode.pk, step=step)
    submit(episode, 4, *REST)
    assert did(episode, 1) == ["digger dig", "digger go_on", "digger stop", "digger dig"]
    events = [event for step in Step.objects.filter(episode=episode) for event in step.events]
    broken = [event for event in events if event["kind"] == "plan_broken"]
    assert [(event["why"], event["left"]) for event in broken] == [("replaced", [list(REST)])]
    assert holds(episode)


def test_a_person_in_a_macro_changes_what_follows_it() -> None:
    episode = make(seats=2, offers_plans=True)
    given = SubmittedCommand(0, DIG, then=(REST,))
    assert submit_commands(episode_id=episode.pk, step=1, commands=[given]).accepted
    submit(episode, 1, *REST, seat=1)
    with exclusive_turn(episode.pk) as turn:
        assert replace_plan(turn, seat=0, then=[DIG], page="").accepted
        assert turn.plans[0].then == (DIG,)
        assert replace_plan(turn, seat=1, then=[DIG], page="").code == "not_offered"  # it is asked


def test_a_step_that_is_over_is_seen_as_it_was_when_somebody_could_act_in_it() -> None:
    episode = make(seats=2)
    submit(episode, 1, *DIG), submit(episode, 1, *REST, seat=1), submit(episode, 2, *REST, seat=1)
    record = record_of(episode)
    turn = PastTurn(record, 1, world_after_steps(record, 1))
    assert (turn.may_act, asked_seats(turn)) == ({0}, {1})
    assert list(seat_view_in_turn(turn, 0).choice.legal) == [GO_ON, STOP]


def test_staff_are_told_that_a_step_waits_for_nobody_who_may_act() -> None:
    episode = make(seats=2)
    submit(episode, 1, *DIG), submit(episode, 1, *REST, seat=1)
    facts = episode_facts([episode.pk])[episode.pk]
    assert facts.people_missing == (1,)


def test_who_takes_a_step_knows_who_may_act_from_the_database() -> None:
    episode = make(seats=2)
    submit(episode, 1, *DIG), submit(episode, 1, *REST, seat=1)
    Seat.objects.filter(number=0).update(may_act_in=None)  # as another process stores it
    with read_turn(episode.pk) as turn:
        assert asked_seats(turn) == {0, 1}
