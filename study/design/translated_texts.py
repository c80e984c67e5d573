"""Show a study's design in one of its languages, and list the texts that are not translated yet. Plain
Python.

A design's document has translations by language and path (`study.design.translations`). Stored values do
not depend on the language: a choice is stored in the words of the study's own language.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kitchen.words.translation import gettext
from study.design.blueprint import Blueprint, ConditionPlan, OutcomePlan, PartPlan
from study.design.questions.item_fields import ItemPlan
from study.design.translations import DEFAULT_TEXTS, Texts, has_words, language_codes, texts_to_translate


class TranslatedItem(ItemPlan):
    """An item in some language, as it is shown; what is chosen is stored in the words of `options`."""

    shown: list[str] = []

    @property
    def shown_options(self) -> list[str]:
        """As in `ItemPlan`."""
        return self.shown


def missing_translations(design: Blueprint) -> dict[str, list[str]]:
    """The paths of what is missing, by each language that the study offers beside its own."""
    wanted = texts_to_translate(design)
    others = language_codes(design.study.get("languages", ""))[1:]
    there = {language: design.study["texts"].get(language, {}) for language in others}
    return {
        language: [path for path in wanted if not texts.get(path, "").strip()]
        for language, texts in there.items()
    }


class ForeignText(str):
    """A text that is in another language than the page it stands on; `lang` is its code."""

    __slots__ = ("lang",)
    lang: str


def foreign_text(text: str, lang: str) -> ForeignText:
    """This text, which is in that language."""
    made = ForeignText(text)
    made.lang = lang
    return made


@dataclass(frozen=True, slots=True)
class _Telling:
    """The texts of one language, and what stays as it is."""

    texts: Texts
    own: str
    """The study's own language; empty where that is read."""

    def told(self, path: str, text: str) -> str:
        """What stands at this path."""
        if there := self.texts.get(path):
            return there
        if text in DEFAULT_TEXTS:
            return gettext(text) if text else text
        return foreign_text(text, self.own) if self.own and has_words(text) else text

    def fields(self, plan: Any, path: str, *names: str) -> dict[str, Any]:
        """These fields of a plan."""
        return {name: self.told(f"{path}.{name}", getattr(plan, name)) for name in names}

    def listed(self, path: str, texts: Iterable[str]) -> list[str]:
        """What stands there one after the other."""
        return [self.told(f"{path}.{number}", text) for number, text in enumerate(texts, start=1)]


def translated_design(design: Blueprint, language: str) -> Blueprint:
    """The design with the texts of this language, which is the one that is spoken now; those that are missing
    stay in the study's own, and say so (`ForeignText`). No document is made of it."""
    own = language_codes(design.study.get("languages", ""))[0]
    telling = _Telling(design.study.get("texts", {}).get(language, {}), "" if own == language else own)
    return design.model_copy(
        update={
            "study": {**design.study, "title": telling.told("title", design.study["title"])},
            "parts": tuple(_part_in(part, telling) for part in design.parts),
            "conditions": tuple(_condition_in(one, telling) for one in design.conditions),
            "items": tuple(_item_in(item, telling) for item in design.items),
            "outcomes": tuple(_outcome_in(one, telling) for one in design.outcomes),
        }
    )


def _part_in(part: PartPlan, telling: _Telling) -> PartPlan:
    found = telling.fields(part, f"parts.{part.kind}", "title", "text")
    if statements := part.settings.get("statements"):
        told = telling.listed(f"parts.{part.kind}.statements", statements)
        found["settings"] = {**part.settings, "statements": told}
    return part.model_copy(update=found)


def _condition_in(condition: ConditionPlan, telling: _Telling) -> ConditionPlan:
    return condition.model_copy(update=telling.fields(condition, f"conditions.{condition.key}", "label"))


def _item_in(item: ItemPlan, telling: _Telling) -> ItemPlan:
    found = telling.fields(item, f"items.{item.key}", "text", "low", "high")
    shown = telling.listed(f"items.{item.key}.options", item.options)
    return TranslatedItem.model_construct(**{**dict(item), **found, "shown": shown})


def _outcome_in(outcome: OutcomePlan, telling: _Telling) -> OutcomePlan:
    return outcome.model_copy(update=telling.fields(outcome, f"outcomes.{outcome.kind}", "text"))
