"""Organisations: who may command and write to whom, worked out by hand, and what is refused in words."""

from __future__ import annotations

import json

import pytest

from kitchen.contract.organisation import (
    ORGANISATION_KINDS,
    ORGANISATION_LABELS,
    Member,
    Organisation,
    make_organisation,
)
from kitchen.contract.organisation_settings import (
    ORGANISATION_SETTINGS,
    SETTINGS_BY_KIND,
    applicable_settings,
)
from kitchen.contract.world_errors import SettingsError

PERSON = Member(0, (0,), is_person=True)
ROBOTS = (Member(1, (1,), is_person=False), Member(2, (2,), is_person=False))
LEAD = Member(3, (), is_person=True, name="Lead")
THREE = (PERSON, *ROBOTS)


def pairs(text: str) -> frozenset[tuple[int, int]]:
    """`01 12` as pairs."""
    return frozenset((int(pair[0]), int(pair[1])) for pair in text.split())


@pytest.mark.parametrize(
    ("kind", "commands", "writes"),
    [
        ("each", "", ""),
        ("chain", "01 12", "01 12 10 21"),
        ("graph", "01 02 10 12 20 21", "01 02 10 12 20 21"),
        ("pairwise", "", "01 02 10 12 20 21"),
        ("tree", "01 02", "01 02 10 20 12 21"),
    ],
)
def test_commands_and_messages_follow_from_the_kind(kind: str, commands: str, writes: str) -> None:
    made = make_organisation(kind, THREE, seats=3)
    assert (made.commands, made.writes) == (pairs(commands), pairs(writes))
    assert made.is_silent is (kind == "each")


def test_people_and_co_players_write_to_each_other_where_there_is_talk() -> None:
    one_mind = (PERSON, Member(1, (1, 2), is_person=False))
    assert make_organisation("central", one_mind, seats=3).is_silent
    assert make_organisation("central", one_mind, seats=3, settings={"talk": True}).writes == pairs("01 10")
    assert make_organisation("each", THREE, seats=3, settings={"talk": True}).writes == pairs("01 02 10 20")


def test_leaves_may_be_forbidden_to_talk() -> None:
    made = make_organisation("tree", THREE, seats=3, settings={"leaves_talk": False})
    assert made.writes == pairs("01 02 10 20")


def test_a_job_goes_down_an_edge_and_its_report_goes_up() -> None:
    made = make_organisation("tree", THREE, seats=3)
    assert made.to(0, "inform") == (1, 2) and made.to(1, "inform") == ()
    assert made.to(1, "report") == (0,) and made.to(0, "report") == ()
    assert made.to(1, "say") == (0, 2)
    assert made.to(0, "system") == made.to(0, "shout") == ()
    assert made.commanders_of(2) == (0,) and made.commanded_by(0) == (1, 2)


def test_pairs_of_ones_own_are_taken_as_they_are() -> None:
    made = make_organisation("custom", THREE, seats=3, commands=[(1, 0)], writes=[(1, 0), (0, 2)])
    assert (made.commands, made.writes) == (pairs("10"), pairs("10 02"))


@pytest.mark.parametrize(("sees", "seen"), [("private", (0,)), ("team", (0, 1)), ("all", (0, 1, 2))])
def test_leaders_see_the_chosen_seats_and_others_their_own(sees: str, seen: tuple[int, ...]) -> None:
    made = make_organisation("custom", THREE, seats=3, settings={"sees": sees}, commands=[(0, 1)])
    assert made.seats_seen(0) == seen
    assert made.seats_seen(1) == (1,)


def test_a_leader_without_a_robot_is_a_member_beyond_the_seats() -> None:
    members = (LEAD, PERSON, *ROBOTS)
    made = make_organisation("tree", members, seats=3, settings={"sees": "team"})
    assert made.commanded_by(3) == (0, 1, 2)
    assert made.seats_seen(3) == (0, 1, 2)
    assert made.holder(3) == LEAD and made.holder(2) == ROBOTS[1]


def test_it_is_the_same_after_it_was_stored() -> None:
    made = make_organisation(
        "tree",
        (LEAD, PERSON, *ROBOTS),
        seats=3,
        settings={"messages_a_step": 5, "sees": "all", "spoken": True},
    )
    assert Organisation.from_json(json.loads(json.dumps(made.to_json()))) == made


