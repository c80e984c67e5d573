"""What a researcher says on the sample-size page."""

from __future__ import annotations

from typing import Any

from django import forms

from study.design.orders.registry import get_scheme, scheme_choices
from study.design.testing import MAIN_TESTS, PAIR_TESTS
from study.planning.power.answer import PowerAnswer, PowerQuestion, answer
from study.planning.power.plan import MOST_PEOPLE, PATTERNS, PowerPlan, PowerPlanError, f_from_partial_eta

DEFAULTS: dict[str, Any] = {
    "conditions": 3,
    "effect_kind": "f",
    "effect": 0.25,
    "correlation": 0.5,
    "alpha": 0.05,
    "power": 0.8,
    "epsilon": 1,
    "scheme": "balanced",
    "drop_out": 10,
    "people": "",
    "pattern": "one",
    "correction": "holm",
    "test": "repeated",
}
"""Cohen's medium effect, and what is usual beside it."""

MOST_CONDITIONS = 16
"""More pairs than these have take longer than a page may."""
KINDS = {"f": "Cohen\N{RIGHT SINGLE QUOTATION MARK}s f", "eta": "partial η², as reported by software"}
CORRECTION_LABELS = dict(PAIR_TESTS)


def _number(label: str, low: float, high: float, help_text: str = "", **more: Any) -> forms.FloatField:
    """A number that may be written with any decimals."""
    field = forms.FloatField(label=label, min_value=low, max_value=high, help_text=help_text, **more)
    field.widget.attrs["step"] = "any"
    return field


class SampleSizeForm(forms.Form):
    """A plan and a wish; once valid, `found` has the answer. Sent by GET, so a link keeps the question."""

    conditions = forms.IntegerField(
        min_value=2, max_value=MOST_CONDITIONS, help_text="Each person plays all."
    )
    effect_kind = forms.ChoiceField(label="Effect given as", choices=list(KINDS.items()))
    effect = _number("Effect", 0, 10, "f: .10 small, .25 medium, .40 large (Cohen 1988).")
    correlation = _number(
        "Correlation", -1, 1, "Between the values of one person in two conditions; pilot data tell."
    )
    power = _number("Power wanted", 0.05, 0.999, "The chance of finding the effect if it is there.")
    alpha = _number("Alpha", 0.0001, 0.5)
    epsilon = _number("Epsilon", 0.05, 1, "Sphericity: 1 where it holds; .75 is a cautious guess.")
    scheme = forms.ChoiceField(label="Order scheme", choices=scheme_choices)
    drop_out = _number("Drop-out, %", 0, 90, "Of those who begin, the share that does not finish.")
    people = forms.IntegerField(
        label="People you have",
        required=False,
        min_value=2,
        max_value=MOST_PEOPLE,
        help_text="Who finish. Their power is shown, too; empty if the question is how many you need.",
    )
    pattern = forms.ChoiceField(
        label="Means", choices=list(PATTERNS.items()), help_text="Pairs depend on it, and the mixed model."
    )
    correction = forms.ChoiceField(label="Pairs corrected by", choices=list(CORRECTION_LABELS.items()))

    test = forms.ChoiceField(
        label="Main test", choices=list(MAIN_TESTS.items()), help_text="Of the plan: the analysis runs it."
    )

    found: PowerAnswer

    def clean(self) -> dict[str, Any]:
        """The answer, or what is wrong at the field it is about."""
        given = super().clean() or self.cleaned_data
        if self.errors:
            return given
        try:
            self.found = answer(self._wish(given))
        except PowerPlanError as error:
            self.add_error("effect" if error.field == "f" else error.field, str(error))
        return given

    def _wish(self, given: dict[str, Any]) -> PowerQuestion:
        scheme = get_scheme(given["scheme"])
        if problem := scheme.problem(given["conditions"]):
            raise PowerPlanError("scheme", problem)
        return PowerQuestion(
            plan=_plan(given),
            power=given["power"],
            block=scheme.block(given["conditions"]),
            drop_out=given["drop_out"] / 100,
            pattern=given["pattern"],
            correction=given["correction"],
            people=given["people"],
            test=given["test"],
            scheme=given["scheme"],
        )


def _plan(given: dict[str, Any]) -> PowerPlan:
    conditions, correlation, f = given["conditions"], given["correlation"], given["effect"]
    if f <= 0:
        raise PowerPlanError("effect", "The effect must be above 0.")
    PowerPlan(
        conditions, 0, correlation
    )  # whether the correlation is possible at all, before it is reckoned with
    if given["effect_kind"] == "eta":
        f = f_from_partial_eta(f, conditions, correlation)
    return PowerPlan(conditions, f, correlation, given["alpha"], given["epsilon"])
