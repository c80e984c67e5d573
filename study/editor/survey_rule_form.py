"""Edit the rule that decides after which rounds the survey is shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from kitchen.contract.world import Json
from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import Study
from study.design.own_pages import AFTER_ROUND, ShowRule, page_problems
from study.design.part_rules import SurveyRule
from study.editor.condition_and_item_forms import ShowsOtherKinds
from study.editor.rule_fields import HasRule


class SurveyRuleForm(ShowsOtherKinds, HasRule, forms.ModelForm):  # type: ignore[type-arg]
    """A form with some rows of comparisons. They are decided anew after each round."""

    changed_fields = ("survey_show_if",)

    class Meta:
        model = Study
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.add_rule(blueprint_of(self.instance), AFTER_ROUND, self.instance.survey_show_if or {})
        self.fields["match"].label = "Ask after a round if"

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, with the rule collected and checked."""
        cleaned = super().clean() or self.cleaned_data
        self.instance.survey_show_if = self.checked_rule(cleaned, _rule_problems)
        return cleaned


def _rule_problems(rule: dict[str, Json], design: Blueprint) -> Iterable[str]:
    return page_problems(SurveyRule(ShowRule.model_validate(rule)), design).values()
