"""Groups between people: which are possible, who gets which, and where they are refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from study.design.between_groups import group_keys_problem, level_problem
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.counterbalancing import next_group
from study.design.models import Condition, Study
from study.design.preregistration import orders_of
from study.design.readiness_checks import blocking_problems
from study.editor.condition_and_item_forms import GROUP_FIELDS
from study.editor.describe_design import condition_pairs, plan_pairs, study_pairs
from study.editor.design_forms import PlanForm
from study.editor.design_pages import describe_orders
from study.editor.orders_form import OrdersForm
from study.editor.team_condition_form import condition_form
from study.monitor.live_status import live_totals
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant
from study.participants.next_page import current_page
from study.participants.participant_counts import group_progress
from study.pilot.dry_run_execution import possible_stops
from tests.study.factories import enter, make_study

SEATS = "chef assistant"


def grouped_study(slug: str = "seats", groups: str = SEATS, **more: Any) -> Study:
    """A study whose groups play two levels each."""
    keys = groups.split()
    study = make_study(slug, conditions=2 * len(keys), between_groups=groups, **more)
    for number, row in enumerate(study.conditions.all()):
        row.between_group, row.within_level = keys[number // 2], f"level_{number % 2}"
        row.save()
    return study


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ("", ""),
        (SEATS, ""),
        ("chef", "One group is no comparison"),
        ("chef chef", "Two groups have the key chef."),
        ("chef a/b", "a/b: letters, digits"),
        (" ".join(f"g{number}" for number in range(13)), "At most 12 groups."),
    ],
)
def test_groups_have_different_valid_keys(groups: str, problem: str) -> None:
    assert problem in group_keys_problem(groups) and bool(problem) == bool(group_keys_problem(groups))


def test_groups_are_given_in_blocks_from_the_seed() -> None:
    first = {next_group(SEATS.split(), {}, seed=seed) for seed in range(9)}
    assert first == set(SEATS.split()), "nobody can tell which group comes next"
    assert next_group((), {}, seed=1) == ""


@pytest.mark.django_db
def test_everybody_gets_a_group_and_plays_its_conditions_in_balanced_orders_and_gaps_are_filled_first() -> (
    None
):
    study = grouped_study(planned_participants=5)
    people = [enter(study, str(number)) for number in range(4)]
    assert Counter(one.between_group for one in people) == {"chef": 2, "assistant": 2}
    assert all(
        len({a.between_group, b.between_group}) == 2 for a, b in zip(people[::2], people[1::2], strict=True)
    )
    orders = Counter(tuple(one.rounds.values_list("condition__key", flat=True)) for one in people)
    assert orders == dict.fromkeys([("c0", "c1"), ("c1", "c0"), ("c2", "c3"), ("c3", "c2")], 1)
    assert current_page(people[0]).total == 2 and len(people[0].design.conditions) == 2

    gone = people[3]
    participant_withdraw(participant_id=gone.pk)
    chef, assistant = group_progress(study)
    assert {chef.playing, assistant.playing} == {1, 2}
    assert (chef.planned, assistant.planned) == (3, 2)
    assert live_totals(study).groups == (chef, assistant)
    assert sum(one.open or 0 for one in (chef, assistant)) == 2
    came = enter(study, "next")
    assert came.between_group == gone.between_group, "the group that lost somebody comes first"
    assert orders == Counter(
        tuple(one.rounds.values_list("condition__key", flat=True)) for one in Participant.objects.all()
    ), "and so does the lost order"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("planned", "quotas", "numbers"),
    [
        (20, "", [10, 10]),
        (20, "chef: 4", [4, 16]),
        (21, "chef: 11", [11, 10]),
        (20, "chef: 4\nassistant: 6", [4, 6]),
        (20, "chef, age = old: 4", [10, 10]),
        (None, "chef: 4", [4, None]),
        (None, "", [None, None]),
    ],
)
def test_planned_and_open_numbers_of_groups_agree_with_their_quotas(
    planned: int | None, quotas: str, numbers: list[int | None]
) -> None:
    study = grouped_study(planned_participants=planned, allocation={"quotas": quotas})
    found = group_progress(study)
    assert [one.planned for one in found] == [one.open for one in found] == numbers


@pytest.mark.django_db
def test_a_study_whose_groups_cannot_be_compared_takes_nobody() -> None:
    study = grouped_study()
    assert not blocking_problems(study)

    def words(**fields: object) -> str:
        Condition.objects.filter(study=study, key="c3").update(**fields)
        return " ".join(one.words for one in blocking_problems(study))

    assert "do not both play the level" in words(within_level="")
    assert "the group assistant plays the level level_0 twice" in words(within_level="level_0")
    assert "The study has no group cook" in words(within_level="level_1", between_group="cook")
    Condition.objects.filter(study=study).update(between_group="chef")
    assert "No condition is for the group assistant alone" in words()


@pytest.mark.django_db
def test_contrasts_across_groups_and_ranks_are_refused_because_nobody_plays_both() -> None:
    study = grouped_study(planned_contrasts="H1: c0 1, c2 -1", main_test="friedman")
    contrast, ranks = sorted(one.words for one in blocking_problems(study) if one.page == "plan")[::-1]
    assert "different groups" in contrast and "Friedman" in ranks
    choices = dict(PlanForm(instance=study).fields["main_test"].choices)  # type: ignore[attr-defined]
    assert "friedman" not in choices and choices["repeated"].startswith("Mixed ANOVA")


@pytest.mark.django_db
def test_people_who_play_together_get_the_same_group() -> None:
    study = grouped_study()
    team = {"kind": "pair", "people": [0, 1]}
    study.conditions.update(teammates=1, coplayer="random", organisation=team)
    assert not blocking_problems(study)
    people = [enter(study, str(number)) for number in range(5)]
    first, *others = (one.between_group for one in people)
    assert others == [first, others[1], others[1], others[3]] and others[1] != first
    assert [one.allocation["method"] for one in people] == ["blocks", "team", "blocks", "team", "blocks"]
    participant_withdraw(participant_id=people[0].pk)
    assert enter(study, "late").between_group == first, "the first one's partner waits longest"
    with pytest.raises(ValidationError, match="no group cook"):
        Condition(study=study, key="c9", between_group="cook").clean()
    assert OrdersForm({"orders": "balanced", "between_groups": ""}, instance=study).errors.keys() == {
        "between_groups"
    }, "a condition names a group"


@pytest.mark.django_db
def test_each_group_needs_two_participants() -> None:
    words = {
        number: [
            one.words for one in blocking_problems(grouped_study(f"of-{number}", planned_participants=number))
        ]
        for number in (3, 4)
    }
    assert any(one.startswith("3 participants in 2 groups") for one in words[3])
    assert not any("participants in 2 groups" in one for one in words[4])


@pytest.mark.django_db
def test_a_group_that_a_condition_names_cannot_be_removed() -> None:
    study = grouped_study()
    form = OrdersForm({"orders": "balanced", "between_groups": "chef cook"}, instance=study)
    assert not form.is_valid()
    assert "is played by a group that is not in the list" in str(form.errors["between_groups"])


@pytest.mark.django_db
def test_the_condition_form_offers_the_groups_and_has_no_such_field_without_groups() -> None:
    study = grouped_study()
    form = condition_form()(instance=study.conditions.first())
    assert [value for value, _ in form.fields["between_group"].widget.choices] == ["", *SEATS.split()]
    alone = make_study("alone")
    assert not {*GROUP_FIELDS} & condition_form()(instance=alone.conditions.first()).fields.keys()


@pytest.mark.django_db
def test_groups_are_described_with_their_orders() -> None:
    study = grouped_study()
    design = blueprint_of(study)
    assert [one.value for one in plan_pairs(design) if one.value.startswith("Mixed ANOVA")]
    assert ("Groups between people", SEATS) in [(one.label, one.value) for one in study_pairs(design)]
    told = {one.label: one.value for one in condition_pairs(design.conditions[0])}
    assert (told["Played by the group"], told["Level within people"]) == ("chef", "level_0")
    assert [one.get("group") for one in orders_of(design)["sequences"]] == ["chef"] * 2 + ["assistant"] * 2
    assert [group for group, rows in describe_orders(study)["groups"] if len(rows) == 2] == SEATS.split()
    assert [one.position for one in possible_stops(design) if one.page == "play"] == [1, 2]
    assert Blueprint.from_json(design.to_json()) == design
    older = design.in_format(6)
    assert older.groups == () and design.beyond(6)


@pytest.mark.django_db
def test_pages_show_how_full_the_groups_are_and_participants_see_nothing_of_them(
    admin_client: Client,
) -> None:
    study = grouped_study(planned_participants=5)
    person = enter(study)

    def page(path: str) -> str:
        return admin_client.get(f"/staff/seats/{path}").content.decode()

    filled = f'<th scope="row">{person.between_group}</th><td class="number">0</td><td class="number">1</td>'
    assert filled in page("design/orders/") and filled in page("live/")
    assert "Orders of the group assistant" in page("design/orders/")
    assert f"<td>{person.between_group}</td>" in page(f"participants/{person.code}/")
    seen = Client().get(person.get_absolute_url(), follow=True).content.decode()
    assert "chef" not in seen and "assistant" not in seen


def test_levels_count_by_key_where_none_is_named() -> None:
    plan: dict[str, Any] = {"name": "N", "label": "L", "world": "w", "settings": {}, "coplayer": "none"}
    plan |= {"coplayer_settings": {}, "teammates": 0}
    common = ConditionPlan(key="both", **plan)
    own = [
        ConditionPlan(key=f"own_{seat}", between_group=seat, within_level="x", **plan)
        for seat in SEATS.split()
    ]
    assert level_problem([common, *own], SEATS.split()) == ""
