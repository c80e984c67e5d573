"""Translate texts into the reader's language. Plain Python.

Everything is in English until `use_translations` is called; the app passes Django's translations. Translated
text is never stored: a sentence is looked up when a page is made. So call these functions then, not while a
module loads. A text in a module's table is marked for the catalogue by `gettext_noop` and looked up when it
is read.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from gettext import NullTranslations
from typing import Protocol


class Translations(Protocol):
    """Who knows languages: as `django.utils.translation` does."""

    def gettext(self, message: str, /) -> str: ...
    def ngettext(self, singular: str, plural: str, number: int, /) -> str: ...
    def pgettext(self, context: str, message: str, /) -> str: ...
    def get_language(self) -> str | None: ...
    def override(self, language: str, /) -> AbstractContextManager[object]: ...


class _English(NullTranslations):
    """Where nobody knows more."""

    def get_language(self) -> str:
        return "en"

    def override(self, language: str) -> AbstractContextManager[object]:
        return nullcontext()


class _Speech:
    """Who translates now."""

    by: Translations = _English()


def use_translations(translations: Translations) -> None:
    """From now on these translate."""
    _Speech.by = translations


def gettext(message: str) -> str:
    """The message in the language of whoever reads."""
    return _Speech.by.gettext(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """Likewise, in the form that this number takes; the number itself is filled in by the caller."""
    return _Speech.by.ngettext(singular, plural, number)


def pgettext(context: str, message: str) -> str:
    """Likewise, where the same English words mean several things."""
    return _Speech.by.pgettext(context, message)


def current_language() -> str:
    """The code of the language in which is spoken now: for what is kept of words."""
    return _Speech.by.get_language() or "en"


def in_english() -> AbstractContextManager[object]:
    """Speak English for a while: for words that are stored."""
    return _Speech.by.override("en")


def gettext_noop(message: str) -> str:
    """The message itself, for the catalogue to know it; whoever reads it has it looked up."""
    return message


def ngettext_noop(singular: str, plural: str) -> tuple[str, str]:
    """Likewise, of a number of things."""
    return singular, plural


class _ReadLater:
    """Words of a class that are looked up whenever they are read."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __get__(self, owner: object, kind: type | None = None) -> str:
        return gettext(self.message)


def gettext_lazy(message: str) -> str:
    """The same of words that are an attribute of a class: it has them in the language of whoever reads."""
    return _ReadLater(message)  # type: ignore[return-value] # what one gets of the attribute
