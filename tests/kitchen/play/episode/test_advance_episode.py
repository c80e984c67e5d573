"""What may change an episode, and what may not."""

from __future__ import annotations

import pytest

from kitchen.contract.world_errors import SettingsError
from kitchen.infra.append_only import AppendOnlyError
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.create_episode import MindPlan
from kitchen.play.episode.end_episode import abandon_episode
from kitchen.play.models import Decision, Episode, Mind, SeatCommand, Step
from kitchen.play.turn import state_store, step_store, turn_claims
from kitchen.play.turn.submitted_commands import SubmittedCommand
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def untouched(episode: Episode) -> bool:
    fresh = Episode.objects.get(pk=episode.pk)
    return (fresh.step, fresh.state_hash) == (episode.step, episode.state_hash)


def test_a_person_alone_steps_the_world_at_once() -> None:
    episode = make_episode()
    assert submit(episode, 1, "goto", "storage0").code == "accepted"
    episode.refresh_from_db()
    step = Step.objects.get(episode=episode)
    assert (episode.step, step.number) == (1, 1)
    assert step.state_hash == episode.state_hash == state_store.current_world(episode).state_hash()
    assert step.commands[0]["chosen_by"] == "person"
    assert step.events[0]["kind"] == "performed"


def test_a_step_waits_for_every_seat() -> None:
    episode = make_episode(seats=2)
    assert submit(episode, 1, "goto", "storage0").accepted
    assert untouched(episode)
    assert submit(episode, 1, "goto", "pot0", seat=1).accepted
    episode.refresh_from_db()
    assert episode.step == 1


def test_two_people_are_run_in_seat_order_whoever_was_first() -> None:
    episode = make_episode(seats=2)
    submit(episode, 1, "goto", "pot0", seat=1)
    submit(episode, 1, "goto", "storage0", seat=0)
    assert [entry["seat"] for entry in Step.objects.get().commands] == [0, 1]


@pytest.mark.parametrize(("step", "code"), [(1, "late"), (3, "early"), (99, "early")])
def test_a_command_for_another_step_changes_nothing(step: int, code: str) -> None:
    episode = make_episode()
    submit(episode, 1, "noop")
    episode.refresh_from_db()
    assert submit(episode, step, "goto", "pot0").code == code
    assert untouched(episode)
    assert SeatCommand.objects.count() == 1


def test_a_command_whose_answer_was_lost_is_told_so_when_it_comes_again() -> None:
    episode = make_episode()
    submit(episode, 1, "goto", "pot0")
    assert submit(episode, 1, "goto", "pot0").code == "repeated"
    assert SeatCommand.objects.count() == 1


def test_the_same_command_twice_is_taken_once_and_another_one_does_not_replace_it() -> None:
    episode = make_episode(seats=2)
    submit(episode, 1, "goto", "pot0")
    assert submit(episode, 1, "goto", "pot0").code == "repeated"
    assert submit(episode, 1, "goto", "pot1").code == "double"
    assert SeatCommand.objects.get().command == ["goto", "pot0"]


@pytest.mark.parametrize(
    "command", [("get", "pot0", "rice"), ("fly", "moon"), ("goto", "oven0"), ("goto",), ("noop", "x")]
)
def test_a_person_may_only_do_what_is_offered(command: tuple[str, ...]) -> None:
    episode = make_episode()
    assert submit(episode, 1, *command).code == "not_offered"
    assert untouched(episode)
    assert not SeatCommand.objects.exists()


def test_a_co_players_impossible_command_is_logged_as_refused_and_harms_nobody() -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    submit(episode, 1, "goto", "storage0")
    receipt = submit_commands(
        episode_id=episode.pk, step=1, commands=[SubmittedCommand(1, ("get", "pot0", "rice"), "planner")]
    )
    assert receipt.accepted
    kinds = {event["seat"]: event["kind"] for event in Step.objects.get().events if event["seat"] is not None}
    assert kinds == {0: "performed", 1: "refused"}


def test_nothing_is_taken_after_the_end() -> None:
    episode = make_episode(steps=1)
    submit(episode, 1, "noop")
    episode.refresh_from_db()
    assert episode.status == Episode.Status.OVER
    assert episode.ended_at
    assert submit(episode, 2, "noop").code == "over"


def test_commands_of_one_hand_in_are_taken_all_or_none() -> None:
    episode = make_episode(seats=3, minds=(mind("planner", 1, 2),))
    submit_commands(episode_id=episode.pk, step=1, commands=[SubmittedCommand(1, ("noop",), "planner")])
    orders = [SubmittedCommand(1, ("noop",), "planner"), SubmittedCommand(2, ("noop",), "planner")]
    assert submit_commands(episode_id=episode.pk, step=1, commands=orders).code == "repeated"
    assert SeatCommand.objects.count() == 1


def test_if_the_step_cannot_be_written_nothing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = make_episode()
    monkeypatch.setattr(step_store, "_store_log_row", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        submit(episode, 1, "noop")
    assert untouched(episode)
    assert not SeatCommand.objects.exists()


def test_replaying_the_log_from_the_seed_gives_every_hash_again() -> None:
    episode = make_episode(steps=20)
    world = state_store.current_world(episode)
    for step in range(1, 21):
        commands = state_store.current_world(Episode.objects.get()).legal_actions(0)
        submit(episode, step, *commands[step * 5 % len(commands)])
    world.reset(episode.seed)
    for row in Step.objects.order_by("number"):
        world.step([(entry["seat"], tuple(entry["command"])) for entry in row.commands])
        assert world.state_hash() == row.state_hash


def test_the_log_cannot_be_changed() -> None:
    episode = make_episode()
    submit(episode, 1, "noop")
    row = Step.objects.get()
    row.number = 5
    with pytest.raises(AppendOnlyError):
        row.save()
    for model in (Step, SeatCommand, Decision):
        for manager in (model.objects, model._base_manager):
            with pytest.raises(AppendOnlyError):
                manager.update()
            with pytest.raises(AppendOnlyError):
                manager.bulk_create([], update_conflicts=True)


@pytest.mark.parametrize(
    "minds",
    [
        (MindPlan("planner", (2,)),),
        (MindPlan("planner", (1,)), MindPlan("random", (1,))),
        (MindPlan("planner", (1,), {"nonsense": 1}),),
    ],
)
def test_a_seating_that_does_not_fit_is_refused_and_makes_no_episode(minds: tuple[MindPlan, ...]) -> None:
    with pytest.raises(SettingsError):
        make_episode(seats=2, minds=minds)
    assert not Episode.objects.exists()


def test_only_one_worker_gets_the_claim_until_it_lapses() -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    assert turn_claims.claim_decision(episode_id=episode.pk, step=1)
    assert not turn_claims.claim_decision(episode_id=episode.pk, step=1)
    Mind.objects.update(deciding_until="2020-01-01T00:00:00Z")
    assert turn_claims.claim_decision(episode_id=episode.pk, step=1)
    assert not turn_claims.claim_decision(episode_id=episode.pk, step=2)


def test_an_episode_can_be_ended_once() -> None:
    episode = make_episode()
    assert abandon_episode(episode_id=episode.pk, reason="somebody left")
    assert not abandon_episode(episode_id=episode.pk, reason="somebody left")
    assert submit(episode, 1, "noop").code == "over"
