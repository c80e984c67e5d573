"""Who has nothing to choose is not asked, where that is set; what nobody is asked for passes by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
from django.utils import timezone

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode import advance_episode
from kitchen.play.episode.advance_episode import MAX_STEPS_PER_TRANSACTION, run_due_step
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.play_monitoring import recent_pace
from kitchen.play.live.page_session import open_page
from kitchen.play.live.seat_view import current_seat_view, seat_states
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, SeatCommand, Step
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_searches import turns_to_decide, undecided_turns
from kitchen.play.turn.websocket_messages import CommandMessage
from kitchen.registry import agent_registry
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

Asked = Callable[[int, int], bool]


class Told(Agent):
    """Moves every seat that it commands, and remembers which it was asked for."""

    kind = "told"

    async def decide(self, situation: Situation) -> Decision:
        asked = [*(situation.memory or []), [situation.step + 1, list(situation.request.asked or ())]]
        return Decision(dict.fromkeys(situation.seats, ("goto", "pot0")), memory=asked)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Asked], None]:
    """Have the kitchen ask those seats alone of which this is true: of the steps taken, and the seat. The
    others can only do nothing."""
    monkeypatch.setitem(agent_registry.AGENTS, "told", f"{__name__}:Told")
    legal = CuisineWorld.legal_actions

    def let(rule: Asked) -> None:
        monkeypatch.setattr(CuisineWorld, "asks", lambda world, seat: rule(world.clock, seat))
        monkeypatch.setattr(
            CuisineWorld,
            "legal_actions",
            lambda world, seat: legal(world, seat) if rule(world.clock, seat) else [world.idle],
        )

    return let


def step_of(episode: Episode) -> int:
    return Episode.objects.get(pk=episode.pk).step


def by(episode: Episode, seat: int) -> list[str]:
    """Who chose for this seat, step by step."""
    taken = Step.objects.filter(episode=episode).order_by("number").values_list("commands", flat=True)
    return [entry["chosen_by"] for entries in taken for entry in entries if entry["seat"] == seat]


def hashes(episode: Episode) -> list[str]:
    return list(Step.objects.filter(episode=episode).order_by("number").values_list("state_hash", flat=True))


def test_a_seat_is_passed_by_where_that_is_set_and_nowhere_else(asked: Callable[[Asked], None]) -> None:
    asked(lambda clock, seat: clock not in {1, 2})
    plain, quick = (make_episode(passes_by=passes_by) for passes_by in (False, True))
    for episode in (plain, quick):
        assert submit(episode, 1, "goto", "pot0").accepted
    assert [step_of(plain), step_of(quick)] == [1, 3]
    for step in (2, 3):
        assert submit(plain, step, "noop").accepted
    assert hashes(plain) == hashes(quick)
    assert [by(plain, 0), by(quick, 0)] == [["person"] * 3, ["person", "world", "world"]]
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_a_world_may_say_that_seats_are_passed_by_in_every_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not make_episode().passes_by
    monkeypatch.setattr(CuisineWorld, "passes_by", True)
    assert make_episode().passes_by


def test_a_mind_is_asked_for_those_of_its_seats_alone_that_have_something_to_choose(
    asked: Callable[[Asked], None],
) -> None:
    asked(lambda clock, seat: seat == 0 or (clock, seat) in {(0, 1), (0, 2), (1, 2)})
    episode = make_episode(seats=3, minds=(mind("told", 1, 2),), passes_by=True)
    for step in (1, 2, 3):
        assert submit(episode, step, "noop").accepted
        decide_step(episode_id=episode.pk, step=step)
    assert step_of(episode) == 3
    assert by(episode, 1) == ["told", "world", "world"] and by(episode, 2) == ["told", "told", "world"]
    assert DecisionRow.objects.order_by("-step")[0].memory == [[1, [1, 2]], [2, [2]]]


def test_a_mind_decides_while_its_person_is_passed_by(asked: Callable[[Asked], None]) -> None:
    asked(lambda clock, seat: seat == 1 or clock != 1)
    episode = make_episode(seats=2, minds=(mind("told", 1),), passes_by=True)
    submit(episode, 1, "noop")
    decide_step(episode_id=episode.pk, step=1)
    view = current_seat_view(episode.seats.get(number=0))
    assert (view.phase, view.choice.passed_by, view.waiting_for, view.choice.chosen) == (
        "thinking",
        True,
        (1,),
        None,
    )
    assert submit(episode, 2, "noop").code == "passed_by"
    Episode.objects.update(turn_opened_at=timezone.now() - timedelta(seconds=60))
    assert turns_to_decide() == [(episode.pk, 2)]
    decide_step(episode_id=episode.pk, step=2)
    assert step_of(episode) == 2 and by(episode, 0) == ["person", "world"]


def test_nobody_overlooks_a_step_that_waits_for_co_players_alone(asked: Callable[[Asked], None]) -> None:
    asked(lambda clock, seat: seat == 1)
    episode = make_episode(seats=2, minds=(mind("told", 1),), passes_by=True)
    assert undecided_turns(timedelta(days=-1)) == [(episode.pk, 1)]
    with read_turn(episode.pk) as turn:
        (stand,) = seat_states([turn.seats[0].pk]).values()
        assert stand[2] == turn.stamp


def test_steps_in_which_nobody_is_asked_pass_in_pieces(
    asked: Callable[[Asked], None],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[object]],
) -> None:
    later: list[tuple[int, int, float]] = []
    monkeypatch.setattr(advance_episode, "run_step_later", lambda *asked_for: later.append(asked_for))
    asked(lambda clock, seat: clock in {0, 50})
    episode = make_episode(passes_by=True)
    with django_capture_on_commit_callbacks(execute=True):
        submit(episode, 1, "noop")
    assert step_of(episode) == MAX_STEPS_PER_TRANSACTION
    assert turns_to_decide() == []  # it has only just opened
    while later:
        (task,) = later
        later.clear()
        with django_capture_on_commit_callbacks(execute=True):
            assert run_due_step(episode_id=task[0], step=task[1])  # and those after it
        assert not run_due_step(episode_id=task[0], step=task[1])  # the same task once more
    assert step_of(episode) == 50
    assert submit(episode, 51, "noop").accepted


def test_an_episode_in_which_nobody_is_asked_any_more_passes_to_its_end(
    asked: Callable[[Asked], None],
) -> None:
    asked(lambda clock, seat: clock == 0)
    episode = make_episode(steps=9, passes_by=True)
    submit(episode, 1, "noop")
    episode.refresh_from_db()
    assert (episode.step, episode.status) == (9, Episode.Status.OVER)
    assert SeatCommand.objects.filter(episode=episode).count() == 9
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_a_step_that_a_task_forgot_is_found(asked: Callable[[Asked], None]) -> None:
    asked(lambda clock, seat: clock == 0)
    episode = make_episode(passes_by=True)
    submit(episode, 1, "noop")
    Episode.objects.update(turn_opened_at=timezone.now() - timedelta(seconds=60))
    assert turns_to_decide() == [(episode.pk, MAX_STEPS_PER_TRANSACTION + 1)]
    decide_step(episode_id=episode.pk, step=MAX_STEPS_PER_TRANSACTION + 1)
    assert step_of(episode) == 2 * MAX_STEPS_PER_TRANSACTION


def test_thinking_takes_time_only_where_a_co_player_is_asked(asked: Callable[[Asked], None]) -> None:
    asked(lambda clock, seat: seat == 0)
    episode = make_episode(seats=2, minds=(mind("told", 1),), passes_by=True, thinking_seconds=30)
    submit(episode, 1, "noop")
    assert step_of(episode) == 1
    assert recent_pace().half is not None  # nobody but us was waited for


def test_a_busy_person_is_not_told_that_time_ran_out(asked: Callable[[Asked], None]) -> None:
    asked(lambda clock, seat: seat == 1 or clock == 0)
    episode = make_episode(seats=2, minds=(mind("told", 1),), passes_by=True, step_seconds=5)
    _, answer = open_page(episode.seats.get(number=0).key, "page-of-test", newest=True, json=True)
    assert answer.texts
    submit(episode, 1, "noop")
    decide_step(episode_id=episode.pk, step=1)
    Episode.objects.update(turn_closes_at=timezone.now() - timedelta(seconds=60))
    decide_step(episode_id=episode.pk, step=2)
    assert by(episode, 0) == ["person", "world"]


def test_co_players_that_need_no_time_are_asked_at_once_for_who_is_free(
    asked: Callable[[Asked], None],
) -> None:
    asked(lambda clock, seat: seat != 2)
    episode = make_episode(seats=3, minds=(mind("random", 1), mind("told", 2)), passes_by=True)
    page, _ = open_page(episode.seats.get(number=0).key, "page-of-test", newest=True, json=True)
    assert page
    page.command(CommandMessage(step=1, command=("noop",)))
    assert step_of(episode) == 1 and by(episode, 2) == ["world"] and by(episode, 1) == ["random"]
