"""Translations are cached for one language at a time, and never for another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from django.utils import translation

from kitchen.words import gettext_without_django as words
from kitchen.words.gettext_without_django import (
    current_language,
    gettext,
    in_english,
    in_language,
    pgettext,
    use_translations,
)


class Marked:
    """Appends the language to each text, and records what it was asked for."""

    def __init__(self) -> None:
        self.language, self.asked = "outer", list[str]()

    def gettext(self, message: str) -> str:
        self.asked.append(message)
        return f"{message} {self.language}"

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return self.gettext(singular if number == 1 else plural)

    def pgettext(self, context: str, message: str) -> str:
        return self.gettext(f"{context}:{message}")

    def get_language(self) -> str:
        return self.language

    @contextmanager
    def override(self, language: str) -> Iterator[None]:
        before, self.language = self.language, language
        yield
        self.language = before


@pytest.fixture
def marked() -> Iterator[Marked]:
    use_translations(made := Marked())
    yield made
    use_translations(translation)


def test_each_block_has_its_own_language_and_gives_back_the_outer_one(marked: Marked) -> None:
    with in_language("es"):
        assert (gettext("pot"), current_language()) == ("pot es", "es")
        with in_english():
            assert (gettext("pot"), pgettext("noun", "pot")) == ("pot en", "noun:pot en")
        assert (gettext("pot"), pgettext("noun", "pot")) == ("pot es", "noun:pot es")
    assert (gettext("pot"), current_language()) == ("pot outer", "outer")


def test_a_text_is_translated_once_for_each_language(marked: Marked) -> None:
    for _ in range(3):
        for language in ("es", "zh-hans"):
            with in_language(language):
                gettext("pot"), pgettext("noun", "pot")
    assert marked.asked == ["pot", "noun:pot"] * 2


def test_texts_outside_of_a_block_follow_the_translator(marked: Marked) -> None:
    for language in ("es", "en"):
        marked.language = language
        assert (gettext("pot"), pgettext("noun", "pot")) == (f"pot {language}", f"noun:pot {language}")


def test_another_thread_has_its_own_language(marked: Marked) -> None:
    found: list[str] = []
    with in_language("es"):
        (thread := Thread(target=lambda: found.append(words._language.get()))).start()
        thread.join()
    assert found == [""]


def test_another_translator_starts_with_empty_caches(marked: Marked) -> None:
    with in_language("es"):
        assert gettext("pot") == "pot es"
    use_translations(translation)
    with in_language("es"):
        assert gettext("Connected") == "En línea" and gettext("pot") != "pot es"
