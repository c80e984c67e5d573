"""Find translations that belong to an older wording of a text.

Translations are stored under the original text. After the text is changed, its translation is no longer
shown, but it is still stored. The words that two texts share tell which text it belonged to.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from study.design.blueprint import Blueprint
from study.design.translations import Texts, all_texts, texts_to_translate

LEAST_SHARED = 0.5
"""The least share of words that a text has in common with its older wording."""
WORD = re.compile(r"[\u2e80-\u9fff]|[^\W\u2e80-\u9fff]+")
"""A word, or a single Chinese or Japanese character."""


class FormerTranslation(NamedTuple):
    """A translation, and the older wording that it translates."""

    original: str
    translation: str


def former_translations(design: Blueprint, stored: Texts) -> dict[str, FormerTranslation]:
    """Return the translation of the closest older wording, by text, for each text without a translation.

    `stored` has the translations into one language, by original text.
    """
    used = set(all_texts(design).values())
    left = {text: _words(text) for text in stored if text not in used}
    found = {}
    for text in texts_to_translate(design).values():
        if stored.get(text) or not left:
            continue
        words = _words(text)
        shared, former = max((_shared(words, others), one) for one, others in left.items())
        if shared >= LEAST_SHARED:
            found[text] = FormerTranslation(former, stored[former])
    return found


def _words(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.casefold()))


def _shared(one: Counter[str], other: Counter[str]) -> float:
    """Return the share of words, from 0 to 1, that two texts have in common (Dice's coefficient)."""
    return 2 * (one & other).total() / max(one.total() + other.total(), 1)


def unchanged_translations(old: Blueprint, new: Blueprint) -> list[tuple[str, str]]:
    """Return (language, path) of each translation in `new` that is the same as in `old`, although the text
    itself changed."""
    before, now = all_texts(old), all_texts(new)
    known = old.study.get("texts", {})
    return [
        (language, path)
        for language, texts in new.study.get("texts", {}).items()
        for path, text in texts.items()
        if text and known.get(language, {}).get(path) == text and before.get(path) != now.get(path)
    ]
