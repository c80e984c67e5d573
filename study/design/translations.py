"""Define a study's languages, the texts to translate, and default texts that the app translates itself.

A path identifies a text in a design: `title`, `parts.consent.text`, `items.trust.options.2`. `Study.texts`
stores each translation under the original text, not under its path. So a translation is kept if the text is
moved, and is lost if the text is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from kitchen.words.gettext_without_django import gettext_noop
from study.design.probe_texts import probe_texts
from study.design.questions.item_fields import AGREEMENT

ORIGINAL_LANGUAGE = "en"
"""The language of a study's own texts by default."""


def language_codes(languages: str) -> list[str]:
    """Return the language codes in this text that the application supports, in order. Other codes are
    skipped.

    If none is supported, return only the original language.
    """
    known = dict(settings.LANGUAGES)
    return [code for code in languages.split() if code in known] or [ORIGINAL_LANGUAGE]


def language_names(languages: str) -> list[tuple[str, str]]:
    """Return (code, name) pairs of the supported languages. Each name is in its own language."""
    known = dict(settings.LANGUAGES)
    return [(code, str(known[code])) for code in language_codes(languages)]


def language_name(code: str) -> str:
    """Return the name of a language, in that language itself. Return the code itself if it is not known."""
    return str(dict(settings.LANGUAGES).get(code, code))


def languages_problem(languages: str) -> str:
    """Return what is wrong with these language codes. Return an empty string if nothing is wrong."""
    asked = languages.split()
    if not asked:
        return "Choose at least one language."
    if unknown := [code for code in asked if code not in dict(settings.LANGUAGES)]:
        return f"{unknown[0]} is not one of {', '.join(dict(settings.LANGUAGES))}."
    return "Each language can be chosen only once." if len(set(asked)) < len(asked) else ""


def best_language(languages: str, wanted: Iterable[str]) -> str:
    """Return the offered language that fits a reader best. `wanted` are the reader's languages, most wanted
    first.

    Return the study's own language if none fits.
    """
    offered = language_codes(languages)
    return next((code for one in wanted if (code := _closest_code(one, offered))), offered[0])


def _closest_code(wanted: str, offered: Sequence[str]) -> str:
    """Return the offered language code that is closest to `wanted`: the same language or another variant of
    it. Return an empty string if there is none."""
    wanted = _SAME.get(wanted.lower(), wanted.lower())
    if wanted in offered:
        return wanted
    family = wanted.partition("-")[0]
    return next((code for code in offered if code.partition("-")[0] == family), "")


_SAME = {"zh": "zh-hans", "zh-cn": "zh-hans", "zh-sg": "zh-hans"}
"""Other codes of a language, as browsers send them."""

DEFAULT_STATEMENT = gettext_noop("I have read this and I agree to take part.")
"""The default statement that participants agree to."""
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
"""The default headings of the parts, by kind."""

Texts = Mapping[str, str]
"""Translations by original text, or texts by path."""
DEFAULT_TEXTS = frozenset([DEFAULT_STATEMENT, *AGREEMENT, *DEFAULT_TITLES.values()])
"""Default texts of parts. The program translates them itself."""


def texts_to_translate(design: Any) -> dict[str, str]:
    """Return a design's texts that need a translation, by path, in the order in which participants see them.

    `design` is a `Blueprint`. Disabled parts, texts without letters and default texts are left out.
    """
    off = tuple(f"parts.{part.kind}." for part in design.parts if not part.enabled)
    found = {path: text for path, text in all_texts(design).items() if not path.startswith(off)}
    return {path: text for path, text in found.items() if has_words(text) and text not in DEFAULT_TEXTS}


def all_texts(design: Any) -> dict[str, str]:
    """Return every text of a design by path, including texts that participants do not see."""
    return dict(_texts(design))


def has_words(text: str) -> bool:
    """Return whether the text has any letter. A text without letters needs no translation."""
    return any(letter.isalpha() for letter in text)


OPTION_PATH = re.compile(r"(items\..+\.options)\.\d+")
"""The path of an option of a survey item, with the path of its list of options as a group."""


def equal_options(translated: Texts) -> Iterator[str]:
    """Yield the path of each option whose translation another option of the same question already has.
    `translated` has translations by path. Participants could not tell such options apart."""
    seen = set[tuple[str, str]]()
    for path, text in translated.items():
        words = " ".join(text.split()).casefold()
        if words and (found := OPTION_PATH.fullmatch(path)):
            if (found[1], words) in seen:
                yield path
            seen.add((found[1], words))


def texts_by_path(design: Any, translated: Mapping[str, Texts]) -> dict[str, dict[str, str]]:
    """Return the translations of this design's texts, by language and path.

    `translated` has translations by language and original text, like `Study.texts`.
    """
    own = texts_to_translate(design)
    return {
        language: {path: texts[text] for path, text in own.items() if text in texts}
        for language, texts in translated.items()
    }


def _texts(design: Any) -> Iterator[tuple[str, str]]:
    yield "title", design.study["title"]
    for part in design.parts:
        yield from _part_texts(part)
    for condition in design.conditions:
        yield f"conditions.{condition.key}.label", condition.label
        yield from probe_texts(condition)
    for item in design.items:
        yield from _item_texts(item)
    for page in design.pages:
        yield f"pages.{page.key}.title", page.title
        yield f"pages.{page.key}.text", page.text
    for media in design.media:
        yield f"media.{media.key}.alt", media.alt
        yield f"media.{media.key}.transcript", media.transcript
    for outcome in design.outcomes:
        yield f"outcomes.{outcome.kind}.text", outcome.text


def _part_texts(part: Any) -> Iterator[tuple[str, str]]:
    yield f"parts.{part.kind}.title", part.title
    yield f"parts.{part.kind}.text", part.text
    for number, statement in enumerate(part.settings.get("statements", ()), start=1):
        yield f"parts.{part.kind}.statements.{number}", statement


def _item_texts(item: Any) -> Iterator[tuple[str, str]]:
    yield f"items.{item.key}.text", item.text
    yield f"items.{item.key}.low", item.low
    yield f"items.{item.key}.high", item.high
    yield f"items.{item.key}.unit", item.unit
    yield f"items.{item.key}.table", item.table
    for number, option in enumerate(item.options, start=1):
        yield f"items.{item.key}.options.{number}", option


def describe_text_path(path: str) -> str:
    """Return a readable name for a path: `Item trust, option 2` for `items.trust.options.2`."""
    what, *rest = path.split(".")
    if not rest:
        return "Title"
    where, field, *number = rest
    if field in _IN_GAME:
        *probe, last = [one for one in number if one != "options"]
        of = f"option {last}" if "options" in number else _FIELDS.get(last, last)
        return f"{_ROWS[what]} {where}, {' '.join([_IN_GAME[field], *probe])}, {of}"
    which = f"{_FIELDS.get(field, field)} {number[0]}" if number else _FIELDS.get(field, field)
    return f"{_ROWS[what]} {where}, {which}"


_ROWS = {
    "parts": "Part",
    "items": "Item",
    "conditions": "Condition",
    "outcomes": "End",
    "pages": "Page",
    "media": "File",
}
_IN_GAME = {"probes": "question during the game", "rating_slider": "slider beside the game"}
_FIELDS = {
    "alt": "description",
    "high": "words at the highest point",
    "low": "words at the lowest point",
    "options": "option",
    "statements": "statement",
    "table": "heading of its table",
    "title": "heading",
}
