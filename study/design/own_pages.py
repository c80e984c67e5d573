"""Define the pages that researchers write themselves: their place in the study, and when they are shown.

A page is shown before one of the study's other pages, between two rounds, or before the last page. Its rule
(`ShowRule`) compares answers, metrics and groups with values. The module imports no Django.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, Strict

from kitchen.contract.data_files import Record, error_text, find_problem, one_of
from kitchen.contract.world import Json
from study.design.part_order import parts_before_rounds

PREFIX = "own-"
"""The name of a participant's page begins so, if researchers wrote the page. The page's key follows."""

FIRST_ROUND = "rounds"
"""The place before the first round."""
PLACES_BEFORE = ("about", "guide", "practice", "check", FIRST_ROUND)
"""Places before the rounds: each is named after the part that follows."""
PLACES_AFTER = ("final", "debriefing", "end")
"""Places after the rounds."""
BETWEEN = re.compile(r"round-([2-9]|[1-9][0-9])")
"""A place between two rounds is named after the round that follows, such as `round-2`."""
AFTER_ROUND = "after-round"
"""The place of the survey after each round. No page of the researchers is there."""
MOST_RULES = 10

COMPARISONS = {"is": "is", "is_not": "is not", "at_least": "is at least", "at_most": "is at most"}
"""How a rule compares a value, by stored name."""
SOURCES = ("answer", "figure")
"""Kinds of values with a name: an answer by the item's key, a metric of the last round by its name."""
COUNTS = {
    "count:finished": "People who finished the study",
    "count:group": "People of the same group who finished the study",
    "count:shown": "People who were shown this page",
}
"""Numbers of participants that a rule may compare: quotas. `same:KEY` is the number of people who
finished and gave the same answer to the item."""
COUNTED_KINDS = ("single", "likert")
"""Kinds of items whose equal answers a rule may count."""
NOT_COMPARED = ("ranking", "best_worst", "texts")
"""Kinds of items whose answers have several parts, so that no rule can compare them with one value."""
COUNTING = ("count", "same")
"""Kinds of values that are numbers of participants."""
PLAIN_SOURCES = ("group", "condition")
"""Values without a name: the between-subjects group, and the condition of the last round."""


class Comparison(Record):
    """One comparison, such as *the answer to `age` is at least 18*.

    `what` is `answer:KEY`, `figure:NAME`, `group`, `condition`, one of `COUNTS`, or `same:KEY`.
    """

    what: Annotated[str, Field(max_length=80)]
    compares: Annotated[str, one_of(COMPARISONS)] = "is"
    value: Annotated[str, Field(max_length=200)] = ""


class ShowRule(Record):
    """The comparisons that decide whether a page is shown. Without comparisons, it is always shown."""

    match: Literal["all", "any"] = "all"
    rules: Annotated[
        tuple[Comparison, ...], Strict(False), Field(max_length=MOST_RULES), error_text("must be a list")
    ] = ()


class ShownByRule(Protocol):
    """A page of the researchers, or a part, which a rule can leave out for somebody."""

    @property
    def page(self) -> str:
        """Return the name of the participant's page."""

    @property
    def before(self) -> str:
        """Return the place at which the rule is decided."""

    @property
    def show_if(self) -> ShowRule:
        """Return the rule."""


class OwnPagePlan(Record):
    """One page of the design that researchers wrote. The fields mean the same as in
    `study.design.models.OwnPage`."""

    key: str
    before: str
    title: str
    text: str
    ends: bool = False
    show_if: ShowRule = ShowRule()
    not_before_hours: int | None = None
    not_after_hours: int | None = None
    has_code: bool = False
    """Whether the break gives a code. The code itself is left out, because readers of the design could submit
    it."""

    @property
    def is_break(self) -> bool:
        """Return whether the page is a break between two sessions."""
        return self.not_before_hours is not None or self.not_after_hours is not None

    @property
    def page(self) -> str:
        """Return the name of the participant's page."""
        return f"{PREFIX}{self.key}"


