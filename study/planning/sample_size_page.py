"""Serve the page that computes how many participants a study needs, and its figure."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from kitchen.infra.process_pool import ProcessPoolError
from study.analysis import figure_files
from study.analysis.analysis_results import analysis_ready
from study.analysis.analysis_sample import default_participants
from study.design.analysis_plan import MAIN_TESTS, PAIR_TESTS
from study.design.between_groups import (
    MOST_GROUPS,
    conditions_of_group,
    group_keys,
)
from study.design.blueprint import blueprint_of
from study.design.condition_seats import people_in
from study.design.counterbalancing import OrderScheme, get_scheme, scheme_choices
from study.design.metric_and_scale_names import comparison_metrics
from study.design.models import Study
from study.participants.participant_counts import study_counts
from study.planning.power.planned_factors import (
    ALL_CELLS,
    FactorialDesignPlan,
    PlannedFactor,
    read_planned_factors,
    with_subsets,
    written_factors,
)
from study.planning.power.power_formulas import (
    MIXED_EFFECTS,
    MOST_PEOPLE,
    PATTERNS,
    PowerPlan,
    PowerPlanError,
    f_from_partial_eta,
)
from study.planning.power.sample_size_answer import (
    MOST_PAIRED,
    PowerAnswer,
    PowerQuestion,
    counted_units,
    power_chart,
    sample_size_answer,
)
from study.researchers.permissions import has_right, staff_page, study_page

DEFAULTS: dict[str, Any] = {
    "conditions": 3,
    "groups": 1,
    "tested": "group",
    "factors": "",
    "each_plays": "all",
    "effect_kind": "f",
    "effect": 0.25,
    "correlation": 0.5,
    "alpha": 0.05,
    "power": 0.8,
    "epsilon": 1,
    "scheme": "balanced",
    "drop_out": 10,
    "people": "",
    "together": 1,
    "pattern": "one",
    "correction": "holm",
    "test": "repeated",
}
"""Cohen's medium effect, and usual values of the other fields."""

MOST_TOGETHER = 64
"""Maximum number of people in one episode."""
KINDS = {"f": "Cohen\N{RIGHT SINGLE QUOTATION MARK}s f", "eta": "partial η², as reported by software"}


def _number(label: str, low: float, high: float, help_text: str = "", **more: Any) -> forms.FloatField:
    """Return a form field for a decimal number from `low` to `high`."""
    field = forms.FloatField(label=label, min_value=low, max_value=high, help_text=help_text, **more)
    field.widget.attrs["step"] = "any"
    return field


