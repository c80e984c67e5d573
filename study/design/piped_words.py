"""Put a participant's own answers and results into the texts of a page.

The names are `{answer:KEY}`, `{figure:NAME}` and `{team}`. The inserted words are escaped, so they are never
read as Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import punctuation

from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext
from study.design.own_pages import ParticipantFacts
from study.design.questions.choice_item_kinds import BEST, WORST
from study.design.questions.item_fields import DOES_NOT_APPLY, ItemPlan
from study.design.questions.item_kinds import kind_of

PIPED = re.compile(r"\{(answer:[A-Za-z0-9_-]+|figure:[A-Za-z0-9_]+|team)\}")
"""A word in braces that stands for a participant's value."""
MISTAKEN = re.compile(r"\{\s*(answer|figure|team|condition|group|name)\b[^}]*\}", re.IGNORECASE)
"""A word in braces that looks like one of `PIPED`."""
BRACED = re.compile(r"\{[^{}\n]+\}")
"""Any words in braces."""
NOTHING = "—"
"""Shown for an answer that was not given, and for a metric that is undefined."""
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in punctuation})


def piped_problem(text: str, known: Mapping[str, str]) -> str:
    """Return why a text cannot be filled at its place. Return an empty string if it can.

    `known` are the names that are known at this place (`own_pages.known_names`).
    """
    names = ["{team}" if one == "condition" else f"{{{one}}}" for one in known if one != "group"]
    for found in MISTAKEN.finditer(text):
        if found[0] not in names:
            listed = ", ".join(names) or "none"
            return f"“{found[0]}” is not known before this page. Known are: {listed}."
    return ""


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """The words for the stored values of an item's answers, in the participant's language."""

    values: Mapping[str, str] = field(default_factory=dict)
    """The words for each option. Values that are not among them are shown as they are."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """The names of the parts of an answer with named parts, in the order in which they are shown."""


def answer_words_of(item: ItemPlan, teams: Mapping[str, str]) -> AnswerWords:
    """Return the words for answers to an item of a translated design. `teams` are the names of its
    conditions, by key."""
    options = dict(zip(item.options, item.shown_options, strict=True))
    if item.kind == "texts":
        return AnswerWords(parts=options)
    if item.kind == "best_worst":
        worst, best = kind_of(item).end_words(item)
        return AnswerWords(options, {BEST: best, WORST: worst})
    return AnswerWords(teams if item.kind == "team" else options)


def translation_problem(text: str, translation: str, known: Mapping[str, str]) -> str:
    """Return why the translation of a text cannot be filled at its place. Return an empty string if it can.

    `known` are the names that are known at this place. All words in braces must be in the text itself, and
    each participant's value in the text must be in the translation.
    """
    if words := piped_problem(translation, known):
        return words
    own, there = BRACED.findall(text), BRACED.findall(translation)
    if other := next((found for found in there if found not in own), ""):
        return f"“{other}” is not in the text itself. Words in braces are not translated."
    if translation and (missing := next((f for f in own if PIPED.fullmatch(f) and f not in there), "")):
        return f"“{missing}” is in the text itself, but not in its translation."
    return ""


def filled_text(text: str, facts: ParticipantFacts, shown: Mapping[str, AnswerWords]) -> str:
    """Return the Markdown text with this participant's words in place of the names in braces.

    `shown` has the words for answers, by item key.
    """

    def words(found: re.Match[str]) -> str:
        if found[1] == "team":
            return _escaped(facts.team or NOTHING)
        if (name := found[1].removeprefix("figure:")) != found[1]:
            return _escaped(facts.figure_words.get(name, NOTHING))
        value = facts.value(found[1])
        known = shown.get(found[1].removeprefix("answer:"), AnswerWords())
        return _escaped(_words(value, known))

    return PIPED.sub(words, text)


def has_piped_words(text: str) -> bool:
    """Return whether a text contains names in braces to fill."""
    return PIPED.search(text) is not None


def _words(value: Json, shown: AnswerWords) -> str:
    if value is None or value == []:
        return NOTHING
    if value == DOES_NOT_APPLY:
        return gettext("Does not apply")
    if isinstance(value, list):
        return ", ".join(_words(one, shown) for one in value)
    if isinstance(value, dict):
        order = [name for name in (shown.parts or value) if name in value]
        return "; ".join(f"{shown.parts.get(name, name)}: {_words(value[name], shown)}" for name in order)
    return shown.values.get(str(value), str(value))


def _escaped(words: str) -> str:
    """Return the words in one line, with each mark that Markdown or HTML could read escaped."""
    return " ".join(words.split()).translate(_ESCAPED)