@pytest.mark.parametrize(
    ("kind", "members", "more", "why"),
    [
        ("clan", THREE, {}, "organisation: clan is not one of"),
        ("each", (), {}, "there is nobody"),
        ("each", THREE[:2], {}, "each of the seats 0 to 2 is to be held once, not [0, 1]"),
        ("each", (*THREE, PERSON), {}, "is to be held once, not [0, 0, 1, 2]"),
        ("each", (Member(1, (0,), is_person=True), *ROBOTS), {}, "1 is not the first seat of [0]"),
        ("tree", (*THREE, Member(5, (), is_person=True, name="Lead")), {}, "numbered from 3 on"),
        ("tree", (*THREE, Member(3, (), is_person=True)), {}, "needs a name"),
        ("each", (PERSON, Member(1, (1, 2), is_person=False)), {}, "each seat has a member of its own"),
        ("solo", THREE, {}, "is one, not 3"),
        ("pair", THREE, {}, "a pair is two, not 3"),
        ("tree", THREE, {"settings": {"talk": True}}, "talk: it means nothing in tree"),
        ("each", THREE, {"settings": {"leaves_talk": False}}, "leaves_talk: it means nothing in each"),
        ("tree", THREE, {"settings": {"messages_a_step": 0}}, "messages_a_step: 0 is below 1"),
        ("tree", THREE, {"settings": {"rounds": 5}}, "rounds: it means nothing in tree"),
        ("each", THREE, {"settings": {"within": True}}, "within: nobody may write to anybody"),
        ("pairwise", THREE, {"settings": {"within": True}}, "within: it means nothing in pairwise"),
        ("pair", THREE[:2], {"settings": {"schedule": "free"}}, "schedule: it means nothing in pair"),
        (
            "tree",
            THREE,
            {"settings": {"schedule": "daily"}},
            "schedule: 'daily' is not one of together",
        ),
        (
            "tree",
            THREE,
            {"settings": {"schedule": [1]}},
            "schedule: [1] is not one of together, relay",
        ),
        ("tree", THREE, {"settings": {"cycle_limit": 4}}, "cycle_limit: it means nothing in tree"),
        ("tree", THREE, {"settings": {"think_steps": 3}}, "think_steps: it means nothing in tree"),
        (
            "tree",
            THREE,
            {"settings": {"schedule": "free", "within": True}},
            "schedule: members who talk within the step choose together",
        ),
        ("tree", THREE, {"settings": {"loud": True}}, "loud: no such setting"),
        ("tree", THREE, {"writes": [(0, 1)]}, "pairs are given for custom, not for tree"),
        ("custom", THREE, {"writes": [(0, 0)]}, "writes: 0 to 0 does not lead from one member to another"),
        ("custom", THREE, {"commands": [(0, 7)]}, "commands: 0 to 7 does not lead"),
    ],
)
def test_an_invalid_organisation_is_refused_in_words(
    kind: str, members: tuple[Member, ...], more: dict[str, object], why: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        make_organisation(kind, members, seats=3, **more)  # type: ignore[arg-type]
    assert why in str(refused.value)


def test_a_leader_can_give_every_worker_a_job_in_one_step_unless_messages_are_limited() -> None:
    five = (PERSON, *(Member(seat, (seat,), is_person=False) for seat in range(1, 5)))
    assert make_organisation("tree", five, seats=5).messages_a_step == 4
    assert make_organisation("tree", five, seats=5, settings={"messages_a_step": 2}).messages_a_step == 2
    assert make_organisation("chain", five, seats=5).messages_a_step == 3, "each leads one"


def test_members_talk_within_the_step_in_a_pair_and_where_that_is_set() -> None:
    pair, graph = make_organisation("pair", THREE[:2], seats=2), make_organisation("graph", THREE, seats=3)
    within = make_organisation("graph", THREE, seats=3, settings={"within": True, "rounds": 5})
    fewer = {"within": True, "rounds": 5, "messages_a_step": 2}
    assert within.messages_a_step == 5, "nobody is silenced before the last round, unless that is set"
    assert make_organisation("graph", THREE, seats=3, settings=fewer).messages_a_step == 2
    assert (pair.talks_within, graph.talks_within, within.talks_within) == (True, False, True)
    assert "within" not in pair.to_json() and "within" not in graph.to_json()
    assert Organisation.from_json(json.loads(json.dumps(within.to_json()))) == within
    assert applicable_settings("graph", {}) == {
        *("spoken", "messages_a_step", "sees", "schedule", "unasked", "takes_step", "cycle_limit")
    }
    talks_before = applicable_settings("graph", {}) - {"takes_step"}
    assert applicable_settings("graph", {"within": True}) == talks_before | {"within", "rounds"}
    assert "rounds" in applicable_settings("pair", {}) and "within" not in applicable_settings("pair", {})


def test_a_schedule_is_stored_with_its_settings_and_together_leaves_no_trace() -> None:
    usual = make_organisation("graph", THREE, seats=3, settings={"schedule": "together"})
    assert usual == make_organisation("graph", THREE, seats=3)
    assert (usual.think_steps, usual.to_json().keys() & {"schedule", "think_steps", "stale"}) == (0, set())
    free = make_organisation("graph", THREE, seats=3, settings={"schedule": "free", "stale": "drop"})
    assert (free.schedule, free.think_steps, free.stale) == ("free", 2, "drop")
    assert Organisation.from_json(json.loads(json.dumps(free.to_json()))) == free
    wide = make_organisation("graph", THREE, seats=3, settings={"cycle_limit": 5})
    assert Organisation.from_json(json.loads(json.dumps(wide.to_json()))) == wide
    assert "cycle_limit" not in free.to_json()


def test_members_may_think_as_long_as_they_really_do() -> None:
    settings = {"schedule": "free", "think_steps": "real"}
    real = make_organisation("graph", THREE, seats=3, settings=settings)
    assert (real.thinks_in_real_time, real.least_think_steps) == (True, 1)
    assert real.to_json()["think_steps"] == "real"
    assert Organisation.from_json(json.loads(json.dumps(real.to_json()))) == real
    with pytest.raises(SettingsError, match="think_steps: 'long' is not a whole number or real"):
        make_organisation("graph", THREE, seats=3, settings={**settings, "think_steps": "long"})


@pytest.mark.parametrize("kind", ["chain", "graph", "tree"])
def test_a_leader_needs_others(kind: str) -> None:
    with pytest.raises(SettingsError, match="two at least"):
        make_organisation(kind, THREE[:1], seats=1)


def test_every_kind_has_its_words_and_its_settings() -> None:
    assert set(ORGANISATION_KINDS) == set(ORGANISATION_LABELS) == set(SETTINGS_BY_KIND)
    assert {name for names in SETTINGS_BY_KIND.values() for name in names} == {
        setting.name for setting in ORGANISATION_SETTINGS
    }