class SampleSizeForm(forms.Form):
    """The form for a planned design and the wanted power. Once it is valid, `found` has the answer.

    The form is sent by GET, so the address contains the question.
    """

    conditions = forms.IntegerField(min_value=2, max_value=MOST_PAIRED, help_text="Each person plays all.")
    groups = forms.IntegerField(
        label="Groups between people",
        required=False,
        min_value=1,
        max_value=MOST_GROUPS,
        help_text="Each person plays the conditions of one group. 1 without groups.",
    )
    factors = forms.CharField(
        required=False,
        max_length=200,
        help_text="Only if you cross several factors. Write the number of levels behind each, and “between” "
        "if people differ in it. Example: partner 3, pace 2 between.",
    )
    each_plays = forms.CharField(
        label="Each person plays",
        required=False,
        max_length=40,
        help_text="all: every combination of the factors within people. 5: five of them. one partner: one of "
        "each level of partner.",
    )
    together = forms.IntegerField(
        label="People in one episode",
        required=False,
        min_value=1,
        max_value=MOST_TOGETHER,
        help_text="1: each plays alone or with co-players. If several share an episode, their groups are "
        "counted.",
    )
    tested = forms.ChoiceField(
        label="Hypothesis about",
        choices=list(MIXED_EFFECTS.items()),
        help_text="The effect of the mixed ANOVA for which people are counted. “Effect” is its size.",
    )
    effect_kind = forms.ChoiceField(label="Effect given as", choices=list(KINDS.items()))
    effect = _number("Effect", 0, 10, "f: .10 small, .25 medium, .40 large (Cohen 1988).")
    correlation = _number(
        "Correlation",
        -1,
        1,
        "Between the values of one person in two conditions. Take it from pilot data.",
    )
    power = _number("Power wanted", 0.05, 0.999, "The chance of finding the effect if it exists.")
    alpha = _number("Alpha", 0.0001, 0.5)
    epsilon = _number("Epsilon", 0.05, 1, "Sphericity: 1 if it holds; .75 is a cautious guess.")
    scheme = forms.ChoiceField(label="Order scheme", choices=scheme_choices)
    drop_out = _number("Drop-out, %", 0, 90, "The share of people who begin but do not finish.")
    people = forms.IntegerField(
        label="People you have",
        required=False,
        min_value=2,
        max_value=MOST_PEOPLE,
        help_text="How many finish, with groups in each group. Their power is shown, too. Leave this empty "
        "if you want to know how many you need.",
    )
    pattern = forms.ChoiceField(
        label="Means",
        choices=list(PATTERNS.items()),
        help_text="The pairwise tests and the mixed model depend on it.",
    )
    correction = forms.ChoiceField(label="Pairs corrected by", choices=list(PAIR_TESTS.items()))

    test = forms.ChoiceField(
        label="Main test",
        choices=list(MAIN_TESTS.items()),
        help_text="The main test of the plan, which the analysis runs.",
    )

    found: PowerAnswer

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        if str(data.get("factors", "")).strip():
            del self.fields["conditions"], self.fields["groups"]
            self._offer_effects(str(data["factors"]))
        else:
            del self.fields["each_plays"]
            if str(data.get("groups", "")) in ("", "1"):
                del self.fields["tested"]
        if str(data.get("together", "")) not in ("", "1"):
            self.fields["people"].label = "Groups you have"
            self.fields["conditions"].help_text = "Each group plays all."
            self.fields[
                "correlation"
            ].help_text = "Between the values of one group in two conditions. Take it from pilot data."

    def _offer_effects(self, factors: str) -> None:
        """Offer the effects of these factors as hypotheses. The largest interaction is chosen if none is."""
        with suppress(PowerPlanError):
            design = FactorialDesignPlan(read_planned_factors(factors), 0.0)
            choices = [(":".join(term), design.label(term)) for term in design.effects]
            self.fields["tested"] = forms.ChoiceField(label="Hypothesis about", choices=choices)
            if self.data.get("tested") not in dict(choices):
                self.data = {**self.data, "tested": choices[-1][0]}
            return
        del self.fields["tested"]

    def clean(self) -> dict[str, Any]:
        """Compute the answer, or add the error to the field that caused it. Return the cleaned data."""
        given = super().clean() or self.cleaned_data
        if self.errors:
            return given
        try:
            self.found = sample_size_answer(self._wish(given))
        except PowerPlanError as error:
            self.add_error("effect" if error.field == "f" else error.field, str(error))
        return given

    def _wish(self, given: dict[str, Any]) -> PowerQuestion:
        scheme, design = get_scheme(given["scheme"]), _design(given)
        conditions = design.rounds if design else given["conditions"]
        groups = design.groups if design else given["groups"] or 1
        block = _block(scheme, design, conditions)
        if (given["together"] or 1) > 1 and groups > 1:
            raise PowerPlanError(
                "together",
                "With groups between people, this page plans for people who play alone. Enter 1, and "
                "read the numbers as numbers of teams.",
            )
        return PowerQuestion(
            plan=_plan(given, conditions),
            power=given["power"],
            block=block,
            drop_out=given["drop_out"] / 100,
            pattern=given["pattern"],
            correction=given["correction"],
            people=given["people"],
            test=given["test"],
            scheme=given["scheme"],
            groups=groups,
            design=design,
            tested=given.get("tested", DEFAULTS["tested"]),
            partial_eta=given["effect"] if given["effect_kind"] == "eta" else None,
            people_per_episode=given["together"] or 1,
        )


def _design(given: dict[str, Any]) -> FactorialDesignPlan | None:
    """Return the factorial design in the cleaned values of the form; None without factors. Raises
    PowerPlanError if it is invalid."""
    if not given["factors"].strip():
        return None
    factors = read_planned_factors(given["factors"])
    return with_subsets(FactorialDesignPlan(factors, given["correlation"]), given["each_plays"])


def _block(scheme: OrderScheme, design: FactorialDesignPlan | None, conditions: int) -> int:
    """Return the number of people who fill the orders evenly; 0 if any number does. Raises PowerPlanError if
    the scheme does not suit the number of conditions."""
    if design and design.subsets:
        return len(design.subsets)
    if conditions < 2:
        return 0
    if problem := scheme.problem(conditions):
        raise PowerPlanError("scheme", problem)
    return scheme.block(conditions)


def _plan(given: dict[str, Any], conditions: int) -> PowerPlan:
    """Return the power plan for the cleaned values of the form, `given`. A partial eta squared is converted
    to the effect size f. Raises PowerPlanError if a value is out of range."""
    correlation, f, conditions = given["correlation"], given["effect"], max(conditions, 2)
    if f <= 0:
        raise PowerPlanError("effect", "The effect must be above 0.")
    PowerPlan(conditions, 0, correlation)  # checks the correlation before it is used
    if given["effect_kind"] == "eta":
        f = f_from_partial_eta(f, conditions, correlation)
    return PowerPlan(conditions, f, correlation, given["alpha"], given["epsilon"])


