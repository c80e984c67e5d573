"""Check whether a study's groups, factors and orders of conditions can be played and analysed as planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from kitchen.contract.world_errors import WorldError
from kitchen.words.english_text import and_list
from study.design.analysis_plan import (
    DEFAULT_PLAN,
    FACTORIAL_TESTS,
    MAIN_TESTS,
    POSITION,
    RANKS,
    analysis_plan_of,
)
from study.design.between_groups import level_problem
from study.design.blueprint import Blueprint
from study.design.condition_seats import people_together
from study.design.factors import all_cells
from study.design.group_allocation import ANSWER_KINDS
from study.design.models import Study, SurveyItem
from study.design.questions.item_fields import ItemPlan
from study.design.readiness_problem import ReadinessProblem, advice
from study.design.round_plans import even_number, plan_problem, rounds_of


def order_problems(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield why participants cannot play the conditions in the planned orders, or fill them unevenly."""
    plans = study.round_plans()
    if problem := next(filter(None, map(plan_problem, plans)), ""):
        yield ReadinessProblem(problem, "orders")
    elif plans and study.planned_participants and (block := even_number(plans[0]) * len(plans)):
        over = study.planned_participants % block
        fills = (
            f"fill the {block} orders evenly" if plans[0].is_plain else "play all conditions equally often"
        )
        words = (
            f"{study.planned_participants} planned participants do not {fills}; "
            f"{study.planned_participants - over + block} would."
        )
        if over:
            yield advice(words, "orders")


def shared_subset_problems(study: Study) -> Iterator[ReadinessProblem]:
    """Yield a problem if people who play together can get different conditions, so that they never meet."""
    with suppress(WorldError):  # another check reports it
        for plan in study.round_plans():
            played = [one for one in study.conditions.all() if one.key in plan.conditions]
            if rounds_of(plan) < len(plan.conditions) and people_together(played) > 1:
                words = (
                    "Several people play together, but participants play different parts of the conditions. "
                    "Only people with the same conditions meet. Let everybody play all conditions."
                )
                yield ReadinessProblem(words, "orders")
                return


def group_problems(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield the reasons why the between-subjects groups cannot be compared."""
    if not design.groups or not design.conditions:
        return
    for group in design.groups:
        if not any(one.between_group == group for one in design.conditions):
            words = f"No condition is for the group {group} alone. Say in a condition that {group} plays it."
            yield ReadinessProblem(words, "orders")
    planned = design.study.get("planned_participants")
    if planned and planned < 2 * len(design.groups):
        words = (
            f"{planned} participants in {len(design.groups)} groups: a test needs two or more in each group. "
            "Plan more."
        )
        yield ReadinessProblem(words, "plan")
    if problem := level_problem(design.conditions, design.groups):
        words = f"The groups cannot be compared: {problem}. Give the conditions a level within people."
        yield ReadinessProblem(words, "orders")
    if design.study.get("main_test") == RANKS:
        words = "Friedman's test cannot compare groups between people. Plan another main test."
        yield ReadinessProblem(words, "plan")


def allocation_problems(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield the reasons why people cannot be assigned to groups as planned."""
    if not design.groups:
        return
    asked = _asked_about_person(design)
    for key in design.allocation.items:
        if key not in asked:
            words = f"The allocation to groups needs the answer {key}, which is not asked before the rounds. "
            yield ReadinessProblem(f"{words}Ask it with the questions about the person.", "orders")
        elif asked[key].kind not in ANSWER_KINDS:
            words = f"The allocation to groups cannot use {key}. Use questions with one answer from a list."
            yield ReadinessProblem(words, "orders")
    yield from _quota_problems(design, asked)


def _asked_about_person(design: Blueprint) -> dict[str, ItemPlan]:
    """Return the questions about the person by key. There are none if their page is off."""
    place = SurveyItem.Place.ABOUT
    return {item.key: item for item in design.items_at(place)} if design.has(place) else {}


def _quota_problems(design: Blueprint, asked: Mapping[str, ItemPlan]) -> Iterator[ReadinessProblem]:
    """Yield the reasons why quotas never apply, or admit too few people. `asked` has the questions about the
    person."""
    limits = design.allocation.limits
    for quota in limits:
        if quota.group not in design.groups:
            yield ReadinessProblem(f"A quota is for the group {quota.group}, which does not exist.", "orders")
        item = asked.get(quota.item)
        if item and item.kind == "single" and quota.answer not in item.options:
            words = f"A quota is for the answer {quota.answer} to {quota.item}, which is no option."
            yield ReadinessProblem(words, "orders")
    for quota in limits:
        together = people_together(one for one in design.conditions if one.between_group in ("", quota.group))
        if not quota.item and quota.most % together:
            words = (
                f"The quota of {quota.group} admits {quota.most} people, but {together} people play "
                f"together. Use a multiple of {together}."
            )
            yield ReadinessProblem(words, "orders")
    whole = {one.group: one.most for one in limits if not one.item}
    planned = design.study.get("planned_participants")
    if planned and whole.keys() >= {*design.groups} and (room := sum(whole.values())) < planned:
        words = f"The quotas admit {room} people, fewer than the {planned} planned participants."
        yield advice(words, "orders")


def factor_problems(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield the reasons why the factors of the design cannot be analysed as planned."""
    yield from _covariate_problems(design)
    if not design.factors:
        return
    cells = all_cells(design.factors)
    if outside := [one.name for one in design.conditions if one.levels not in cells]:
        words = f"{and_list(outside)}: no cell of the factors. Make the conditions of the factors again."
        yield ReadinessProblem(words, "factors")
    main = str(design.study.get("main_test") or DEFAULT_PLAN.main)
    if main not in FACTORIAL_TESTS:
        yield ReadinessProblem(f"{MAIN_TESTS[main]} cannot test factors. Plan another main test.", "plan")
    plans = study.round_plans()
    if main != "mixed" and any(rounds_of(plan) < len(plan.conditions) for plan in plans):
        words = (
            "Participants play a part of the conditions, so nobody has a value in every cell. "
            "Plan the linear mixed model as the main test."
        )
        yield ReadinessProblem(words, "plan")
    elif main != "mixed" and any(cell not in [one.levels for one in design.conditions] for cell in cells):
        words = (
            "Some cells of the factors are not played, so the ANOVA of the factors cannot be computed. "
            "Plan the linear mixed model as the main test."
        )
        yield ReadinessProblem(words, "plan")


def _covariate_problems(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield the reasons why the planned covariates cannot be used as planned."""
    covariates = analysis_plan_of({**design.study, "planned_contrasts": ""}).covariates
    asked = _asked_about_person(design)
    for key in covariates:
        if key not in asked:
            words = f"The covariate {key} is not asked before the rounds. Choose the covariates again."
            yield ReadinessProblem(words, "plan")
    if POSITION in covariates:
        words = (
            f"The covariate {POSITION} has the name of the round's position. Give its question another key."
        )
        yield ReadinessProblem(words, "plan")
    if covariates and not design.factors:
        words = "Covariates are used in studies with factors only. Vary the conditions by a factor."
        yield ReadinessProblem(words, "plan")
    within = any(not one.between for one in design.factors)
    if covariates and within and design.study.get("main_test") != "mixed":
        words = "Covariates are in the mixed model only. Plan it as the main test, or they decide nothing."
        yield advice(words, "plan")
