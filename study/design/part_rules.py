"""Define which parts of a study a rule can leave out for somebody, and read and check such rules.

A part's rule is in its settings. It has the form of the rule of a page (`study.design.own_pages.ShowRule`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kitchen.contract.world import Json
from study.design.own_pages import AFTER_ROUND, OwnPagePlan, ShownByRule, ShowRule, rule_problem

RULE = "show_if"
"""The name of the rule among a part's settings. A part without a rule does not have it."""
RULED_PARTS = ("about", "guide", "practice", "check", "final")
"""Parts that may have a rule."""
FOR_EVERYBODY = {
    "welcome": "Everybody begins on this page, before anything is known about them.",
    "consent": "Everybody must agree before they take part.",
    "debriefing": "Everybody may read what the study was about.",
    "end": "Everybody ends on this page.",
}
"""Why the other parts have no rule."""
NEEDS_ANSWERS = "The answers decide the group between people, so everybody must be asked."


def rule_of(settings: Mapping[str, Any]) -> ShowRule:
    """Return the rule in a part's settings. Without one, everybody sees the part."""
    return ShowRule.model_validate(settings[RULE]) if settings.get(RULE) else ShowRule()


def part_rule_problem(kind: str, settings: Mapping[str, Json]) -> str:
    """Return why a part cannot have the rule in its settings. Return an empty string if it can."""
    if not settings.get(RULE):
        return ""
    if kind in FOR_EVERYBODY:
        return f"{FOR_EVERYBODY[kind]} A rule cannot leave it out."
    return rule_problem(settings[RULE])


@dataclass(frozen=True, slots=True)
class SurveyRule:
    """The rule of the survey after a round. It is decided anew after each round."""

    show_if: ShowRule
    page: str = "survey"
    before: str = AFTER_ROUND


def survey_rule(design: Any) -> SurveyRule | None:
    """Return the rule of the survey after a round. Return None if everybody is asked. `design` is a
    `Blueprint`."""
    rule = ShowRule.model_validate(design.meant("survey_show_if"))
    return SurveyRule(rule) if rule.rules else None


def why_for_everybody(design: Any, kind: str) -> str:
    """Return why this part can have no rule in this design. Return an empty string if it can. `design` is a
    `Blueprint`."""
    if kind == "about" and design.groups and design.allocation.items:
        return NEEDS_ANSWERS
    return FOR_EVERYBODY.get(kind, "")


def shown_by_rule(design: Any, page: str) -> OwnPagePlan | ShownByRule | None:
    """Return the page of the researchers, or the part with a rule, by the name of the participant's page.
    Return None for another page. `design` is a `Blueprint`."""
    own: OwnPagePlan | None = next((one for one in design.pages if one.page == page), None)
    if own or page not in RULED_PARTS or why_for_everybody(design, page):
        return own
    part: ShownByRule = design.part(page)
    return part if part.show_if.rules else None


def names_with_rules(design: Any) -> set[str]:
    """Return the names of the pages and parts that a rule leaves out for somebody. `design` is a
    `Blueprint`."""
    survey = {"survey"} if survey_rule(design) else set()
    return survey | {one.page for one in (*design.pages, *design.parts) if one.show_if.rules}
