"""The rules of the grids, as acceptance cases of the page they were written from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from kitchen.contract.world import Command, Event
from kitchen.contract.world_errors import SettingsError, StateError
from kitchen.worlds.overcooked.world import Overcooked


def world(**settings: Any) -> Overcooked:
    made = Overcooked.create(seats=2, settings=settings)
    made.reset(0)
    return made


def placed(
    players: Sequence[tuple[tuple[int, int], str, Any]],
    *,
    more: dict[str, Any] | None = None,
    **settings: Any,
) -> Overcooked:
    """A world in which the seats stand, face and hold so."""
    stored = world(**settings).to_dict()
    stored["players"] = [{"at": list(at), "face": face, "holds": holds} for at, face, holds in players]
    return Overcooked.from_dict({**stored, **(more or {})})


def act(game: Overcooked, first: str, second: str = "stay") -> tuple[Event, ...]:
    return game.step({0: (first,), 1: (second,)})


def stands(game: Overcooked) -> list[tuple[int, int]]:
    return [(x, y) for x, y in (player["at"] for player in game.observe(0)["players"])]


def holds(game: Overcooked) -> list[Any]:
    return [player["holds"] for player in game.observe(0)["players"]]


def reasons(events: Sequence[Event], seat: int = 0) -> list[str]:
    return [code for event in events if event.seat == seat for code in event.data.get("reasons", ())]


WAY = (
    "north west interact east north interact west interact east north interact west interact east north "
    "interact west south interact north east north"
)
ONE_SOUP = [*WAY.split(), *["stay"] * 13, *["interact", "south", "east", "south", "interact"]]
SOUP = ["soup", ["onion"] * 3]


@pytest.mark.parametrize(
    ("step", "at", "face", "held", "pot", "points"),
    [
        (1, (1, 1), "north", None, None, 0),
        (2, (1, 1), "west", None, None, 0),
        (3, (1, 1), "west", "onion", None, 0),
        (5, (2, 1), "north", "onion", None, 0),
        (6, (2, 1), "north", None, (1, None), 0),
        (16, (2, 1), "north", None, (3, 19), 0),
        (19, (1, 2), "south", "dish", (3, 16), 0),
        (35, (2, 1), "north", "dish", (3, 0), 0),
        (36, (2, 1), "north", SOUP, None, 0),
        (37, (2, 2), "south", SOUP, None, 0),
        (38, (3, 2), "east", SOUP, None, 0),
        (39, (3, 2), "south", SOUP, None, 0),
        (40, (3, 2), "south", None, None, 20),
    ],
)
def test_one_soup_by_seat_0_alone(
    step: int, at: tuple[int, int], face: str, held: Any, pot: tuple[int, int | None] | None, points: int
) -> None:
    game = world()
    for word in ONE_SOUP[:step]:
        act(game, word)
    seen = game.observe(0)
    me = seen["players"][0]
    pots = {tuple(each["at"]): (len(each["contents"]), each["left"]) for each in seen["pots"]}
    assert (tuple(me["at"]), me["face"], me["holds"]) == (at, face, held)
    assert (pots.get((2, 0)), seen["points"]) == (pot, points)


def test_a_soup_cannot_be_taken_a_tick_too_early() -> None:
    game = world()
    for word in ONE_SOUP[:34]:
        act(game, word)
    assert reasons(act(game, "interact")) == ["not_ready"]
    assert reasons(act(game, "interact")) == [] and holds(game)[0] == SOUP


def test_what_happens_to_a_soup_is_told_in_order() -> None:
    game = world()
    told = [event for word in ONE_SOUP for event in act(game, word) if event.kind not in ("performed",)]
    assert [(event.kind, event.seat) for event in told] == [
        ("started", None),
        ("ready", None),
        ("delivered", 0),
    ]
    assert told[0].data == told[1].data == {"pot": [2, 0]}
    assert told[2].data == {"ingredients": ["onion"] * 3, "points": 20}
    assert game.score()["soups"] == game.score()["deliveries_seat_0"] == 1


@pytest.mark.parametrize(
    ("cells", "commands", "after", "kept"),
    [
        (((2, 1), (3, 1)), ("east", "west"), ((2, 1), (3, 1)), ("seat", "seat")),
        (((1, 1), (3, 1)), ("east", "west"), ((1, 1), (3, 1)), ("seat", "seat")),
        (((2, 1), (3, 1)), ("east", "stay"), ((2, 1), (3, 1)), ("seat", None)),
        (((2, 1), (3, 1)), ("east", "south"), ((3, 1), (3, 2)), (None, None)),
        (((2, 1), (3, 1)), ("east", "north"), ((2, 1), (3, 1)), ("seat", "counter")),
    ],
)
def test_seats_that_meet(cells: Any, commands: tuple[str, str], after: Any, kept: Any) -> None:
    game = placed([(cells[0], "north", None), (cells[1], "north", None)], layout="cramped_room")
    events = act(game, *commands)
    assert tuple(stands(game)) == after
    assert tuple(event.data.get("blocked_by") for event in events) == kept
    assert [player["face"] for player in game.observe(0)["players"]] == [
        word if word != "stay" else "north" for word in commands
    ]
    assert game.score()["collisions"] == ("seat" in kept)


@pytest.mark.parametrize(
    ("held", "after", "refused"),
    [(("onion", None), [None, "onion"], []), ((None, "onion"), [None, None], ["nothing_there"])],
)
def test_seat_1_meets_what_seat_0_has_just_done(held: Any, after: Any, refused: list[str]) -> None:
    game = placed([((3, 2), "west", held[0]), ((1, 2), "east", held[1])], layout="forced_coordination")
    expected = [("interact",)] if held[0] else []
    assert [each for each in game.anticipated_actions(1) if each not in game.legal_actions(1)] == expected
    events = act(game, "interact", "interact")
    assert holds(game) == after and reasons(events) == refused
    assert [each["thing"] for each in game.observe(0)["counters"]] == (["onion"] if refused else [])


AT_POT = ((2, 1), "north")
ASIDE = ((1, 2), "west", None)


def at_pot(held: str | None, contents: list[str], started: int | None = None, **settings: Any) -> Overcooked:
    """Seat 0 before the pot of cramped_room, which holds this."""
    pots = [[[2, 0], contents, started]] if contents else []
    more = {"pots": pots, "clock": 0 if started is None else started + 1}
    return placed([(*AT_POT, held), ASIDE], more=more, cooking="interact", **settings)


def test_a_full_pot_waits_for_whoever_starts_it() -> None:
    game = at_pot(None, ["onion"] * 3)
    for _ in range(30):
        act(game, "stay")
    assert game.observe(0)["pots"][0]["left"] is None
    events = act(game, "interact")
    assert [event.kind for event in events] == ["performed", "performed", "started"]
    assert game.observe(0)["pots"][0]["left"] == 19


@pytest.mark.parametrize(
    ("held", "contents", "started", "code"),
    [
        ("onion", ["onion"] * 3, None, "pot_full"),
        ("onion", ["onion"], 0, "pot_cooking"),
        (None, ["onion"], 0, "pot_cooking"),
        (None, [], None, "nothing_there"),
        ("dish", ["onion"], 0, "not_ready"),
        ("dish", [], None, "wrong_item"),
        ("dish", ["onion"], None, "wrong_item"),
    ],
)
def test_a_pot_refuses(held: str | None, contents: list[str], started: int | None, code: str) -> None:
    game = at_pot(held, contents, started)
    before = game.observe(0)
    assert ("interact",) not in game.legal_actions(0)
    assert reasons(act(game, "interact")) == [code]
    assert game.observe(0)["players"] == before["players"]


def test_a_pot_of_one_onion_is_ready_after_20_steps_and_worth_nothing() -> None:
    game = at_pot(None, ["onion"])
    kinds = [event.kind for event in act(game, "interact")]
    for _ in range(19):
        kinds += [event.kind for event in act(game, "stay")]
    assert kinds.count("ready") == 1 and kinds[-1] == "ready"
    serving = placed([((3, 2), "south", ["soup", ["onion"]]), ASIDE])
    events = act(serving, "interact")
    assert events[-1].kind == "delivered" and events[-1].data["points"] == 0
    score = serving.score()
    assert (score["points"], score["soups"], score["deliveries_seat_0"]) == (0, 0, 1)
    assert holds(serving)[0] is None


VALUES = [
    ("counter_circuit_tomato", "OT", 68, 22),
    ("counter_circuit_tomato", "OOT", 55, 37),
    ("counter_circuit_tomato", "OTT", 47, 29),
    ("counter_circuit_tomato", "TTT", 0, 21),
    ("cramped_room_tomato", "OOO", 45, 30),
    ("cramped_room_tomato", "TTT", 30, 30),
    ("cramped_room_tomato", "OT", 50, 20),
    ("cramped_room_tomato", "OOT", 0, 30),
    ("asymmetric_advantages_tomato", "OOO", 63, 45),
    ("asymmetric_advantages_tomato", "OOT", 110, 37),
    ("asymmetric_advantages_tomato", "TTT", 78, 21),
    ("asymmetric_advantages_tomato", "T", 13, 7),
    ("cramped_room", "OOO", 20, 20),
]


@pytest.mark.parametrize(("layout", "soup", "points", "ticks"), VALUES)
def test_soups_have_their_values_and_times(layout: str, soup: str, points: int, ticks: int) -> None:
    contents = tuple(sorted({"O": "onion", "T": "tomato"}[letter] for letter in soup))
    found = world(layout=layout).layout
    assert (found.points(contents), found.ticks(contents)) == (points, ticks)


@pytest.mark.parametrize(
    ("at", "face", "held", "code"),
    [
        ((1, 1), "north", None, "nothing_there"),
        ((1, 1), "east", None, "nothing_there"),
        ((1, 1), "west", "dish", "hands_full"),
        ((3, 2), "south", None, "hands_empty"),
        ((3, 2), "south", "dish", "not_a_soup"),
        ((2, 1), "north", None, "hands_empty"),
        ((2, 1), "north", SOUP, "wrong_item"),
    ],
)
def test_an_interact_that_changes_nothing_says_why(
    at: tuple[int, int], face: str, held: Any, code: str
) -> None:
    game = placed([(at, face, held), ((1, 2), "west", None)])
    assert reasons(act(game, "interact")) == [code]


def test_a_counter_holds_one_thing() -> None:
    lying = {"counters": [[[1, 0], "onion"]]}
    game = placed([((1, 1), "north", "dish"), ASIDE], more=lying)
    assert reasons(act(game, "interact")) == ["place_taken"]


def test_who_has_no_command_stays_and_is_counted() -> None:
    game = world()
    assert [event.seat for event in game.step({1: ("west",)})] == [1]
    assert game.score()["idle_ticks_seat_0"] == 1 and game.score()["idle_ticks_seat_1"] == 0


def test_events_come_in_the_order_in_which_commands_were_handed_in() -> None:
    game = placed([((3, 2), "west", "onion"), ((1, 2), "east", None)], layout="forced_coordination")
    events = game.step([(1, ("interact",)), (0, ("interact",))])
    assert [(event.kind, event.seat) for event in events] == [("performed", 1), ("performed", 0)]
    assert holds(game) == [None, "onion"], "seat 0's has its effect first all the same"


def test_tomatoes_are_not_cooked_in_the_old_way() -> None:
    assert world(layout="cramped_room_tomato").brief(0)["cooking"] == "interact"
    with pytest.raises(SettingsError, match=r"^cooking: "):
        world(layout="cramped_room_tomato", cooking="auto")


def test_drawn_starts_follow_from_the_seed_and_stay_in_their_rooms() -> None:
    game = world(layout="forced_coordination", start="drawn")
    seen = set()
    for seed in range(60):
        game.reset(seed)
        seen.add(tuple(stands(game)))
    assert {first[0] for first, _ in seen} == {3} and {second[0] for _, second in seen} == {1}
    assert len(seen) == 9
    both = world(start="drawn")
    both.reset(5)
    again = world(start="drawn")
    again.reset(5)
    assert stands(both) == stands(again)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("clock", 500),
        ("players", [{"at": [0, 0], "face": "north", "holds": None}] * 2),
        ("players", [{"at": [1, 2], "face": "north", "holds": None}] * 2),
        ("counters", [[[1, 1], "onion"]]),
        ("pots", [[[2, 0], ["dish"], None]]),
        ("pots", [[[2, 0], ["onion"], 7]]),
        ("tally", {}),
    ],
)
def test_a_damaged_state_is_not_played(part: str, value: Any) -> None:
    stored = world().to_dict()
    with pytest.raises(StateError):
        Overcooked.from_dict(json.loads(json.dumps({**stored, part: value})))


def test_a_restored_pot_goes_on_cooking_and_says_when_it_is_ready() -> None:
    game = at_pot(None, ["onion"] * 3)
    act(game, "interact")
    again = Overcooked.from_dict(json.loads(json.dumps(game.to_dict())))
    kinds = [event.kind for _ in range(25) for event in act(again, "stay")]
    assert kinds.count("ready") == 1 and kinds.count("started") == 0


def test_all_six_are_accepted_always() -> None:
    game = world()
    words: list[Command] = [("north",), ("south",), ("east",), ("west",), ("interact",), ("stay",)]
    assert all(game.accepts(0, word) for word in words) and not game.accepts(0, ("jump",))