@dataclass(frozen=True, slots=True)
class ParticipantFacts:
    """What rules and texts of a page may use about one participant, by name. Nothing identifies the
    person."""

    answers: Mapping[str, Json] = field(default_factory=dict)
    """The last answer to each item, by key."""
    figures: Mapping[str, Json] = field(default_factory=dict)
    """The metrics of the last round that was played, by name."""
    figure_words: Mapping[str, str] = field(default_factory=dict)
    """The same metrics as participants read them, such as `67 %`."""
    group: str = ""
    condition: str = ""
    """The key of the condition that was played last; empty before the first round."""
    team: str = ""
    """The name that participants read for this condition."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Numbers of other participants, by what a rule compares (`counted_by`)."""

    def value(self, what: str) -> Json:
        """Return the value that a comparison names with `what`. Return None if there is none yet."""
        source, _, name = what.partition(":")
        if source in COUNTING:
            return self.counts.get(what)
        if source == "answer":
            return self.answers.get(name)
        if source == "figure":
            return self.figures.get(name)
        return {"group": self.group, "condition": self.condition}.get(what) or None


def counted_by(page: ShownByRule) -> list[str]:
    """Return the numbers of participants that the page's rule compares, as the rule names them."""
    return [one.what for one in page.show_if.rules if one.what.partition(":")[0] in COUNTING]


def screen_out_reason(page: OwnPagePlan) -> str:
    """Return the stored reason of a participation that ended at this page."""
    return f"page {page.key}"


def is_page_shown(page: ShownByRule, facts: ParticipantFacts) -> bool:
    """Return whether the page's rule holds for a participant with these facts."""
    rule = page.show_if
    if not rule.rules:
        return True
    held = (holds(one, facts.value(one.what)) for one in rule.rules)
    return all(held) if rule.match == "all" else any(held)


def holds(one: Comparison, value: Json) -> bool:
    """Return whether a comparison holds for this value. Numbers are compared as numbers, and texts as texts.
    An answer with several options *is* each of them. A missing value only fulfils *is not*."""
    if isinstance(value, list):
        found = any(holds(one.model_copy(update={"compares": "is"}), part) for part in value)
        return {"is": found, "is_not": not found}.get(one.compares, False)
    left, right = as_number(value), as_number(one.value)
    if one.compares in {"at_least", "at_most"}:
        if left is None or right is None:
            return False
        return left >= right if one.compares == "at_least" else left <= right
    same = left == right if left is not None and right is not None else _text(value) == one.value.strip()
    return same is (one.compares == "is")


def as_number(value: Json) -> float | None:
    """Return an answer or a compared value as a number. Return None if it is none."""
    if value is None or isinstance(value, (bool, list, dict)):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _text(value: Json) -> str | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else str(value).strip()


def place_problem(before: str) -> str:
    """Return why this is no place of a page. Return an empty string if it is one."""
    if before in {*PLACES_BEFORE, *PLACES_AFTER} or BETWEEN.fullmatch(before):
        return ""
    return "Choose the page before which this page comes."


def rule_problem(show_if: Any) -> str:
    """Return why this JSON value is no rule of a page. Return an empty string if it is one."""
    return find_problem(ShowRule, show_if)


def round_after(before: str) -> int:
    """Return the number of the round that follows a place between rounds. Return 0 for another place."""
    found = BETWEEN.fullmatch(before)
    return int(found[1]) if found else 0


def pages_at(pages: Iterable[OwnPagePlan], place: str) -> list[str]:
    """Return the names of the pages at this place, in their order."""
    return [one.page for one in pages if one.before == place]


def with_own_pages(pages: Sequence[OwnPagePlan], others: Sequence[str], last: str) -> tuple[str, ...]:
    """Return the names of the pages before or after the rounds, in order, with the researchers' pages among
    them.

    `others` are the study's other pages. The pages of the place `last` come behind them. If a page's place is
    not among `others`, the page also comes behind them, so that no page is lost.
    """
    places = PLACES_BEFORE if last == FIRST_ROUND else PLACES_AFTER
    late = [one for one in places if one not in others]
    order = [page for other in others for page in (*pages_at(pages, other), other)]
    return (*order, *(page for place in late for page in pages_at(pages, place)))


def known_names(design: Any, before: str, page: str = "") -> dict[str, str]:
    """Return what a page at this place may use, with readable names: answers that were asked before it, and
    metrics of the last round.

    `design` is a `Blueprint`. `page` is the page's name; without it, the page comes last at its place.
    """
    from_rounds = before in {*PLACES_AFTER, AFTER_ROUND} or round_after(before) > 0
    asked = {*_asked_before(design, before), *_pages_before(design, before, page)}
    names = {
        f"answer:{item.key}": f"Answer: {item.measure}"
        for item in design.items
        if item.place in asked and (item.place not in {"about", "check", "final"} or design.has(item.place))
    }
    if from_rounds:
        names |= {f"figure:{name}": f"Last round: {label}" for name, label in design.figure_labels.items()}
        names["condition"] = "Condition of the last round"
    if design.groups and _has_group(design, before):
        names["group"] = "Group between people"
    return names


