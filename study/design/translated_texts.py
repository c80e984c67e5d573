"""Translate a study's design into one of its languages, and list texts that have no translation.

The JSON document of a design holds the translations: for each language, a text for each path. A path such as
`parts.consent.text` locates the original text in the document. Stored answers do not depend on the
participant's language. The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kitchen.words.foreign_text import foreign_text
from kitchen.words.gettext_without_django import gettext
from study.design.blueprint import Blueprint, PartPlan
from study.design.questions.item_fields import ItemPlan
from study.design.translations import DEFAULT_TEXTS, Texts, has_words, language_codes, texts_to_translate


class TranslatedItem(ItemPlan):
    """A survey item whose texts are translated. If a participant chooses an option, its untranslated text
    (`options`) is stored."""

    shown: list[str] = []

    @property
    def shown_options(self) -> list[str]:
        """Return the translated options that participants see."""
        return self.shown

    def option_lists(self) -> dict[str, list[str]]:
        """Return the options and their translations."""
        return {"options": self.options, "shown": self.shown}


def missing_translations(design: Blueprint) -> dict[str, list[str]]:
    """Return the texts without a translation, as paths, for each language that the study offers. The
    study's own language is left out."""
    wanted = texts_to_translate(design)
    others = language_codes(design.study.get("languages", ""))[1:]
    there = {language: design.study["texts"].get(language, {}) for language in others}
    return {
        language: [path for path in wanted if not texts.get(path, "").strip()]
        for language, texts in there.items()
    }


@dataclass(frozen=True, slots=True)
class _Translations:
    """The translations of one language. Texts without a translation stay as they are."""

    texts: Texts
    own: str
    """The code of the study's own language. It is empty if that is the language to show."""

    def translated(self, path: str, text: str) -> str:
        """Return the translation of the text at this path. Without a translation, return the text itself,
        marked as foreign if its language differs."""
        if there := self.texts.get(path):
            return there
        if text in DEFAULT_TEXTS:
            return gettext(text) if text else text
        return foreign_text(text, self.own) if self.own and has_words(text) else text

    def fields(self, plan: Any, path: str, *names: str) -> dict[str, Any]:
        """Return the translations of these fields of a plan."""
        return {name: self.translated(f"{path}.{name}", getattr(plan, name)) for name in names}

    def listed(self, path: str, texts: Iterable[str]) -> list[str]:
        """Return the translations of the texts in a list. The path of each text is `path` and its number,
        counted from 1."""
        return [self.translated(f"{path}.{number}", text) for number, text in enumerate(texts, start=1)]


def translated_design(design: Blueprint, language: str) -> Blueprint:
    """Return the design with its texts in this language, which must be the active language.

    Texts without a translation stay in the study's own language, as `ForeignText`. The result is only for
    showing pages. Never store it as a document.
    """
    own = language_codes(design.study.get("languages", ""))[0]
    translations = _Translations(
        design.study.get("texts", {}).get(language, {}), "" if own == language else own
    )
    return design.model_copy(
        update={
            "study": {**design.study, "title": translations.translated("title", design.study["title"])},
            "parts": tuple(_part_in(part, translations) for part in design.parts),
            "conditions": tuple(
                one.model_copy(update=translations.fields(one, f"conditions.{one.key}", "label"))
                for one in design.conditions
            ),
            "pages": tuple(
                one.model_copy(update=translations.fields(one, f"pages.{one.key}", "title", "text"))
                for one in design.pages
            ),
            "media": tuple(
                one.model_copy(update=translations.fields(one, f"media.{one.key}", "alt", "transcript"))
                for one in design.media
            ),
            "items": tuple(_item_in(item, translations) for item in design.items),
            "outcomes": tuple(
                one.model_copy(update=translations.fields(one, f"outcomes.{one.kind}", "text"))
                for one in design.outcomes
            ),
        }
    )


def _part_in(part: PartPlan, translations: _Translations) -> PartPlan:
    found = translations.fields(part, f"parts.{part.kind}", "title", "text")
    if statements := part.settings.get("statements"):
        translated = translations.listed(f"parts.{part.kind}.statements", statements)
        found["settings"] = {**part.settings, "statements": translated}
    return part.model_copy(update=found)


def _item_in(item: ItemPlan, translations: _Translations) -> ItemPlan:
    found = translations.fields(item, f"items.{item.key}", "text", "low", "high", "unit", "table")
    shown = translations.listed(f"items.{item.key}.options", item.options)
    return TranslatedItem.model_construct(**{**dict(item), **found, "shown": shown})
