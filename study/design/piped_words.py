"""Put a participant's own answers and results into the texts of a page.

The names are `{answer:KEY}`, `{figure:NAME}` and `{team}`. The inserted words are escaped, so they are never
read as Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import punctuation

from kitchen.contract.world import Json
from study.design.own_pages import ParticipantFacts

PIPED = re.compile(r"\{(answer:[A-Za-z0-9_-]+|figure:[A-Za-z0-9_]+|team)\}")
"""A word in braces that stands for a participant's value."""
MISTAKEN = re.compile(r"\{\s*(answer|figure|team|condition|group|name)\b[^}]*\}", re.IGNORECASE)
"""A word in braces that looks like one of `PIPED`."""
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


def filled_text(text: str, facts: ParticipantFacts, shown: Mapping[str, Mapping[str, str]]) -> str:
    """Return the Markdown text with this participant's words in place of the names in braces.

    `shown` has the words for options that participants read in another language, by item key and option.
    """

    def words(found: re.Match[str]) -> str:
        if found[1] == "team":
            return _escaped(facts.team or NOTHING)
        if (name := found[1].removeprefix("figure:")) != found[1]:
            return _escaped(facts.figure_words.get(name, NOTHING))
        value = facts.value(found[1])
        known = shown.get(found[1].removeprefix("answer:"), {})
        return _escaped(_words(value, known))

    return PIPED.sub(words, text)


def has_piped_words(text: str) -> bool:
    """Return whether a text contains names in braces to fill."""
    return PIPED.search(text) is not None


def _words(value: Json, shown: Mapping[str, str]) -> str:
    if value is None or value == []:
        return NOTHING
    if isinstance(value, list):
        return ", ".join(_words(one, shown) for one in value)
    if isinstance(value, dict):
        return ", ".join(_words(one, shown) for one in value.values())
    return shown.get(str(value), str(value))


def _escaped(words: str) -> str:
    """Return the words in one line, with each mark that Markdown or HTML could read escaped."""
    return " ".join(words.split()).translate(_ESCAPED)
