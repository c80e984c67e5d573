"""Find problems of the pages that researchers wrote, and of the rules of parts: unknown names, pages that
nobody sees, and dead ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from study.design.blueprint import Blueprint
from study.design.condition_seats import is_shared
from study.design.models import Study
from study.design.own_pages import (
    COMPARISONS,
    Comparison,
    OwnPagePlan,
    ShownByRule,
    as_number,
    known_names,
    page_problems,
    round_after,
)
from study.design.page_and_item_order import is_shown, own_page, pages_after_rounds
from study.design.part_rules import RULED_PARTS, survey_rule, why_for_everybody
from study.design.parts_other_than_rounds import PARTS
from study.design.piped_words import piped_problem, translation_problem
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import kind_of
from study.design.readiness_problem import ReadinessProblem, advice
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.design.session_breaks import break_time_problems
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
        for words in _break_advice(page, design, study.recruitment):
            yield advice(f"Page “{page.title}”: {words}", "own-page", rows[page.key])


def part_rule_problems(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield the problems of the parts' rules, in the order of the parts."""
    if survey := survey_rule(design):
        for words in page_problems(survey, design).values():
            yield ReadinessProblem(f"Survey after a round: {words}", "survey-rule")
        if words := _unreached(survey, design):
            yield advice(f"Survey after a round: {words}", "survey-rule")
    for part in design.parts:
        if not part.enabled or not part.show_if.rules:
            continue
        name = PARTS[part.kind].words.capitalize()
        for words in part_rule_errors(part, design):
            yield ReadinessProblem(f"{name}: {words}", "part", (part.kind,))
        if words := _unreached(part, design):
            yield advice(f"{name}: {words}", "part", part.kind)


def part_rule_errors(part: ShownByRule, design: Blueprint) -> list[str]:
    """Return why a part cannot have its rule in this design. The result is empty if it can."""
    if why := why_for_everybody(design, part.page):
        return [why]
    return list(page_problems(part, design).values())


def page_errors(page: OwnPagePlan, design: Blueprint) -> dict[str, str]:
    """Return why a page cannot be shown as it is, as messages by field name. The result is empty if it
    can."""
    found = page_problems(page, design)
    if words := piped_problem(page.text, known_names(design, page.before, page.page)):
        found["text"] = words
    if design.items_at(page.page) and (page.ends or page.is_break):
        found["ends" if page.ends else "not_before_hours"] = (
            "This page has questions. Ask them on a page before this one."
        )
    if page.ends and not page.show_if.rules:
        found["ends"] = "Everybody would end here. Say for which answers the page is shown."
    if page.is_break:
        found |= break_time_problems(page, ends=page.ends, has_code=page.has_code)
    if page.is_break and _is_last(page, design):
        found["before"] = "Nothing follows this break. Choose an earlier place."
    return found


def _is_last(page: OwnPagePlan, design: Blueprint) -> bool:
    """Return whether nothing but the last page follows this page. Pages at which the study ends do not
    count."""
    ends = {one.page for one in design.pages if one.ends}
    after = [one for one in pages_after_rounds(design) if one not in ends and is_shown(design, one)]
    if not after:
        return page.before == "end"
    return after[-1] == page.page or (page.before == "end" and page.page not in after)


def _break_advice(page: OwnPagePlan, design: Blueprint, recruitment: str) -> Iterator[str]:
    """Yield what researchers should know about a break before people take part. `recruitment` names where
    they come from."""
    if not page.is_break:
        return
    if page.not_after_hours is None:
        yield "people who never come back keep their place, because there is no latest return."
    if any(map(is_shared, design.conditions)):
        yield "people who play together come back at different times, and wait for each other in the lobby."
    if not page.has_code and RECRUITMENT_PLACES[recruitment].complete:
        yield "people get no code for the session that ends here."


