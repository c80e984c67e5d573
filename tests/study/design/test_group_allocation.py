"""Allocation to groups: minimisation over answers, quotas, drop-outs, and the page that asks first."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from study.design.blueprint import FORMAT, Blueprint, blueprint_of
from study.design.group_allocation import (
    AllocatedPerson,
    AllocationPlan,
    Quota,
    allocate,
    allocation_problem_in,
    imbalance_with,
    open_groups,
    parse_allocation,
    quotas_problem,
)
from study.design.models import Study, StudyPart, SurveyItem
from study.design.readiness_checks import readiness_problems
from study.design.study_errors import DesignError
from study.editor.describe_design import study_pairs
from study.editor.orders_form import OrdersForm
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.monitor.live_status import live_totals
from study.participants.entry_limits import is_full
from study.participants.models import Participant
from study.participants.next_page import current_page
from study.participation.page_progress import answers_submit
from study.pilot.synthetic.synthetic_participants import SyntheticRequest, make_participants
from tests.study.design.test_between_groups import SEATS, grouped_study
from tests.study.factories import enter

GROUPS = SEATS.split()
MINIMISED = AllocationPlan(method="minimisation", answers=("age", "sex"))
PEOPLE = (
    AllocatedPerson("chef", {"age": "young", "sex": "f"}),
    AllocatedPerson("chef", {"age": "young", "sex": "m"}),
    AllocatedPerson("assistant", {"age": "old", "sex": "m"}),
)


def put(
    plan: AllocationPlan, held: Sequence[AllocatedPerson], number: int, **answers: str
) -> tuple[str, dict[str, Any]]:
    return allocate(plan, GROUPS, held, {}, answers=answers, seed=5, number=number)


@pytest.mark.parametrize(("imbalance", "chef", "assistant"), [("range", 4, 2), ("variance", 2.5, 0.5)])
def test_imbalance_is_summed_over_the_answers(imbalance: str, chef: float, assistant: float) -> None:
    plan = MINIMISED.model_copy(update={"imbalance": imbalance})
    about = {"age": "young", "sex": "m"}
    # chef: young 3 against 0, men 2 against 1; assistant: young 2 against 1, men 1 against 2
    values = {group: imbalance_with(plan, GROUPS, PEOPLE, about, group=group) for group in GROUPS}
    assert values == {"chef": chef, "assistant": assistant}


def test_the_best_group_comes_with_the_planned_probability_and_the_seed_repeats_it() -> None:
    chosen = Counter(put(MINIMISED, PEOPLE, number, age="young", sex="m")[0] for number in range(1000))
    assert 760 <= chosen["assistant"] <= 840
    assert put(MINIMISED, PEOPLE, 7, age="young", sex="m") == put(MINIMISED, PEOPLE, 7, age="young", sex="m")
    sure = MINIMISED.model_copy(update={"probability": 1})
    assert {put(sure, PEOPLE, number, age="young", sex="m")[0] for number in range(30)} == {"assistant"}
    ties = Counter(put(sure, (), number, age="young", sex="m")[0] for number in range(200))
    assert min(ties.values()) > 70 and len(ties) == 2


def test_minimisation_makes_the_groups_alike_in_the_answers() -> None:
    held: list[AllocatedPerson] = []
    plan = MINIMISED.model_copy(update={"probability": 1})
    for number in range(80):
        answers = {"age": ["young", "old", "old"][number % 3], "sex": "fm"[number % 7 < 3]}
        held.append(AllocatedPerson(put(plan, held, number, **answers)[0], answers))
    for key in ("age", "sex"):
        counts = Counter((one.answers[key], one.group) for one in held)
        for answer in {one.answers[key] for one in held}:
            assert abs(counts[answer, "chef"] - counts[answer, "assistant"]) <= 2


def test_quotas_close_a_group_or_a_group_for_one_answer() -> None:
    plan = AllocationPlan(quotas="chef, age = 18 to 30: 1\nassistant: 1")
    assert plan.limits == (Quota("chef", 1, "age", "18 to 30"), Quota("assistant", 1))
    held = [AllocatedPerson("chef", {"age": "18 to 30"})]
    assert open_groups(plan, GROUPS, held, {"age": "18 to 30"}) == ["assistant"]
    assert open_groups(plan, GROUPS, held, {"age": "older"}) == GROUPS
    full = [*held, AllocatedPerson("assistant", {})]
    assert open_groups(plan, GROUPS, full, {"age": "18 to 30"}) == []
    assert put(plan, full, 3, age="18 to 30")[0] == "" and put(plan, full, 3, age="older")[0] == "chef"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({}, ""),
        ({"method": "dice"}, "no method of allocation dice"),
        ({"method": "minimisation"}, "needs the answers"),
        ({"method": "minimisation", "answers": ["age"], "probability": 0}, "above 0"),
        ({"quotas": "chef 20"}, "is no quota"),
        ({"imbalance": "sum"}, "measure of imbalance sum"),
        ({"weights": 1}, "weights"),
    ],
)
def test_a_plan_that_cannot_be_used_is_refused(document: dict[str, Any], problem: str) -> None:
    assert problem in allocation_problem_in(document)
    assert bool(problem) == bool(allocation_problem_in(document))


def asking(slug: str = "seats", **allocation: Any) -> Study:
    """A study with two groups that asks for the age, and allocates with it."""
    study = grouped_study(slug, allocation=allocation, planned_participants=8)
    StudyPart.objects.create(study=study, kind="about", enabled=True)
    options = {"kind": "single", "options": ["young", "old"], "place": "about"}
    SurveyItem.objects.create(study=study, key="age", measure="Age", text="How old?", position=9, **options)
    return study


def come(study: Study, ages: Sequence[str]) -> Iterator[Participant]:
    for age in ages:
        person = enter(study, f"{study.slug} {study.participants.count()}")
        assert answers_submit(participant_id=person.pk, page="about", values={"age": age})
        person.refresh_from_db()
        yield person


@pytest.mark.django_db
def test_the_group_is_assigned_after_the_answers_and_the_same_arrivals_give_the_same_groups() -> None:
    plan = {"method": "minimisation", "answers": ["age"]}
    ages = ["young", "old", "old"]
    first, again = (asking(slug, **plan) for slug in ("one", "two"))
    person = enter(first, "early")
    assert current_page(person).page == "about" and person.between_group == "" and not person.rounds.exists()
    assert answers_submit(participant_id=person.pk, page="about", values={"age": "old"})
    person.refresh_from_db()
    assert current_page(person).page == "guide" and person.rounds.count() == 2
    assert person.allocation["method"] == "minimisation" and person.allocation["answers"] == {"age": "old"}
    assert person.allocation["counts"] == {"chef": 0, "assistant": 0}
    assert person.allocation["imbalance"] == {"chef": 1, "assistant": 1}
    assert {one.condition.between_group for one in person.rounds.all()} == {person.between_group}
    groups = [one.between_group for one in come(first, ages)]
    assert groups == [one.between_group for one in [*come(again, ["old", *ages])][1:]]


@pytest.mark.django_db
def test_drop_outs_are_not_counted_unless_the_plan_says_so() -> None:
    for counted in (False, True):
        plan = {"method": "minimisation", "answers": ["age"], "probability": 1, "counts_drop_outs": counted}
        study = asking(f"s{int(counted)}", **plan)
        (gone,) = come(study, ["old"])
        Participant.objects.filter(pk=gone.pk).update(excluded_at=timezone.now())
        (late,) = come(study, ["old"])
        assert (late.allocation["imbalance"][gone.between_group] == 2) is counted
        assert late.allocation["counts"][gone.between_group] == int(counted)


@pytest.mark.django_db
def test_somebody_without_an_open_group_gets_the_page_of_a_full_study() -> None:
    study = asking(quotas="chef, age = young: 1\nassistant, age = young: 1")
    both = [one.between_group for one in come(study, ["young", "young"])]
    assert sorted(both) == sorted(GROUPS)
    (person,) = come(study, ["young"])
    assert (person.status, person.between_group, current_page(person).page) == ("no_place", "", "end")
    assert person.answers.get().value == "young" and not person.rounds.exists()
    assert not answers_submit(participant_id=person.pk, page="about", values={"age": "old"})
    page = Client().get(person.get_absolute_url()).content.decode()
    assert "This study has no place left for you" in page
    assert [one.between_group for one in come(study, ["old"])] and not is_full(study)
    study.allocation = {"quotas": "chef: 1\nassistant: 1"}
    study.save()
    assert is_full(study) and Client().get("/s/seats/").status_code == 403


@pytest.mark.django_db
def test_pages_show_how_far_quotas_are_filled_and_the_answers_in_each_group(admin_client: Client) -> None:
    study = asking(quotas="chef: 3\nassistant, age = young: 1")
    one, other = come(study, ["young", "old"])
    progress = live_totals(study).allocation
    assert progress and [(row.words, row.most) for row in progress.quotas] == [
        ("chef", 3),
        ("assistant, age = young", 1),
    ]
    held = {group: sum(person.between_group == group for person in (one, other)) for group in GROUPS}
    assert progress.quotas[0].held == held["chef"] == 1 and progress.quotas[0].open == 2
    old = tuple(int(other.between_group == group) for group in GROUPS)
    assert progress.answers == (("age: old", old), ("age: young", old[::-1]))
    for page in ("design/orders/", "live/"):
        text = admin_client.get(f"/staff/seats/{page}").content.decode()
        assert '<th scope="row">chef</th><td class="number">1</td><td class="number">3</td>' in text
        assert '<th scope="row">age: young</th>' in text


@pytest.mark.django_db
def test_answers_that_are_not_asked_before_the_rounds_are_missing() -> None:
    study = asking(method="minimisation", answers=["age", "i0"], quotas="chef, age = middle: 9\ncook: 1")
    told = " ".join(one.words for one in readiness_problems(study) if one.hinders)
    assert "needs the answer i0, which is not asked before the rounds" in told
    assert "answer middle to age, which is no option" in told and "the group cook" in told
    study.parts.filter(kind="about").update(enabled=False)
    assert "needs the answer age" in " ".join(one.words for one in readiness_problems(study))
    study.allocation = {"quotas": "chef: 2\nassistant: 1"}
    assert any("admit 3 people" in one.words for one in readiness_problems(study))


@pytest.mark.django_db
def test_the_form_stores_the_plan_and_documents_without_one_stay_as_they_are() -> None:
    study = asking()
    assert "allocation" not in blueprint_of(study).study
    data = {"orders": "balanced", "between_groups": SEATS, "allocation__method": "minimisation"}
    assert "needs the answers" in str(OrdersForm(data, instance=study).errors["allocation__answers"])
    wrong = OrdersForm({**data, "allocation__answers": ["age"], "allocation__quotas": "x"}, instance=study)
    assert "is no quota" in str(wrong.errors["allocation__quotas"])
    form = OrdersForm({**data, "allocation__answers": ["age"]}, instance=study)
    assert form.is_valid() and form.changed_fields == ["allocation"]
    form.instance.save()
    design = blueprint_of(Study.objects.get())
    assert design.allocation == AllocationPlan(method="minimisation", answers=("age",))
    assert design.format == FORMAT and Blueprint.from_json(design.to_json()) == design
    assert parse_allocation({}) == AllocationPlan()
    columns = {one.name for one in get_table("participants").columns_of(Study.objects.get())}
    assert {"between_group", "allocation"} <= columns
    (said,) = [str(one.value) for one in study_pairs(design) if "most alike in age" in str(one.value)]
    assert "The imbalance is the range of the counts. Ties are broken at random." in said
    assert all(len(sentence.split()) <= 20 for sentence in said.split(". "))


@pytest.mark.django_db
def test_synthetic_participants_are_allocated_by_the_answers_that_they_give() -> None:
    study = asking(method="minimisation", answers=["age"], quotas="chef: 4\nassistant: 4")
    make_participants(study, SyntheticRequest(6, seed=1, steps=1, recordings=1), lambda _: None)
    placed = study.participants.exclude(between_group="")
    assert placed.count() >= 4
    for person in placed:
        assert person.allocation["answers"] == {"age": person.answers.get(item__key="age").value}
    text = b"".join(csv_pieces(get_table("participants"), study)).decode()
    reasons = [
        json.loads(row["allocation"]) for row in csv.DictReader(text.splitlines()) if row["allocation"]
    ]
    assert Counter(one["method"] for one in reasons) == {"minimisation": placed.count()}
    with pytest.raises(DesignError, match="no group open"):
        make_participants(study, SyntheticRequest(9, seed=2, steps=1, recordings=1), lambda _: None)


@pytest.mark.parametrize(
    ("quotas", "why"),
    [
        ("c: 5", "group c, which does not exist. Groups: a, b."),
        ("a, years = old: 5", "years, which is no question about the person"),
        ("a, age = middle: 5", "answer middle to age, which is no option"),
        ("a: 5\na: 6", "twice for the same people"),
        ("a: 5\na, age = old: 2\na, mood = 3: 2", ""),
    ],
)
def test_quotas_that_never_apply_are_found(quotas: str, why: str) -> None:
    plan = parse_allocation({"quotas": quotas})
    problem = quotas_problem(plan, ["a", "b"], {"age": ["young", "old"], "mood": []})
    assert why in problem and bool(problem) == bool(why)
