"""Translate texts into the reader's language. No Django.

Texts are English until `use_translations` is called. Call the functions when a page is made, not while a
module loads. Mark texts in a module's tables with `gettext_noop`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from gettext import NullTranslations
from typing import Protocol


class Translations(Protocol):
    """The interface of a translator; `django.utils.translation` has it."""

    def gettext(self, message: str, /) -> str: ...
    def ngettext(self, singular: str, plural: str, number: int, /) -> str: ...
    def pgettext(self, context: str, message: str, /) -> str: ...
    def get_language(self) -> str | None: ...
    def override(self, language: str, /) -> AbstractContextManager[object]: ...


class _English(NullTranslations):
    """The default translator, which leaves everything in English."""

    def get_language(self) -> str:
        return "en"

    def override(self, language: str) -> AbstractContextManager[object]:
        return nullcontext()


class _Speech:
    """Holds the translator in use."""

    by: Translations = _English()


def use_translations(translations: Translations) -> None:
    """Use these translations from now on."""
    _Speech.by = translations


def gettext(message: str) -> str:
    """Return the message in the reader's language."""
    return _Speech.by.gettext(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """Return the message in the reader's language, in the plural form for this number. The caller fills in
    the number."""
    return _Speech.by.ngettext(singular, plural, number)


def pgettext(context: str, message: str) -> str:
    """Return the message in the reader's language. `context` separates equal English texts with different
    meanings."""
    return _Speech.by.pgettext(context, message)


def current_language() -> str:
    """Return the code of the language in use, as a cache key for translated text."""
    return _Speech.by.get_language() or "en"


def in_english() -> AbstractContextManager[object]:
    """Use English within this context, for words that are stored."""
    return _Speech.by.override("en")


def gettext_noop(message: str) -> str:
    """Return the message unchanged, marked for the catalogue. The code that shows it translates it."""
    return message


def ngettext_noop(singular: str, plural: str) -> tuple[str, str]:
    """Return the singular and the plural unchanged, marked for the catalogue."""
    return singular, plural


class _ReadLater:
    """A descriptor of a class attribute that is translated whenever it is read."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __get__(self, owner: object, kind: type | None = None) -> str:
        return gettext(self.message)


def gettext_lazy(message: str) -> str:
    """Mark a class attribute for the catalogue; reading it returns the text in the reader's language."""
    return _ReadLater(message)  # type: ignore[return-value] # what one gets of the attribute
