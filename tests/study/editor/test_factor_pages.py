"""Factors in the console: from values of a field, from whole conditions, and the cells' conditions."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from study.design.blueprint import blueprint_of
from study.design.condition_seats import seats_of
from study.design.factors import cell_fields
from study.design.models import Condition, Study
from study.design.readiness_checks import readiness_problems
from study.editor.describe_design import study_pairs
from study.editor.factor_forms import (
    ValuesFactorForm,
    condition_values,
    field_choices,
    path_label,
    unused_key,
)
from study.editor.team_factor_fields import team_value_field
from study.participants.models import Participant
from study.participants.participant_counts import condition_progress
from tests.nightly import nightly
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db

THERE = "/staff/small/design/factors/"


@pytest.fixture
def study() -> Study:
    made = make_study(conditions=1, items=1)
    made.conditions.update(coplayer="random", teammates=1)
    return made


def add(client: Client, path: str, **more: Any) -> HttpResponse:
    """Add a factor; the answer is the page that follows."""
    sent = {"where": "within", **more}
    return client.post(f"{THERE}new/?field={path}", sent, follow=True)  # type: ignore[return-value]


def make(client: Client, *cells: str, confirm: bool = True) -> str:
    sent: dict[str, Any] = {"cell": list(cells), **({"sure": "1"} if confirm else {})}
    return client.post(f"{THERE}cells/", sent, follow=True).content.decode()


def two_by_two(client: Client) -> None:
    add(client, "coplayer", name="Partner", values=["random", "planner"])
    add(client, "settings.level", name="Level", values=["level_1", "level_2"])


def keys(study: Study) -> list[str]:
    return list(study.conditions.values_list("key", flat=True))


def test_two_factors_within_people_make_four_conditions(study: Study, admin_client: Client) -> None:
    two_by_two(admin_client)
    page = admin_client.get(THERE).content.decode()
    assert page.count("not made") == 4
    told = make(admin_client, "random_level_1", "random_level_2", "planner_level_1", "planner_level_2")
    assert "4 conditions: made from the factors." in told
    assert keys(study) == ["random_level_1", "random_level_2", "planner_level_1", "planner_level_2"]
    base, *_, last = study.conditions.all()
    assert (last.coplayer, last.settings["level"]) == ("planner", "level_2")
    assert last.levels == {"partner": "planner", "level": "level_2"}
    assert (last.step_seconds, last.settings["max_steps"]) == (base.step_seconds, base.settings["max_steps"])
    assert len({one.label for one in study.conditions.all()}) == 4
    assert last.name == "Planner, level_2: Sashimi"
    study.refresh_from_db()
    assert [one.key for one in blueprint_of(study).factors] == ["partner", "level"]


def test_a_cell_that_was_changed_by_hand_is_marked_and_made_again(study: Study, admin_client: Client) -> None:
    two_by_two(admin_client)
    cells = ("random_level_1", "random_level_2", "planner_level_1", "planner_level_2")
    make(admin_client, *cells)
    Condition.objects.filter(key="planner_level_2").update(step_seconds=9, shows_intents=True)
    page = admin_client.get(THERE).content.decode()
    assert page.count("differs in:") == 1
    assert "Step timer, seconds" in page
    before = dict(study.conditions.values_list("key", "pk"))
    make(admin_client, *cells)
    assert "differs in:" not in admin_client.get(THERE).content.decode()
    assert dict(study.conditions.values_list("key", "pk")) == before


def test_a_factor_between_people_makes_groups(study: Study, admin_client: Client) -> None:
    add(admin_client, "coplayer", name="Partner", values=["random", "planner"])
    add(admin_client, "step_seconds", name="Pace", where="between", values="5, none")
    make(admin_client, "random_5", "random_none", "planner_5", "planner_none")
    study.refresh_from_db()
    assert study.between_groups == "5 none"
    rows = study.conditions.values_list("key", "between_group", "within_level", "step_seconds")
    assert list(rows)[:2] == [("random_5", "5", "random", 5.0), ("random_none", "none", "random", None)]
    assert study.orders_problem() == ""
    page = admin_client.get("/staff/small/design/orders/").content.decode()
    assert 'name="between_groups"' not in page
    assert 'name="one_round_per"' in page


def test_part_of_the_cells_can_be_played_and_what_is_left_out_must_be_confirmed(
    study: Study, admin_client: Client
) -> None:
    two_by_two(admin_client)
    told = make(admin_client, "random_level_1", "planner_level_2", confirm=False)
    assert "tick the box to confirm" in told
    assert study.conditions.count() == 1
    make(admin_client, "random_level_1", "planner_level_2")
    assert keys(study) == ["random_level_1", "planner_level_2"]
    assert "Choose two cells or more" in make(admin_client, "random_level_1")
    assert study.conditions.count() == 2


def test_levels_are_taken_from_whole_conditions(study: Study, admin_client: Client) -> None:
    base = study.conditions.get()
    other = Condition.objects.create(
        study=study, key="slow", name="Slow", label="Team S", position=9, world=base.world,
        settings={**base.settings, "level": "level_2"}, coplayer="planner", teammates=2, step_seconds=30,
    )  # fmt: skip
    answer = add(admin_client, "conditions", name="Task", conditions=[base.pk, other.pk])
    assert "The factor Task was added." in answer.content.decode()
    add(admin_client, "three_dimensions", name="Scene", values=["none", "on"])
    told = make(admin_client, f"{base.key}_off", f"{base.key}_on", "slow_off", "slow_on")
    assert "4 conditions" in told
    slow = study.conditions.get(key="slow_on")
    assert (slow.teammates, slow.step_seconds, slow.settings["level"]) == (2, 30, "level_2")
    assert slow.three_dimensions


def test_a_factor_can_be_renamed_moved_between_people_and_removed(study: Study, admin_client: Client) -> None:
    two_by_two(admin_client)
    sent = {"name": "Who", "where": "between", "level_random": "By chance", "level_planner": "Plans"}
    admin_client.post(f"{THERE}partner/", sent)
    make(admin_client, "random_level_1", "random_level_2", "planner_level_1", "planner_level_2")
    study.refresh_from_db()
    assert study.between_groups == "random planner"
    assert study.conditions.first().name.startswith("By chance, ")  # type: ignore[union-attr]
    admin_client.post(f"{THERE}partner/remove/")
    make(admin_client, "level_1", "level_2")
    study.refresh_from_db()
    assert (study.between_groups, keys(study)) == ("", ["level_1", "level_2"])
    assert admin_client.get(f"{THERE}partner/").status_code == 404


@pytest.mark.parametrize(
    ("path", "sent", "reason"),
    [
        ("coplayer", {"values": ["random"]}, "needs two levels"),
        ("step_seconds", {"values": "3"}, "Enter two values or more"),
        ("step_seconds", {"values": "3, fast"}, "fast: Enter a number"),
        ("step_seconds", {"values": "3, 0"}, "0: Ensure this value"),
        ("settings.level", {"values": ["level_1", "level_99"]}, "level_99"),
        ("coplayer", {"values": ["random", "planner"], "name": " "}, "This field is required"),
        ("conditions", {"conditions": []}, "This field is required"),
    ],
)
def test_wrong_levels_are_refused_with_a_reason_and_nothing_is_stored(
    study: Study, admin_client: Client, path: str, sent: dict[str, Any], reason: str
) -> None:
    answer = add(admin_client, path, **{"name": "A", **sent})
    assert answer.status_code == 422
    assert reason in answer.content.decode()
    study.refresh_from_db()
    assert study.factors == []


def test_two_factors_of_one_field_and_unknown_fields_are_refused(study: Study, admin_client: Client) -> None:
    two_by_two(admin_client)
    answer = add(admin_client, "coplayer", name="Again", values=["random", "planner"])
    assert "both set coplayer" in answer.content.decode()
    assert add(admin_client, "seed", name="A", values="1, 2").status_code == 404


def test_a_cell_that_cannot_be_played_is_named_and_nothing_changes(
    study: Study, admin_client: Client
) -> None:
    add(admin_client, "teammates", name="Size", values="1, 60")
    told = make(admin_client, "1", "60")
    assert "60 cannot be played" in told
    assert study.conditions.count() == 1


def test_each_participant_plays_one_condition_of_each_level(study: Study, admin_client: Client) -> None:
    two_by_two(admin_client)
    make(admin_client, "random_level_1", "random_level_2", "planner_level_1", "planner_level_2")
    orders = "/staff/small/design/orders/"
    admin_client.post(orders, {"orders": "balanced", "one_round_per": "level", "blocked_by": ""})
    study.refresh_from_db()
    assert (study.one_round_per, blueprint_of(study).rounds) == ("level", 2)
    told = {one.label: one.value or one.many for one in study_pairs(blueprint_of(study))}
    assert told["Factors"][1] == (
        "Level (within participants): level_1: Three meatcakes and level_2: Sashimi"
    )
    assert "one condition of each level of Level, 2 rounds in all" in told["Who plays what"]
    played: list[str] = []
    for number in range(4):
        person = enter(study, f"entry {number}")
        own = [one.condition for one in person.rounds.order_by("position")]
        assert {one.levels["level"] for one in own} == {"level_1", "level_2"}
        played += [one.key for one in own]
    assert sorted(map(played.count, keys(study))) == [2, 2, 2, 2]
    assert Participant.objects.filter(sequence=None).count() == 0
    Study.objects.update(planned_participants=10)
    study.refresh_from_db()
    counted = condition_progress(study)
    assert [(one.playing, one.expected, one.open) for one in counted] == [(2, 5.0, 3.0)] * 4
    assert "Participants in each condition" in admin_client.get(orders).content.decode()
    assert "Participants in each condition" in admin_client.get("/staff/small/live/").content.decode()


def test_with_a_part_of_the_conditions_the_mixed_model_must_be_planned(
    study: Study, admin_client: Client
) -> None:
    two_by_two(admin_client)
    make(admin_client, "random_level_1", "random_level_2", "planner_level_1", "planner_level_2")
    Study.objects.update(one_round_per="level", main_test="friedman")
    study.refresh_from_db()
    told = [one.words for one in readiness_problems(study) if one.page == "plan"]
    assert any("cannot test factors" in words for words in told)
    assert any("Plan the linear mixed model" in words for words in told)
    page = admin_client.get("/staff/small/design/plan/").content.decode()
    assert "Linear mixed model of all factors" in page and "Friedman" not in page
    Study.objects.update(main_test="mixed")
    Condition.objects.filter(key="random_level_1").update(levels={})
    study.refresh_from_db()
    (words,) = [one.words for one in readiness_problems(study) if one.page == "factors"]
    assert words.startswith("Random, level_1: Three meatcakes: no cell of the factors.")


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ({"one_round_per": "level", "rounds_per_person": "2"}, "Leave this empty"),
        ({"rounds_per_person": "9"}, "2 to 4 rounds, not 9"),
        *nightly(
            ({"one_round_per": "level", "blocked_by": "partner"}, "Leave this empty"),
            ({"rounds_per_person": "1"}, "greater than or equal to 2"),
        ),
    ],
)
def test_plans_of_rounds_that_do_not_fit_are_refused(
    study: Study, admin_client: Client, sent: dict[str, str], reason: str
) -> None:
    two_by_two(admin_client)
    make(admin_client, "random_level_1", "random_level_2", "planner_level_1", "planner_level_2")
    answer = admin_client.post("/staff/small/design/orders/", {"orders": "balanced", **sent})
    assert answer.status_code == 422
    assert reason in answer.content.decode()


def test_keys_are_made_from_names_and_unique() -> None:
    assert unused_key("Two, or more!", set()) == "two_or_more"
    assert unused_key("…", {"level"}) == "level_2"
    assert unused_key("a" * 30, {"a" * 24}) == "a" * 22 + "_2"


def led(**more: Any) -> Condition:
    """The base condition of a study in which two co-players work beside the participant."""
    made = make_study(conditions=1, items=1)
    organisation = {"kind": "tree", "people": [0], "leads": 0, "settings": {"sees": "all"}}
    made.conditions.update(coplayer="follower", teammates=2, organisation=organisation, **more)
    return made.conditions.get()


VARIED = {
    "organisation.people": (["0", "1"], [[0], [1]]),
    "organisation.leads": (["0", "2"], [0, 2]),
    "organisation.apart": (["on", "none"], [True, False]),
    "organisation.kind": (["tree", "chain"], ["tree", "chain"]),
    "organisation.settings.leaves_talk": (["on", "none"], [True, False]),
    "organisation.settings.spoken": (["on", "none"], [True, False]),
    "organisation.settings.schedule": (["together", "relay"], ["together", "relay"]),
    "step_seconds": ("3, none", [3.0, None]),
    "shows_intents": (["on", "none"], [True, False]),
    "recommends_sound": (["on", "none"], [True, False]),
    "knowing": (["everybody", "people"], ["everybody", "people"]),
    "decision_seconds": ("5, 9", [5.0, 9.0]),
    "ends_at_goal": (["on", "none"], [True, False]),
    "goal.completed": ("2, 4", [2.0, 4.0]),
}
"""Values of seat, role, talk, schedule, clock, intents and goal: what is entered, and what the levels set."""


@pytest.mark.parametrize("path", VARIED)
def test_seat_role_talk_schedule_clock_intents_and_goal_can_be_levels(path: str) -> None:
    base = led(goal={"completed": 3})
    entered, values = VARIED[path]
    data = {"name": "Varied", "where": "within", "values": entered}
    form = ValuesFactorForm(data, base=base, factors=(), path=path)
    assert form.is_valid(), form.errors
    factor = form.cleaned_data["factor"]
    assert [one.sets[path] for one in factor.levels] == values
    before = condition_values(base)
    for level, value in zip(factor.levels, values, strict=True):
        fields = cell_fields(before, [factor], {factor.key: level.key})
        found: Any = fields
        for name in path.split("."):
            found = found[name]
        assert found == value
        if fields["organisation"].get("apart") and not fields["step_seconds"]:
            fields["step_seconds"] = 3  # the leader without a player needs a clock
        row = Condition(study=base.study, key=level.key, name=level.name, label=level.name, **fields)
        row.clean()
        assert seats_of(row) == seats_of(base)
    assert condition_values(base) == before, "the base condition stays as it is"


def test_every_offered_field_has_a_form_for_its_values() -> None:
    base = led()
    for _, pairs in field_choices(base):
        for path, label in pairs:
            form = ValuesFactorForm(base=base, factors=(), path=path)
            assert form.fields["values"].label == "Levels" and path_label(base, path) == label


def test_two_settings_of_a_team_are_varied_independently(admin_client: Client) -> None:
    base = led()
    add(admin_client, "organisation.settings.leaves_talk", name="Talk", values=["on", "none"])
    add(admin_client, "organisation.kind", name="Organisation", values=["tree", "chain"])
    add(admin_client, "organisation.leads", name="Leader", values=["0", "1"])
    study = base.study
    study.refresh_from_db()
    assert [one.key for one in blueprint_of(study).factors] == ["talk", "organisation", "leader"]
    page = admin_client.get(THERE).content.decode()
    assert "Who leads: The participant" in page and "Who leads: The co-player of player 2" in page


def test_people_who_can_lead_are_named_by_their_seats_if_there_are_several() -> None:
    labels = []
    for people in ([0], [0, 2]):
        base = Condition(teammates=2, organisation={"kind": "central", "people": people})
        field = team_value_field(base, "organisation.leads")
        labels.append([label for _, label in getattr(field, "choices")])  # noqa: B009 - of a choice field
    assert labels[0][0] == "The participant"
    assert labels[1] == [
        "The participant as player 1",
        "The co-player of player 2",
        "The participant as player 3",
    ]
