"""Define the form for the orders of conditions, the groups between people, and the allocation to groups."""

from __future__ import annotations

from typing import Any

from django import forms

from study.design.between_groups import group_keys
from study.design.factors import parse_factors
from study.design.group_allocation import (
    ANSWER_KINDS,
    BLOCKS,
    DEFAULT_PROBABILITY,
    IMBALANCES,
    METHODS,
    RANGE,
    allocation_problem_in,
    parse_allocation,
    quotas_problem,
)
from study.design.models import Study, SurveyItem

ALLOCATION_FIELD = "allocation__"
"""Beginning of the names of the fields for the allocation to groups."""
SUBSET_FIELDS = {
    "one_round_per": "no factor: see below",
    "rounds_per_person": "",
    "blocked_by": "no factor: conditions are mixed",
}
"""Fields about which conditions a participant plays, each with the label of its empty choice."""


class OrdersForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form for the order scheme and the between-subjects groups. The scheme orders the conditions within
    each group.

    In a study with factors, the form also asks which conditions each participant plays. The groups then
    follow from the factors and are no field. In a study with groups, it asks how people get their group.
    """

    class Meta:
        model = Study
        fields = ("orders", "between_groups", *SUBSET_FIELDS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        factors = parse_factors(self.instance.factors)
        within = [(one.key, one.name) for one in factors if not one.between]
        if factors:
            del self.fields["between_groups"]
        for name, empty in SUBSET_FIELDS.items():
            if name == "rounds_per_person":
                continue
            if not within:
                del self.fields[name]
            else:
                self.fields[name].widget = forms.Select(choices=[("", empty), *within])
        if self.instance.pk and group_keys(self.instance.between_groups):
            self.fields |= {
                f"{ALLOCATION_FIELD}{name}": one for name, one in self._allocation_fields().items()
            }

    def _about_person(self) -> list[SurveyItem]:
        """Return the questions about the person that allocation can use."""
        place = SurveyItem.Place.ABOUT
        return list(self.instance.items.filter(place=place, enabled=True, kind__in=ANSWER_KINDS))

    def _allocation_fields(self) -> dict[str, forms.Field]:
        """Return the fields for the allocation to groups, by their names in the stored plan."""
        now = self.instance.allocation
        rows = self._about_person()
        return {
            "method": forms.ChoiceField(
                label="Allocation to groups",
                choices=[*METHODS.items()],
                initial=now.get("method", BLOCKS),
                required=False,
            ),
            "answers": forms.MultipleChoiceField(
                label="Answers for minimisation",
                choices=[(one.key, one.measure) for one in rows],
                initial=now.get("answers", []),
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text="Questions about the person with one answer from a list. The group is then "
                "assigned after these questions.",
            ),
            "probability": forms.FloatField(
                label="Probability of the best group",
                initial=now.get("probability", DEFAULT_PROBABILITY),
                min_value=0.01,
                max_value=1,
                required=False,
                help_text="For minimisation. Below 1, nobody can be sure which group comes next. Usual: 0.8.",
            ),
            "imbalance": forms.ChoiceField(
                label="Measure of imbalance",
                choices=[*IMBALANCES.items()],
                initial=now.get("imbalance", RANGE),
                required=False,
                help_text="For minimisation.",
            ),
            "counts_drop_outs": forms.BooleanField(
                label="Count people who left or were excluded",
                initial=now.get("counts_drop_outs", False),
                required=False,
                help_text="For minimisation and quotas. If off, their place in the group is filled again.",
            ),
            "quotas": forms.CharField(
                label="Quotas",
                initial=now.get("quotas", ""),
                required=False,
                max_length=4000,
                widget=forms.Textarea({"rows": 3}),
                help_text="The most people in a group, one on each line: “chef: 20”. For people with one "
                "answer, name the question and the answer: “chef, age = 18 to 30: 10”. If no group is open, "
                "the study is full for this person.",
            ),
        }

    @property
    def changed_fields(self) -> list[str]:
        """Return the names of the study's fields that were changed in the form."""
        own = [name for name in self.changed_data if not name.startswith(ALLOCATION_FIELD)]
        return [*own, *(["allocation"] if len(own) < len(self.changed_data) else [])]

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data. The plan of allocation is stored in the study; the default plan is stored
        as an empty document."""
        cleaned = super().clean() or self.cleaned_data
        if f"{ALLOCATION_FIELD}method" not in self.fields or self.errors:
            return cleaned
        given = {name: cleaned[f"{ALLOCATION_FIELD}{name}"] for name in self._allocation_fields()}
        given["method"] = given["method"] or BLOCKS
        given["probability"] = given["probability"] or DEFAULT_PROBABILITY
        given["imbalance"] = given["imbalance"] or RANGE
        given["quotas"] = "\n".join(filter(None, map(str.strip, given["quotas"].splitlines())))
        is_usual = given["method"] == BLOCKS and not given["quotas"]
        problem = allocation_problem_in(given) or quotas_problem(
            parse_allocation(given),
            group_keys(str(cleaned.get("between_groups", self.instance.between_groups))),
            {one.key: one.options if one.kind == "single" else [] for one in self._about_person()},
        )
        if problem:
            name = "quotas" if "quota" in problem.lower() else "answers"
            self.add_error(f"{ALLOCATION_FIELD}{name}", problem.partition("allocation: ")[2] or problem)
        else:
            self.instance.allocation = {} if is_usual else given
        return cleaned
