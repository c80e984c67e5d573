"""A person plays beside the planner: steps pass by themselves, and the episode replays."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import run_due_step, submit_commands
from kitchen.play.episode.create_episode import create_episode, members_of_plans
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, StateChange
from kitchen.play.turn import turn_rules
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.replay.episode_file import export_episode, read_episode_file
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.step_replay import replay_faults
from tests.kitchen.factories import mind

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that pass by themselves follow one another at once."""
    monkeypatch.setattr(turn_rules, "PAUSE_SECONDS", 0.0)


def episode_of(world: str, seats: int = 2, **settings: Any) -> Episode:
    """A person in seat 0, and a planner in each other seat."""
    minds = tuple(mind("blocks_planner", seat) for seat in range(1, seats))
    return create_episode(world=world, settings=settings, seats=seats, seed=1, minds=minds)


def play(episode: Episode, words: str) -> Episode:
    """Have the person begin a macro, and everybody go on until the person is asked again."""
    step = Episode.objects.get(pk=episode.pk).step + 1
    given = submit_commands(
        episode_id=episode.pk, step=step, commands=[SubmittedCommand(0, tuple(words.split()))]
    )
    assert given.accepted, given.code
    for _ in range(60):
        episode.refresh_from_db()
        if episode.status != Episode.Status.PLAYING:
            break
        step = episode.step + 1
        if decide_step(episode_id=episode.pk, step=step) is None and not run_due_step(
            episode_id=episode.pk, step=step
        ):
            break
    episode.refresh_from_db()
    return episode


def faults(episode: Episode) -> list[Any]:
    """What the replay of the stored episode and of its file finds wrong."""
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    return [*replay_faults(record), *replay_faults(read_episode_file(export_episode(record)))]


def test_a_person_crafts_what_the_planner_gives_and_the_episode_replays() -> None:
    episode = episode_of("blocks_crafting", task="craft_2_02_lime_wool")
    play(episode, "stay 3")
    assert current_seat_view(episode.seats.get(number=0)).observation["inventory"] == {
        "black_wool": 1,
        "lime_dye": 1,
    }
    play(episode, "craft lime_wool 1")
    assert (episode.status, episode.score["success"], episode.score["gives"]) == (Episode.Status.OVER, 1, 1)
    assert episode.score["refused_commands"] == 0 and not faults(episode)


def test_a_building_site_is_stored_as_changes_and_a_page_shows_what_was_done() -> None:
    episode = episode_of("blocks_construction", blueprint="shelter", limit=30)
    play(episode, "build 0")
    view = current_seat_view(episode.seats.get(number=0))
    assert view.observation["since"]["lost"]["stone"] > 5 and view.observation["doing"] is None
    stored = StateChange.objects.filter(episode=episode, is_whole=False)
    assert stored.exists() and max(len(one.changed) for one in stored) < 100
    while episode.status == Episode.Status.PLAYING:
        play(episode, "stay 30")
    assert episode.status in (Episode.Status.OVER, Episode.Status.CUT_OFF) and not faults(episode)


@pytest.mark.parametrize(
    ("blocked", "sees", "knows"),
    [
        ("nobody", "private", True),
        ("others", "private", False),
        ("others", "all", True),
        ("first", "all", False),
    ],
)
def test_a_leader_sees_how_many_blocks_are_right_only_if_the_seats_it_sees_may_know(
    blocked: str, sees: str, knows: bool
) -> None:
    """A leader who sees all sees the world as the first seat does."""
    minds = tuple(mind("follower", seat) for seat in (0, 1))
    members = [Member(2, (), is_person=True, name="Lead"), *members_of_plans(minds, seats=2)]
    led = make_organisation("tree", members, seats=2, settings={"sees": sees})
    chosen = {"blueprint": "pyramid", "blueprint_blocked": blocked}
    episode = create_episode(
        world="blocks_construction", settings=chosen, seats=2, seed=1, minds=minds, organisation=led
    )
    result = current_seat_view(episode.seats.get(number=2)).result
    assert ("matches" in result.score) == knows == ("blocks as wanted" in str(result.achieved))


def test_a_person_who_alone_knows_the_plan_tells_the_planner_what_to_put_where() -> None:
    minds = (mind("blocks_planner", 1),)
    members = members_of_plans(minds, seats=2)
    team = make_organisation("central", members, seats=2, settings={"talk": True})
    chosen = {"blueprint": "shelter", "inventories": "by_material", "blueprint_blocked": "others"}
    episode = create_episode(
        world="blocks_construction", settings=chosen, seats=2, seed=1, minds=minds, organisation=team
    )
    play(episode, "stay 1")
    say = MessageDraft("Wood on level 2, row 1, columns 1 and 2", "say", (1,))
    assert send_message(episode_id=episode.pk, seat=0, say=say).accepted
    play(episode, "stay 8")
    view = current_seat_view(episode.seats.get(number=0))
    placed = {(x, z) for x, z, *_ in view.observation["differences"]}
    said = [one.text for one in view.talk.messages]
    assert any("I do not know the plan" in text for text in said) and "I put oak planks into 2 cells." in said
    assert view.observation["left_by_level"][1] == 13 and placed
    assert not faults(episode)
