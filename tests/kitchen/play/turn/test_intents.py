"""What teammates are about to do: said before a person chooses, to whom it is shown, and kept in the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Agent, Decision, Situation, run_without_waiting
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.world import Event, Intent, Json
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.agent_situations import checked_decision
from kitchen.play.live.page_session import open_page
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Step
from kitchen.play.turn.decision_records import note_with_intents
from kitchen.play.turn.state_store import current_world
from kitchen.registry import agent_registry
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.changed_facts import changed
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = pytest.mark.django_db


class Sayer(Agent):
    """Says of each seat which step it has decided on, and of one that is not its own."""

    kind = "sayer"

    async def decide(self, situation: Situation) -> Decision:
        said = {seat: {"said": f"step {situation.step + 1}"} for seat in (*situation.seats, 0)}
        return Decision(commands={}, note={"chosen": "idle"}, intents=said)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "sayer", f"{__name__}:Sayer")


def take(episode: Episode) -> None:
    """The person waits a step; the co-players decide."""
    step = Episode.objects.get(pk=episode.pk).step + 1
    submit(episode, step, "noop")
    decide_step(episode_id=episode.pk, step=step)


def shown(episode: Episode) -> Mapping[int, Intent]:
    return current_seat_view(episode.seats.get(number=0)).plans.intents


def test_what_was_said_when_the_last_step_was_decided_is_shown_and_nothing_of_the_open_step() -> None:
    episode = make_episode(seats=3, minds=(mind("sayer", 1, 2),), shows_intents=True)
    assert shown(episode) == {}
    take(episode)
    assert shown(episode) == {1: {"said": "step 1"}, 2: {"said": "step 1"}}  # none of the person's own seat
    row = episode.minds.get()
    DecisionRow.objects.create(
        mind=row, step=2, note=note_with_intents(None, {1: {"said": "too early"}}, (1,)), milliseconds=1
    )
    assert shown(episode)[1] == {"said": "step 1"}


def test_who_did_not_decide_itself_has_said_nothing() -> None:
    episode = make_episode(seats=2, minds=(mind("random", 1),), shows_intents=True)
    take(episode)
    assert shown(episode) == {}


def test_where_it_is_not_shown_nothing_is_kept_and_no_client_is_told() -> None:
    plain, told = (
        make_episode(seats=2, minds=(mind("planner", 1),), shows_intents=wanted) for wanted in (False, True)
    )
    for episode in (plain, told):
        take(episode)
    notes: list[Any] = [DecisionRow.objects.get(mind__episode=episode).note for episode in (plain, told)]
    assert notes[1].pop("intents").keys() == {"1"}
    assert json.dumps(notes[0]) == json.dumps(notes[1])
    assert [state_of(episode)["intents"] for episode in (plain, told)] == [
        {},
        {"1": dict(shown(told)[1])},
    ]


def state_of(episode: Episode) -> dict[str, Any]:
    """What a program is sent that plays the person's seat."""
    _, answer = open_page(episode.seats.get(number=0).key, "page-of-test", newest=True, json=True)
    told: dict[str, Any] = json.loads(answer.texts[-1])
    return told


def test_what_was_shown_follows_from_the_log_and_from_playing_it_again() -> None:
    episode = make_episode(seats=3, minds=(mind("planner", 1, 2, tries=2),), shows_intents=True)
    seen: list[Mapping[int, Intent]] = []
    for _ in range(5):
        take(episode)
        seen.append(shown(episode))
    notes = DecisionRow.objects.filter(mind__episode=episode).order_by("step").values_list("note", flat=True)
    assert [{str(seat): intent for seat, intent in one.items()} for one in seen] == [
        note["intents"] for note in notes
    ]
    assert [dict(decision.intents) for decision in decided_again(episode)] == seen
    assert all(intent["do"] in {"bring", "start"} for one in seen for intent in one.values())


def decided_again(episode: Episode) -> list[Decision]:
    """What the planner decides at each step of a replay."""
    world = get_world("cuisine").create(seats=3, settings=episode.settings)
    world.reset(episode.seed)
    memory: Json = None
    made: list[Decision] = []
    for step in Step.objects.filter(episode=episode).order_by("number"):
        given = {0: ("noop",)}
        seed = derived_seed(episode.seed, 0, step.number - 1)
        situation = make_situation(world, (1, 2), commanded=given, people=(0,), memory=memory, seed=seed)
        made.append(
            run_without_waiting(make_agent("planner", {"tries": 2}).decide(changed(situation, tells=True)))
        )
        memory = json.loads(json.dumps(made[-1].memory))
        world.step([(entry["seat"], tuple(entry["command"])) for entry in step.commands])
    assert world.state_hash() == current_world(Episode.objects.get(pk=episode.pk)).state_hash()
    return made


def test_a_world_may_keep_it_from_a_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = make_episode(seats=3, minds=(mind("sayer", 1, 2),), shows_intents=True)
    take(episode)

    def visible(world: CuisineWorld, seat: int, event: Event) -> bool:
        return event.kind != "intends" or event.seat == 1

    monkeypatch.setattr(CuisineWorld, "visible", visible)
    assert shown(episode) == {1: {"said": "step 1"}}


@pytest.mark.parametrize("wrong", [{1: "go"}, {"1": {"do": "go"}}, {1: {"do": 3}}])
def test_what_are_no_words_by_seat_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="intends"):
        checked_decision(Decision(commands={}, intents=wrong))
