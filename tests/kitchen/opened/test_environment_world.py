"""Environments of others as worlds: steps, ends, states, and what is refused."""

from __future__ import annotations

import json

import numpy
import pytest

from kitchen.contract.world import Json, World
from kitchen.contract.world_errors import SettingsError, StateError
from kitchen.opened.environment_world import MOST_REPLAY_MS, world_class
from kitchen.opened.frame_drawing import draw_frame
from kitchen.realtime.realtime_storage import LEASE_SECONDS
from kitchen.registry.world_registry import get_world
from tests.worlds.relay import RELAY, Relay, made

RUN, REST = ("run",), ("rest",)


def relay(seed: int = 3, **settings: int) -> World:
    world = world_class(RELAY).create(seats=2, settings=settings)
    world.reset(seed)
    return world


def test_a_seat_without_a_command_idles_or_does_what_the_mask_allows() -> None:
    world = relay()
    world.step({1: RUN})
    assert world.legal_actions(0) == [RUN], "who has rested must run"
    world.step({1: RUN})
    assert world.to_dict()["log"] == [[0, 1], [1, 1]]


def test_a_seat_whose_agent_is_out_is_not_asked_and_the_others_go_on() -> None:
    world = relay()
    world.step({0: RUN, 1: RUN})
    kinds = [(event.kind, event.seat) for event in world.step({0: RUN, 1: REST})]
    assert kinds == [("performed", 0), ("performed", 1), ("reward", 0), ("finished", 1)]
    assert (world.asks(0), world.asks(1), world.legal_actions(1)) == (True, False, [REST])
    assert world.step({0: RUN, 1: RUN})[1].data["reasons"] == ["not_now"]
    assert world.step({0: RUN})[-1].kind == "stopped"
    assert world.over and not world.cut_off
    assert world.score() == {"total": 2.5, "reward_seat_0": 2.0, "reward_seat_1": 0.5}


def test_refused_commands_have_reasons() -> None:
    world = relay()
    events = world.step([(5, RUN), (0, ("fly",)), (0, RUN), (0, RUN)])
    assert [event.data.get("reasons") for event in events[:4]] == [
        ["unknown_seat"],
        ["unknown_command"],
        None,
        ["duplicate_seat"],
    ]


def test_a_state_is_shown_without_an_environment_and_played_again_for_a_step() -> None:
    world, before = relay(), made["relay"]
    world.step({0: RUN})
    read = type(world).from_dict(json.loads(json.dumps(world.to_dict())))
    assert (read.observe(0)["taken"], read.score(), read.state_hash()) == (
        1,
        world.score(),
        world.state_hash(),
    )
    assert made["relay"] == before + 1
    assert read.step({0: RUN}) == world.step({0: RUN})
    assert made["relay"] == before + 2 and read.state_hash() == world.state_hash()


def test_a_world_takes_over_the_environment_of_an_older_object() -> None:
    world = relay()
    world.step({0: RUN})
    older, other = type(world).from_dict(world.to_dict()), relay(4)
    older.prepare()
    other.prepare()
    world.step({0: RUN})
    newer, before = type(world).from_dict(world.to_dict()), made["relay"]
    newer.take_over(other)  # another seed: left alone
    newer.take_over(older)
    assert newer.step({0: RUN}) == world.step({0: RUN}) and made["relay"] == before


def test_a_step_that_fails_changes_nothing_and_the_next_one_plays_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(environment: Relay, agent: str) -> dict[str, Json]:
        raise ValueError("nothing to tell")

    world, like = relay(), relay()
    for each in (world, like):
        each.step({0: RUN})
    with monkeypatch.context() as broken:
        broken.setitem(vars(RELAY), "description", fail)  # the adapter is frozen
        with pytest.raises(ValueError, match="nothing to tell"):
            world.step({0: RUN})
    assert world.to_dict() == like.to_dict()
    assert world.step({0: RUN}) == like.step({0: RUN}) and world.to_dict() == like.to_dict()
    type(world).from_dict(world.to_dict()).prepare()  # plays the same again


@pytest.mark.parametrize(("name", "value"), [("digest", "0" * 64), ("log", [[0, 0]])])
def test_a_state_that_does_not_play_again_is_refused(name: str, value: object) -> None:
    world = relay()
    world.step({0: RUN})
    with pytest.raises(StateError, match="does not play the same again"):
        type(world).from_dict({**world.to_dict(), name: value}).prepare()


def test_an_episode_that_takes_longer_to_play_again_than_a_claim_lasts_is_refused() -> None:
    assert MOST_REPLAY_MS == 1000 * LEASE_SECONDS
    relay(steps=1500)
    with pytest.raises(SettingsError, match="at most 1500 steps do"):
        relay(steps=1501)


def test_pong_goes_on_elsewhere_with_the_same_digest_and_the_same_pictures() -> None:
    """As in a process that takes over an episode whose owner was killed, and on the replay page."""
    chance, codes = numpy.random.default_rng(5), ("stay", "up", "down")
    world = get_world("pettingzoo_pong").create(seats=2, settings={})
    world.reset(5)
    turns = [{seat: (codes[chance.integers(3)],) for seat in (0, 1)} for _ in range(77)]
    for turn in turns[:30]:
        world.step(turn)
    shown, taken_over = world.frame(), type(world).from_dict(world.to_dict())
    assert shown.startswith(b"RIFF") and draw_frame(world.kind, world.to_dict()) == shown
    for turn in turns[30:]:
        assert not world.over
        world.step(turn)
        taken_over.step(turn)
    assert world.over and world.clock == 77
    assert taken_over.to_dict() == world.to_dict()