def _pages_before(design: Any, before: str, page: str) -> list[str]:
    """Return the researchers' pages that come before a page at this place (see `known_names`)."""
    rank = _place_rank(design, before)
    ranks = [(_place_rank(design, one.before), one.page) for one in design.pages]
    beside = [name for at, name in ranks if at == rank]
    ahead = beside[: beside.index(page)] if page in beside else beside
    return [*(name for at, name in ranks if at < rank), *ahead]


def _place_rank(design: Any, place: str) -> int:
    """Return a number that orders the places of pages as participants reach them."""
    order = [one for one in parts_before_rounds(design) if one in PLACES_BEFORE]
    order += [one for one in PLACES_BEFORE if one not in order]
    if place in order:
        return order.index(place)
    if place == AFTER_ROUND:
        return len(order)
    number, after = round_after(place), len(order) + int(design.rounds) + 1
    if number:
        return min(len(order) + number, after)
    return after + 1 + PLACES_AFTER.index(place) if place in PLACES_AFTER else -1


def compared_names(design: Any, before: str, page: str = "") -> dict[str, str]:
    """Return what the rule of a page at this place may compare, with readable names: `known_names` without
    the answers that have several parts, and numbers of participants."""
    parts = {f"answer:{item.key}" for item in design.items if item.kind in NOT_COMPARED}
    known = {name: words for name, words in known_names(design, before, page).items() if name not in parts}
    counts = {name: words for name, words in COUNTS.items() if name != "count:group" or "group" in known}
    same = {
        f"same:{item.key}": f"People who finished with the same answer to: {item.measure}"
        for item in design.items
        if item.kind in COUNTED_KINDS and f"answer:{item.key}" in known
    }
    return known | counts | same


def kind_problem(show_if: Any, kinds: Mapping[str, str]) -> str:
    """Return why a rule cannot compare the answers that it names. Return an empty string if it can. `show_if`
    is a valid rule as JSON, and `kinds` are the kinds of the study's items by key."""
    for one in (show_if or {}).get("rules", ()):
        source, _, name = one["what"].partition(":")
        if source == "answer" and kinds.get(name) in NOT_COMPARED:
            return f"“{one['what']}” has several parts, so a rule cannot compare it."
    return ""


def _asked_before(design: Any, before: str) -> list[str]:
    """Return the places of survey items that are all asked before a page at the place `before`."""
    if before in {"debriefing", "end"}:
        return ["about", "check", "survey", "final"]
    if before == "final" or round_after(before):
        return ["about", "check", "survey"]
    if before in {FIRST_ROUND, AFTER_ROUND}:
        return ["about", "check"]
    order = parts_before_rounds(design)
    earlier = order[: order.index(before)] if before in order else ["about"]
    return [one for one in ("about", "check") if one in earlier]


def _has_group(design: Any, before: str) -> bool:
    """Return whether every participant has a group at this place."""
    return not design.allocation.items or "about" in _asked_before(design, before)


def page_problems(page: ShownByRule, design: Any) -> dict[str, str]:
    """Return what is wrong with a page's rule at its place, as messages by field name. `design` is a
    `Blueprint`."""
    if words := kind_problem(page.show_if.model_dump(), {item.key: item.kind for item in design.items}):
        return {"show_if": words}
    known = compared_names(design, page.before, page.page)
    for one in page.show_if.rules:
        if one.what not in known:
            return {"show_if": f"“{one.what}” is not known before this page. Known are: {_listed(known)}."}
        if one.compares in {"at_least", "at_most"} and as_number(one.value) is None:
            return {"show_if": f"“{COMPARISONS[one.compares]}” needs a number, not “{one.value}”."}
    return {}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def rule_words(page: ShownByRule, names: Mapping[str, str]) -> str:
    """Return when the page is shown, as text. It is empty if everybody sees the page. `names` are readable
    names of values (`known_names`)."""
    told = [
        f"{names.get(one.what, one.what)} {COMPARISONS[one.compares]} {one.value}"
        for one in page.show_if.rules
    ]
    return f" {'and' if page.show_if.match == 'all' else 'or'} ".join(told)


def place_words(before: str, parts: Mapping[str, str]) -> str:
    """Return the place of a page as text, such as `before round 2`. `parts` are readable names of parts."""
    if number := round_after(before):
        return f"before round {number}"
    return "before the first round" if before == FIRST_ROUND else f"before {parts.get(before, before)}"
