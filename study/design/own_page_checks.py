"""Find problems of the pages that researchers wrote: unknown names, pages that nobody sees, and dead ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from study.design.blueprint import Blueprint
from study.design.models import Study
from study.design.own_pages import (
    Comparison,
    OwnPagePlan,
    known_names,
    page_problems,
    round_after,
)
from study.design.piped_words import piped_problem, translation_problem
from study.design.readiness_problem import ReadinessProblem, advice
from study.design.translations import language_codes, language_name


def own_page_problems(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield the problems of the study's own pages, in their order."""
    if not design.pages:
        return
    rows = dict(study.own_pages.values_list("key", "pk"))
    for page in design.pages:
        for words in page_errors(page, design).values():
            yield ReadinessProblem(f"Page “{page.title}”: {words}", "own-page", (rows[page.key],))
        for words in _translation_errors(page, design):
            yield ReadinessProblem(f"Page “{page.title}”: {words}", "own-page", (rows[page.key],))
        if words := _unreached(page, design):
            yield advice(f"Page “{page.title}”: {words}", "own-page", rows[page.key])


def page_errors(page: OwnPagePlan, design: Blueprint) -> dict[str, str]:
    """Return why a page cannot be shown as it is, as messages by field name. The result is empty if it
    can."""
    found = page_problems(page, design)
    if words := piped_problem(page.text, known_names(design, page.before)):
        found["text"] = words
    if page.ends and not page.show_if.rules:
        found["ends"] = "Everybody would end here. Say for which answers the page is shown."
    return found


def _translation_errors(page: OwnPagePlan, design: Blueprint) -> Iterator[str]:
    """Yield a sentence for each language whose translation of the page's text cannot be filled."""
    known = known_names(design, page.before)
    for language in language_codes(design.study.get("languages", ""))[1:]:
        translation = design.study.get("texts", {}).get(language, {}).get(f"pages.{page.key}.text", "")
        if words := translation_problem(page.text, translation, known):
            yield f"its translation ({language_name(language)}): {words}"


def _unreached(page: OwnPagePlan, design: Blueprint) -> str:
    """Return why nobody sees a page, or sees it elsewhere than planned. Return an empty string if neither is
    so."""
    if (number := round_after(page.before)) > design.rounds:
        return f"nobody plays round {number}, so it comes after the last round."
    unknown = [why for one in page.show_if.rules if (why := _impossible(one, design))]
    if page.show_if.match == "all":
        return next(iter([*unknown, *_contradictions(page, design)]), "")
    return unknown[0] if len(unknown) == len(page.show_if.rules) > 0 else ""


def _impossible(one: Comparison, design: Blueprint) -> str:
    """Return why a comparison never holds: it asks for a value that does not exist."""
    source, _, name = one.what.partition(":")
    items = {item.key: item for item in design.items}
    values: list[str] = []
    if source == "answer" and name in items:
        values = items[name].options
    elif source == "group":
        values = list(design.groups)
    elif source == "condition":
        values = [plan.key for plan in design.conditions]
    if one.compares != "is" or not values or one.value in values:
        return ""
    return f"nobody sees it, because “{one.value}” is none of {', '.join(values)}."


def _contradictions(page: OwnPagePlan, design: Blueprint) -> Iterator[str]:
    """Yield a sentence for each pair of comparisons of which only one can hold. An answer with several
    options can be both."""
    wanted = defaultdict[str, list[str]](list)
    several = {f"answer:{item.key}" for item in design.items if item.kind == "multiple"}
    for one in page.show_if.rules:
        if one.compares == "is" and one.what not in several:
            wanted[one.what].append(one.value)
    for values in wanted.values():
        for first, second in pairwise(dict.fromkeys(values)):
            yield f"nobody sees it, because a value cannot be both “{first}” and “{second}”."
