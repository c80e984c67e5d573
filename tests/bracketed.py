"""Find texts on a page that cannot be translated. A test language puts brackets around every translated text.

`speak_in_brackets` switches this language on. `bare_words` returns the texts of a page outside the brackets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import django
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.translations import texts_to_translate
from tests.messages import compiled, gathered

CODE = "eo"
"""The code of the test language: a language that the app does not have."""
READ_ALOUD = ("alt", "aria-label", "content", "placeholder", "title")
"""Attributes whose texts are checked, in addition to all `data-` attributes that hold a sentence."""
UNREAD = {"script", "style", "code", "kbd", "time"}
"""Elements that are not checked: Django writes times in each language."""
NAMES = re.compile(r"\b(Brigade|Team|http[\w:/.-]*)\b")
"""Names that are the same in every language."""
LETTERS = re.compile(r"[^\W\d_]{2,}")
VOID = {
    "area",
    "br",
    "col",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "wbr",
    "path",
    "use",
    "circle",
    "rect",
}


def speak_in_brackets(folder: Path, settings: Any) -> None:
    """Add the test language `CODE` to the languages of this process, until the test's settings are undone."""
    made = Catalog(locale="eo", charset="utf-8")
    for context, singular, plural in _sentences():
        words = (singular, plural) if plural else singular
        made.add(words, (_in(singular), _in(plural)) if plural else _in(singular), context=context)
    place = folder / "eo" / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "django.mo").write_bytes(compiled(made))
    settings.LOCALE_PATHS = [folder]
    settings.LANGUAGES = [*settings.LANGUAGES, (CODE, "Bracketed")]


def _sentences() -> Iterator[tuple[str | None, str, str | None]]:
    for message in gathered():
        yield message.context, message.singular, message.plural
    source = Path(django.__file__).parent / "conf" / "locale" / "en" / "LC_MESSAGES" / "django.po"
    with source.open("rb") as file:
        for entry in read_po(file):
            if entry.id:
                singular, *plural = [entry.id] if isinstance(entry.id, str) else entry.id
                yield entry.context, singular, plural[0] if plural else None


def _in(text: str) -> str:
    return f"⟦{text}⟧"


def own_words_in_brackets(study: Study) -> None:
    """Translate a researcher's texts into the test language too, and offer the study in both languages."""
    study.texts = {CODE: {text: _in(text) for text in texts_to_translate(blueprint_of(study)).values()}}
    study.languages = f"en {CODE}"
    study.save()


def bare_words(html: str) -> list[str]:
    """Return the visible texts of a page that are not in brackets."""
    reader = _Reader()
    reader.feed(html)
    return reader.bare


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.bare: list[str] = []
        self.open: list[str | None] = []
        self.depth = 0
        self.of_scripts = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told: Mapping[str, str] = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self.open.append(None if tag in UNREAD or _is_code(tag, told) else tag)
        self.of_scripts = tag == "script" and told.get("type") == "application/json"
        for name, value in told.items():
            if _is_read(tag, name, value, told):
                self._keep(f"{name}: ", value, 0)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self.open and tag not in VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.of_scripts:  # words that scripts say
            for text in _leaves(json.loads(data)):
                self._keep("script: ", text, 0)
        self.depth = self._keep("", data, self.depth) if None not in self.open else self.depth

    def _keep(self, where: str, text: str, depth: int) -> int:
        outside = ""
        for letter in text:
            depth += {"⟦": 1, "⟧": -1}.get(letter, 0)
            outside += letter if depth == 0 else " "
        if LETTERS.search(NAMES.sub("", outside)):
            self.bare.append(where + " ".join(text.split()))
        return depth


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, str):
        yield value


def _is_code(tag: str, told: Mapping[str, str]) -> bool:
    """Return whether an element holds names in another language, links or codes."""
    of_code = {"code", "long-code", "big-code"} & set(told.get("class", "").split())
    return bool(of_code) or ("lang" in told and tag != "html")


def _is_read(tag: str, name: str, value: str, told: Mapping[str, str]) -> bool:
    if name == "content":
        return told.get("name") in {"description"}
    return name in READ_ALOUD or (
        name.startswith("data-") and " " in value.strip() and not value.startswith(("[", "/"))
    )
