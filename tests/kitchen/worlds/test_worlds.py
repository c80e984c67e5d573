"""What every registered world keeps to, whatever it is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Command, World
from kitchen.contract.world_errors import SettingsError, StateError
from kitchen.registry.agent_registry import get_pursuer
from kitchen.registry.world_metrics import metrics_from_log, metrics_of_world
from kitchen.registry.world_registry import WORLDS, WORLDS_VARIABLE, get_kit, get_page, get_world
from tests.kitchen.playthrough import FOLDER, replay
from tests.nightly import nightly, worlds_thinned
from tests.worlds.beacon.kit import LINE as BEACON_LINE
from tests.worlds.beacon.world import Beacon
from tests.worlds.boulders import LINE as BOULDERS_LINE
from tests.worlds.boulders import Boulders
from tests.worlds.vault.kit import LINE as VAULT_LINE
from tests.worlds.vault.world import Vault

ROOT = Path(__file__).parents[3]
OTHERS = f"{BEACON_LINE},{BOULDERS_LINE},{VAULT_LINE}"
SEED = 7
STEPS = 40
FEW_STEPS = 20
"""The steps in tests that try every command of each step."""

OPENED = ["pettingzoo_tictactoe", *nightly("pettingzoo_kaz", "pettingzoo_pong")]
"""Environments of others as worlds. Those under a clock need milliseconds for a step."""

every_world = pytest.mark.parametrize(
    "kind", [*worlds_thinned(sorted([*WORLDS, Beacon.kind, Vault.kind])), *OPENED]
)
every_state = pytest.mark.parametrize(
    "kind", [*worlds_thinned(sorted([*WORLDS, Beacon.kind, Boulders.kind, Vault.kind])), *OPENED]
)
"""One of them has a large part in its state."""
pytestmark = pytest.mark.usefixtures("beacon", "boulders", "vault")


def make(kind: str, seed: int = SEED) -> World:
    world_class = get_world(kind)
    world = world_class.create(seats=max(world_class.min_seats, min(2, world_class.max_seats)), settings={})
    world.reset(seed)
    return world


def choose(world: World, chance: Random) -> dict[int, Command]:
    return {seat: chosen(world, seat, chance) for seat in range(world.seats)}


def chosen(world: World, seat: int, chance: Random) -> Command:
    """Any legal action, with any amount that it can have."""
    command = chance.choice(world.legal_actions(seat))
    bounds = world.amounts(seat).get(command[:-1])
    return (*command[:-1], str(chance.randint(*bounds))) if bounds else command


def steps_of(world: World, most: int = STEPS) -> Iterator[int]:
    """Some steps, or fewer if the world ends before."""
    for number in range(most):
        if world.has_ended:
            return
        yield number


def hashes(world: World, steps: int, seed: int = 0) -> list[str]:
    chance = Random(seed)
    found = [world.state_hash()]
    for _ in range(steps):
        if world.has_ended:
            break
        world.step(choose(world, chance))
        found.append(world.state_hash())
    return found


def test_worlds_are_registered_in_order() -> None:
    assert list(WORLDS) == sorted(WORLDS)


@every_world
def test_a_world_names_itself_as_the_registry_does(kind: str) -> None:
    assert get_world(kind).kind == kind
    assert get_world(kind).version >= 1


@every_state
def test_the_same_seed_and_commands_give_the_same_states(kind: str) -> None:
    assert hashes(make(kind), STEPS) == hashes(make(kind), STEPS)


@every_state
def test_reset_leaves_nothing_behind(kind: str) -> None:
    used, fresh = make(kind, seed=1), make(kind)
    hashes(used, STEPS)
    used.reset(SEED)
    assert used.state_hash() == fresh.state_hash()
    assert used.clock == 0 and not used.over


@every_state
def test_a_state_comes_back_equal_and_goes_on_identically(kind: str) -> None:
    world, chance = make(kind), Random(3)
    for _ in steps_of(world):
        again = type(world).from_dict(json.loads(json.dumps(world.to_dict())))
        turn = choose(world, chance)
        assert again.to_dict() == world.to_dict()
        assert again.step(turn) == world.step(turn)
        assert again.state_hash() == world.state_hash()


@every_world
def test_every_legal_action_is_performed_by_who_acts_first(kind: str) -> None:
    world, chance = make(kind), Random(4)
    for _ in steps_of(world, FEW_STEPS):
        for seat in range(world.seats):
            for command in world.legal_actions(seat):
                assert first_event(world, seat, command) == ("performed", seat, list(command))
        world.step(choose(world, chance))


@every_world
def test_who_is_not_asked_may_do_nothing(kind: str) -> None:
    world, chance = make(kind), Random(9)
    for _ in steps_of(world):
        for seat in range(world.seats):
            assert world.asks(seat) or world.idle in world.legal_actions(seat)
        world.step(choose(world, chance))


@every_world
def test_an_action_that_is_not_legal_is_refused_with_reasons(kind: str) -> None:
    world, chance = make(kind), Random(5)
    met: set[Command] = set()
    for _ in steps_of(world, FEW_STEPS):
        for seat in range(world.seats):
            met |= set(world.legal_actions(seat))
            for command in (one for one in met if not world.allows(seat, one)):
                assert first_event(world, seat, command) == ("refused", seat, list(command))
        world.step(choose(world, chance))


def first_event(world: World, seat: int, command: Command) -> tuple[str, int | None, list[str]]:
    event = type(world).from_dict(world.to_dict()).step({seat: command})[0]
    if event.kind == "refused":
        assert event.data["reasons"]
    return event.kind, event.seat, event.data["command"]


@every_world
def test_every_amount_in_the_range_is_allowed_and_performed_and_no_other(kind: str) -> None:
    world, chance = make(kind), Random(10)
    for _ in steps_of(world, FEW_STEPS):
        for seat in range(world.seats):
            for command, (least, most) in world.amounts(seat).items():
                assert (*command, str(least)) in world.legal_actions(seat)
                for amount in {str(least), str(most)}:
                    assert world.allows(seat, (*command, amount))
                    assert first_event(world, seat, (*command, amount))[0] == "performed"
                for wrong in (str(least - 1), str(most + 1), f"0{most}", "1.0", "many", ""):
                    assert not world.allows(seat, (*command, wrong))
                    assert first_event(world, seat, (*command, wrong))[0] == "refused"
        world.step(choose(world, chance))


@every_world
def test_figures_computed_from_the_log_have_names_and_labels_of_their_own(kind: str) -> None:
    figures = metrics_of_world(kind)
    assert (
        len({figure.name for figure in figures}) == len({figure.label for figure in figures}) == len(figures)
    )
    assert not any(figure.so_far for figure in metrics_from_log(kind)), "a step has no such figure"


@every_world
def test_what_a_seat_knows_before_it_plays_does_not_follow_from_the_seed(kind: str) -> None:
    one, other = make(kind, seed=1), make(kind, seed=2)
    assert all(one.brief(seat) == other.brief(seat) for seat in range(one.seats))


@every_world
def test_what_anybody_may_know_is_the_same_for_every_seat(kind: str) -> None:
    world = make(kind)
    assert not world.public_brief().keys() & set(world.secret)
    for seat in range(world.seats):
        assert world.public_brief() == {name: world.brief(seat)[name] for name in world.public_brief()}


@every_world
def test_what_anybody_may_know_now_is_hidden_from_no_seat(kind: str) -> None:
    world, chance = make(kind), Random(7)
    for _ in steps_of(world):
        public = world.public_state()
        assert public.get("steps_left", 0) >= 0 and not public.keys() & set(world.secret)
        for seat in range(world.seats):
            known = {**world.brief(seat), **world.observe(seat)}
            assert {name: known.get(name, value) for name, value in public.items()} == public
        world.step(choose(world, chance))


@every_world
def test_anticipated_actions_are_not_legal_yet(kind: str) -> None:
    world, chance = make(kind), Random(6)
    for _ in steps_of(world):
        for seat in range(world.seats):
            assert not set(world.anticipated_actions(seat)) & set(world.legal_actions(seat))
        world.step(choose(world, chance))


@every_world
def test_senseless_commands_are_events_and_stop_nobody(kind: str) -> None:
    world = make(kind)
    turn = [(99, ("noop",)), (-1, ("noop",)), (0, ("",)), (0, ()), (1, world.legal_actions(1)[0])]
    events = world.step(turn)
    assert [event.kind for event in events[:5]] == ["refused"] * 4 + ["performed"]


@every_state
def test_what_a_world_tells_is_json_that_comes_back_equal(kind: str) -> None:
    world, chance = make(kind), Random(8)
    for _ in steps_of(world):
        told = [world.to_dict(), world.score(), world.public_state()]
        for seat in range(world.seats):
            told += [world.brief(seat), world.observe(seat)]
        told += [event.to_json() for event in world.step(choose(world, chance))]
        assert json.loads(json.dumps(told, allow_nan=False)) == told


@every_state
def test_what_a_world_tells_is_not_changed_by_a_later_step(kind: str) -> None:
    world, chance = make(kind), Random(9)
    for _ in steps_of(world):
        small = {name: value for name, value in world.to_dict().items() if name not in world.large}
        told: list[Any] = [small, world.score(), world.public_state()]
        for seat in range(world.seats):
            told += [world.brief(seat), world.observe(seat), list(world.legal_actions(seat))]
        before = json.dumps(told)
        world.step(choose(world, chance))
        assert json.dumps(told) == before


@every_world
def test_figures_have_names_and_labels_of_their_own(kind: str) -> None:
    figures = get_world(kind).figures
    assert figures and any(figure.measured for figure in figures)
    assert len({figure.name for figure in figures}) == len(figures)
    assert len({figure.label for figure in figures}) == len(figures)
    counts = {figure.name for figure in figures if figure.kind == "count"}
    assert all(set(figure.of) <= counts for figure in figures if figure.of)


@every_world
def test_the_score_has_every_figure_that_is_declared(kind: str) -> None:
    world, chance = make(kind), Random(9)
    while not world.has_ended:
        check_figures(world)
        world.step(choose(world, chance))
    check_figures(world)


def check_figures(world: World) -> None:
    score = world.score()
    for figure in world.figures:
        value = score[figure.name]
        if value is None:
            assert figure.undefined, f"{figure.name} is None, and nothing says when"
        elif figure.of:
            done, missed = (score[name] for name in figure.of)
            assert value == done / (done + missed)
        else:
            assert figure.holds(value), f"{figure.name} is {value}"


@every_world
def test_it_hides_only_metrics_that_it_has_and_none_under_a_clock(kind: str) -> None:
    """The ticks of a real-time world carry one score for all seats."""
    world = make(kind)
    hidden = frozenset[str]().union(*map(world.hidden_metrics, range(world.seats)))
    assert hidden <= {figure.name for figure in world.figures}
    assert not (hidden and world.tick_ms)


@every_world
def test_a_world_ends_after_its_length(kind: str) -> None:
    world = make(kind)
    taken = len(hashes(world, 10_000)) - 1
    assert world.has_ended
    assert world.length is None or taken == world.length == world.clock


@every_state
@pytest.mark.parametrize(("key", "value"), [("version", 0), ("kind", "other"), ("settings", None)])
def test_a_state_of_another_version_or_kind_is_refused(kind: str, key: str, value: object) -> None:
    with pytest.raises(StateError):
        get_world(kind).from_dict({**make(kind).to_dict(), key: value})


@every_world
def test_wrong_settings_are_refused(kind: str) -> None:
    world_class = get_world(kind)
    with pytest.raises(SettingsError):
        world_class.create(seats=1, settings={"no_such_setting": 1})
    for seats in (world_class.min_seats - 1, world_class.max_seats + 1):
        with pytest.raises(SettingsError):
            world_class.create(seats=seats, settings={})


@every_world
def test_default_settings_can_be_played(kind: str) -> None:
    assert all(setting.clean(setting.default) == setting.default for setting in get_world(kind).settings)


@every_world
def test_what_can_be_asked_of_a_seat_is_told_in_words_and_stands_somehow(kind: str) -> None:
    world, page = make(kind), get_page(kind)
    for seat in range(world.seats):
        aims = world.aims(seat)
        assert len(set(aims)) == len(aims) and all(isinstance(word, str) for aim in aims for word in aim)
        for aim in aims:
            since = json.loads(json.dumps(world.aim_mark(seat, aim)))
            assert world.aim_status(seat, aim, since) in {SUCCESS, FAIL, UNKNOWN}
            assert page.aimed(world.public_brief(), aim) and page.aim_group(aim)


def test_every_world_that_is_shipped_has_a_pursuer() -> None:
    blocks = [kind for kind in WORLDS if kind.startswith("blocks_")]
    for kind in ("collab_overcooked", "cuisine", "overcooked", *blocks):
        assert get_kit(kind).pursuer is not None


@pytest.mark.parametrize("kind", sorted(WORLDS))
def test_a_pursuer_knows_the_aims_of_every_seat_and_no_others(kind: str) -> None:
    """Whatever has happened before. A world without a pursuer has no aims."""
    world, chance = make(kind), Random(SEED)
    if get_kit(kind).pursuer is None:
        assert not any(map(world.aims, range(world.seats)))
        return
    pursuer = get_pursuer(kind)
    for _ in range(3):
        for seat in range(world.seats):
            situation = make_situation(world, (seat,), seed=chance.randrange(100))
            assert world.aims(seat) == make(kind).aims(seat) != []
            for aim in world.aims(seat):
                since = world.aim_mark(seat, aim)
                step = pursuer.pursue(situation, seat, aim, since)
                assert step.status == world.aim_status(seat, aim, since)
                assert step.command is None or world.allows(seat, step.command)
            assert pursuer.pursue(situation, seat, ("no such aim",), None).status == FAIL
        for _ in range(5):
            world.step(choose(world, chance))


@pytest.mark.parametrize("kind", sorted(WORLDS))
def test_a_playthrough_exists_and_agrees(kind: str) -> None:
    path = FOLDER / f"{kind}.txt"
    assert path.exists(), f"record one: see {replay.__module__}"
    text = path.read_text(encoding="utf-8")
    assert replay(text) == text


HASH_PROGRAM = """
from tests.kitchen.worlds.test_worlds import make, hashes
for kind in {kinds}:
    print(hashes(make(kind), 25)[-1])
"""


def test_hashes_are_equal_in_every_process() -> None:
    kinds = sorted([*WORLDS, Beacon.kind, Boulders.kind, Vault.kind])
    here = [hashes(make(kind), 25)[-1] for kind in kinds]
    for seed in ("0", "4242"):  # this process has a third one
        assert run(HASH_PROGRAM.format(kinds=kinds), seed).splitlines() == here


IMPORT_PROGRAM = """
import importlib, pkgutil, sys
import kitchen.worlds, kitchen.agents
for package in (kitchen.worlds, kitchen.agents):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
print(sorted(name for name in sys.modules if name.split(".")[0] in ("django", "study", "channels", "celery")))
"""


def test_worlds_and_co_players_import_no_django() -> None:
    assert run(IMPORT_PROGRAM, "0") == "[]"


def run(program: str, hash_seed: str) -> str:
    environment = {
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": str(ROOT),
        "PATH": "",
        WORLDS_VARIABLE: OTHERS,
    }
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