@study_page("view")
def study_sample_size(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the sample-size form and its answer for a study. The study's conditions and main test are
    filled in."""
    return _page(request, study)


@staff_page()
def sample_size(request: HttpRequest) -> HttpResponse:
    """Show the sample-size form and its answer without a study."""
    return _page(request, None)


def _page(request: HttpRequest, study: Study | None) -> HttpResponse:
    groups = group_keys(study.between_groups) if study else ()
    played = conditions_of_group(study.conditions.all(), groups[0] if groups else "") if study else ()
    names = [one.name for one in played]
    factors = _planned_factors(study) if study else {}
    shared = max((len(people_in(one)) for one in played), default=1)
    rounds = blueprint_of(study).rounds if study and names else len(names)
    form = _form(request, rounds, study.main_test if study else "", len(groups) or 1, shared, factors)
    context: dict[str, Any] = {"form": form, "study": study, "own": rounds, "most": MOST_PAIRED}
    context["of_conditions"] = len(names) if rounds < len(names) else 0
    context["groups"] = groups
    context["counts_teams"] = len(groups) > 1 and shared > 1
    if study:
        context |= _variation_context(request, study, form)
        context["counts"] = study_counts(study)
        context["measured"] = comparison_metrics(blueprint_of(study))
    if form.is_valid():
        context |= _answer_context(form, names)
        if rounds < len(names) and not form.found.wish.design:
            context["values_each"] = form.found.best.people * rounds / len(names)
    return render(request, "study/planning/sample_size.html", context)


def _variation_context(request: HttpRequest, study: Study, form: SampleSizeForm) -> dict[str, Any]:
    """Return the template variables for the variation in the study's data: (variation, address) pairs. The
    address fills the form with the variation's correlation and epsilon. Empty without results to see."""
    who = default_participants(study)
    if (
        not has_right(request.user, study, "results")
        or not study.participants.filter(status="complete").exists()
    ):
        return {}
    found = analysis_ready(study, who)
    if found is None or found.analysis is None:
        return {"variation_is_computed": found is None}
    from study.planning.stored_variation import stored_variations  # slow to import

    asked = {name: form.data[name] for name in form.fields if form.data.get(name) not in (None, "")}
    offers = []
    for one in stored_variations(found.analysis):
        values = {"correlation": round(one.correlation, 2)}
        values |= {"epsilon": round(one.epsilon, 2)} if one.epsilon else {}
        offers.append((one, urlencode(asked | values)))
    return {"variations": offers, "variation_is_synthetic": found.analysis.synthetic}


@staff_page()
def power_figure(request: HttpRequest) -> HttpResponse:
    """Respond with the power curve for the values in the sample-size form, as an SVG image. The values are
    in the address. If they are invalid, the status is 400. If the figure cannot be drawn now, it is 503."""
    form = _form(request, 0, "", 1, 1, {})
    if not form.is_valid():
        return HttpResponse("this question cannot be answered", status=400, content_type="text/plain")
    try:
        drawn = figure_files.chart_file(power_chart(form.found), "svg")
    except ProcessPoolError:
        return HttpResponse("the figure cannot be drawn now", status=503, content_type="text/plain")
    return HttpResponse(drawn, content_type="image/svg+xml")


def _planned_factors(study: Study) -> dict[str, str]:
    """Return the values of the form's fields for the factors of a study. The result is empty without factors,
    or if not every combination of their levels is played, or if there are too many."""
    design = blueprint_of(study)
    factors = [PlannedFactor(one.key, len(one.levels), not one.between) for one in design.factors]
    try:
        planned = FactorialDesignPlan(tuple(factors), 0.0)
    except PowerPlanError:
        return {}
    if planned.groups * planned.cells != study.conditions.count():
        return {}
    each = f"one {study.one_round_per}" if study.one_round_per else str(study.rounds_per_person or ALL_CELLS)
    return {"factors": written_factors(factors), "each_plays": each}


def _form(
    request: HttpRequest, rounds: int, test: str, groups: int, together: int, factors: Mapping[str, str]
) -> SampleSizeForm:
    """Return the sample-size form, filled in from the request, then from the study, then from defaults.

    `rounds` is the number of conditions that a participant of the study plays, `test` is its main test, and
    `groups` the number of its groups. `together` is the number of people in one episode, and `factors` has
    the values of the fields for the study's factors. If a study has too
    few or too many conditions, the form has an error.
    """
    own: dict[str, Any] = {"conditions": rounds} if rounds else {}
    own |= {"groups": groups, "together": 1 if groups > 1 else together, **factors}
    own |= {"test": test} if test else {}
    return SampleSizeForm({**DEFAULTS, **own, **request.GET.dict()})


def _answer_context(form: SampleSizeForm, names: list[str]) -> dict[str, Any]:
    """Return the template variables that show the answer. `names` are the conditions' names for pairs of
    conditions. The submitted values are included for the address of the figure."""
    answer, given = form.found, form.cleaned_data
    k = answer.wish.plan.conditions
    called = names if len(names) == k else [f"Condition {number}" for number in range(1, k + 1)]
    return {
        "found": answer,
        "pairs": [(called[pair.first], called[pair.second], pair) for pair in answer.pairs],
        "asked": {name: form.data[name] for name in form.fields},
        "main_test": answer.wish.test_name,
        "counted": counted_units(answer.wish),
        "tested_f": answer.wish.plan_of(answer.wish.effect).f,
        "correction": PAIR_TESTS[given["correction"]],
    }
