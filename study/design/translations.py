"""The languages of a study, its translatable texts, and default texts that the program translates.

In a design a text is known by its path: `title`, `parts.consent.text`, `items.trust.options.2`. A study
keeps translations by the text itself (`Study.texts`). So a translation follows a text that is moved, and
is lost when the text is rewritten. In a design's document (`Blueprint`) texts and translations are
fixed, by path. Codes of languages are separated by spaces; the first is the language of the study's own
texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from kitchen.words.translation import gettext_noop
from study.design.questions.item_fields import AGREEMENT

ORIGINAL_LANGUAGE = "en"
"""In which a study's own texts are written where nothing is said."""


def language_codes(languages: str) -> list[str]:
    """Those that this program speaks; a study from a later one may offer more."""
    known = dict(settings.LANGUAGES)
    return [code for code in languages.split() if code in known] or [ORIGINAL_LANGUAGE]


def language_names(languages: str) -> list[tuple[str, str]]:
    """By their codes, each in its own words."""
    known = dict(settings.LANGUAGES)
    return [(code, str(known[code])) for code in language_codes(languages)]


def languages_problem(languages: str) -> str:
    """What is wrong with them; empty if nothing is."""
    asked = languages.split()
    if not asked:
        return "Choose at least one language."
    if unknown := [code for code in asked if code not in dict(settings.LANGUAGES)]:
        return f"{unknown[0]} is not one of {', '.join(dict(settings.LANGUAGES))}."
    return "Each language can be chosen only once." if len(set(asked)) < len(asked) else ""


def best_language(languages: str, wanted: Iterable[str]) -> str:
    """The one that somebody reads who wants these, the dearest first; the study's own for who reads none."""
    offered = language_codes(languages)
    return next((code for one in wanted if (code := _among(one, offered))), offered[0])


def _among(wanted: str, offered: Sequence[str]) -> str:
    """The same language, or another kind of it; empty if there is none."""
    wanted = _SAME.get(wanted.lower(), wanted.lower())
    if wanted in offered:
        return wanted
    family = wanted.partition("-")[0]
    return next((code for code in offered if code.partition("-")[0] == family), "")


_SAME = {"zh": "zh-hans", "zh-cn": "zh-hans", "zh-sg": "zh-hans"}
"""Other names of a language."""

DEFAULT_STATEMENT = gettext_noop("I have read this and I agree to take part.")
"""What they agree to."""
DEFAULT_TITLES: Mapping[str, str] = {
    "welcome": "",
    "consent": gettext_noop("Before you take part"),
    "about": gettext_noop("About you"),
    "guide": gettext_noop("How to play"),
    "practice": gettext_noop("Practice"),
    "check": gettext_noop("A few questions before you start"),
    "final": gettext_noop("Looking back"),
    "debriefing": gettext_noop("What this study was about"),
    "end": gettext_noop("Thank you, that was the last part"),
}
"""The headings of the parts, by their kinds."""

Texts = Mapping[str, str]
"""Translations by what is translated, or texts by their paths."""
DEFAULT_TEXTS = frozenset([DEFAULT_STATEMENT, *AGREEMENT, *DEFAULT_TITLES.values()])
"""What stands there unless a researcher writes something else: the program translates it itself."""


def texts_to_translate(design: Any) -> dict[str, str]:
    """What is to be translated of a design (a `Blueprint`), by path, in the order in which participants meet
    it."""
    off = tuple(f"parts.{part.kind}." for part in design.parts if not part.enabled)
    found = {path: text for path, text in all_texts(design).items() if not path.startswith(off)}
    return {path: text for path, text in found.items() if has_words(text) and text not in DEFAULT_TEXTS}


def all_texts(design: Any) -> dict[str, str]:
    """Every text of it, by path, also those that nobody meets."""
    return dict(_texts(design))


def has_words(text: str) -> bool:
    """Whether there is something to be translated."""
    return any(letter.isalpha() for letter in text)


def texts_by_path(design: Any, translated: Mapping[str, Texts]) -> dict[str, dict[str, str]]:
    """By language, what stands at each path of this design, as far as it is `translated`."""
    own = texts_to_translate(design)
    return {
        language: {path: texts[text] for path, text in own.items() if text in texts}
        for language, texts in translated.items()
    }


def _texts(design: Any) -> Iterator[tuple[str, str]]:
    yield "title", design.study["title"]
    for part in design.parts:
        yield from _of_part(part)
    for condition in design.conditions:
        yield f"conditions.{condition.key}.label", condition.label
    for item in design.items:
        yield from _of_item(item)
    for outcome in design.outcomes:
        yield f"outcomes.{outcome.kind}.text", outcome.text


def _of_part(part: Any) -> Iterator[tuple[str, str]]:
    yield f"parts.{part.kind}.title", part.title
    yield f"parts.{part.kind}.text", part.text
    for number, statement in enumerate(part.settings.get("statements", ()), start=1):
        yield f"parts.{part.kind}.statements.{number}", statement


def _of_item(item: Any) -> Iterator[tuple[str, str]]:
    yield f"items.{item.key}.text", item.text
    yield f"items.{item.key}.low", item.low
    yield f"items.{item.key}.high", item.high
    for number, option in enumerate(item.options, start=1):
        yield f"items.{item.key}.options.{number}", option


def describe_text_path(path: str) -> str:
    """Where a text stands, in words: `items.trust.options.2` is `Item trust, option 2`."""
    what, *rest = path.split(".")
    if not rest:
        return "Title"
    where, field, *number = rest
    name = {"parts": "Part", "items": "Item", "conditions": "Condition", "outcomes": "End"}[what]
    which = f"{_FIELDS.get(field, field)} {number[0]}" if number else _FIELDS.get(field, field)
    return f"{name} {where}, {which}"


_FIELDS = {
    "high": "words at the highest point",
    "low": "words at the lowest point",
    "options": "option",
    "statements": "statement",
    "title": "heading",
}