def _translation_errors(page: OwnPagePlan, design: Blueprint) -> Iterator[str]:
    """Yield a sentence for each language whose translation of the page's text cannot be filled."""
    known = known_names(design, page.before, page.page)
    for language in language_codes(design.study.get("languages", ""))[1:]:
        translation = design.study.get("texts", {}).get(language, {}).get(f"pages.{page.key}.text", "")
        if words := translation_problem(page.text, translation, known):
            yield f"its translation ({language_name(language)}): {words}"


def _unreached(page: ShownByRule, design: Blueprint) -> str:
    """Return why nobody sees a page, or sees it elsewhere than planned. Return an empty string if neither is
    so."""
    if (number := round_after(page.before)) > design.rounds:
        return f"nobody plays round {number}, so it comes after the last round."
    if always := _always(page, design):
        return always
    unknown = [why for one in page.show_if.rules if (why := _impossible(one, design))]
    if page.show_if.match == "all":
        return next(iter([*unknown, *_contradictions(page, design)]), "")
    return unknown[0] if len(unknown) == len(page.show_if.rules) > 0 else ""


def _always(page: ShownByRule, design: Blueprint) -> str:
    """Return why the page's rule always holds. Return an empty string if it does not, or has no
    comparisons."""
    held = [one for one in page.show_if.rules if _holds_always(one, design)]
    needed = len(page.show_if.rules) if page.show_if.match == "all" else 1
    if not held or len(held) < needed:
        return ""
    words = f"{COMPARISONS[held[0].compares]} {held[0].value}"
    return f"everybody sees it, because every answer “{words}”."


def _holds_always(one: Comparison, design: Blueprint) -> bool:
    """Return True if every possible answer fulfils the comparison. Answers that may be missing do not."""
    item, number = _item(one, design), as_number(one.value)
    if item is None:
        return False
    if one.compares == "is_not":
        return bool(item.options) and one.value not in item.options
    asked_everybody = item.required and not _is_left_out(item, design)
    bounds = kind_of(item).ends(item) if asked_everybody else None
    if bounds is None or number is None:
        return False
    return {"at_least": number <= bounds[0], "at_most": number >= bounds[1]}.get(one.compares, False)


def _is_left_out(item: ItemPlan, design: Blueprint) -> bool:
    """Return whether a rule leaves out the page on which the item is asked, so that an answer may be
    missing."""
    page = own_page(design, item.place)
    if page:
        return bool(page.show_if.rules)
    if item.place == "survey":
        return survey_rule(design) is not None
    return item.place in RULED_PARTS and bool(design.part(item.place).show_if.rules)


def _item(one: Comparison, design: Blueprint) -> ItemPlan | None:
    """Return the item whose answer is compared. Return None if it is no answer, or one that may be
    unasked."""
    source, _, name = one.what.partition(":")
    return next((item for item in design.items if source == "answer" and item.key == name), None)


def _out_of_range(one: Comparison, design: Blueprint) -> str:
    """Return why a comparison with a number never holds: the item's answers end before it."""
    item, number = _item(one, design), as_number(one.value)
    bounds = kind_of(item).ends(item) if item else None
    if bounds is None or number is None:
        return ""
    low, high = bounds
    out = number > high if one.compares == "at_least" else number < low
    return f"nobody sees it, because answers lie between {low:g} and {high:g}." if out else ""


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
    if one.compares in {"at_least", "at_most"}:
        return _out_of_range(one, design)
    if one.compares != "is" or not values or one.value in values:
        return ""
    return f"nobody sees it, because “{one.value}” is none of {', '.join(values)}."


def _contradictions(page: ShownByRule, design: Blueprint) -> Iterator[str]:
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
    yield from _empty_ranges(page)


def _empty_ranges(page: ShownByRule) -> Iterator[str]:
    """Yield a sentence for each value that should be at least one number and at most a smaller one."""
    least, most = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for one in page.show_if.rules:
        number = as_number(one.value)
        if number is not None and one.compares in {"at_least", "at_most"}:
            (least if one.compares == "at_least" else most)[one.what].append(number)
    for what in sorted(least.keys() & most.keys()):
        low, high = max(least[what]), min(most[what])
        if low > high:
            yield f"nobody sees it, because no number is at least {low:g} and at most {high:g}."
