"""What researchers write for participants: which texts a design has, and what each of them is in the other
languages. Plain Python.

Within a design a text is known by its path: `title`, `parts.consent.text`, `items.trust.options.2`. A study
keeps its translations by the text itself (`Study.texts`): so they follow a text that is moved, and end with
one that is written anew. In a design's document (`Blueprint`) both are fixed; there they stand by path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from study.design.questions.fields import AGREEMENT
from study.design.usual_words import STATEMENT, TITLES

Texts = Mapping[str, str]
"""Translations by what is translated, or texts by their paths."""
OURS = frozenset([STATEMENT, *AGREEMENT, *TITLES.values()])
"""What stands there unless a researcher writes something else: the program translates it itself."""


def own_texts(design: Any) -> dict[str, str]:
    """What is to be translated of a design (a `Blueprint`), by path, in the order in which participants meet
    it."""
    off = tuple(f"parts.{part.kind}." for part in design.parts if not part.enabled)
    found = {path: text for path, text in all_texts(design).items() if not path.startswith(off)}
    return {path: text for path, text in found.items() if has_words(text) and text not in OURS}


def all_texts(design: Any) -> dict[str, str]:
    """Every text of it, by path, also those that nobody meets."""
    return dict(_texts(design))


def has_words(text: str) -> bool:
    """Whether there is something to be translated."""
    return any(letter.isalpha() for letter in text)


def texts_by_path(design: Any, translated: Mapping[str, Texts]) -> dict[str, dict[str, str]]:
    """By language, what stands at each path of this design, as far as it is `translated`."""
    own = own_texts(design)
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
