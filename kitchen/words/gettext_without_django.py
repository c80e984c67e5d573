"""Translate texts into the language of the current reader, in modules that do not import Django.

Texts stay English until `use_translations` has been called. Call the functions when a page is rendered, not
while a module is imported. Mark texts in constants with `gettext_noop`.

Translations are cached inside `in_language` and `in_english`, because pages have hundreds in each step. Do
not change the language by other means there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from gettext import NullTranslations
from typing import Protocol

CACHED_TEXTS = 8192
"""Maximum number of cached translations, without and with a context. Each takes about 200 bytes."""


class Translations(Protocol):
    """The interface of a translator. `django.utils.translation` has it."""

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


_language: ContextVar[str] = ContextVar("language", default="")
"""The language of `in_language` or `in_english`. Empty outside of them: the translator then knows it."""


def use_translations(translations: Translations) -> None:
    """Set the translator that all functions of this module use from now on."""
    _Speech.by = translations
    _translated.cache_clear()
    _translated_in_context.cache_clear()


def gettext(message: str) -> str:
    """Return the translation of the message into the reader's language."""
    language = _language.get()
    return _translated(language, message) if language else _Speech.by.gettext(message)


@lru_cache(maxsize=CACHED_TEXTS)
def _translated(language: str, message: str) -> str:
    return _Speech.by.gettext(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """Return the translation of the message, in the plural form for this number. The caller inserts the
    number."""
    return _Speech.by.ngettext(singular, plural, number)


def pgettext(context: str, message: str) -> str:
    """Return the translation of the message. `context` distinguishes several meanings of the same English
    words."""
    if language := _language.get():
        return _translated_in_context(language, context, message)
    return _Speech.by.pgettext(context, message)


@lru_cache(maxsize=CACHED_TEXTS)
def _translated_in_context(language: str, context: str, message: str) -> str:
    return _Speech.by.pgettext(context, message)


def current_language() -> str:
    """Return the code of the reader's language. Use it as part of a cache key for translated text."""
    return _language.get() or _Speech.by.get_language() or "en"


def in_english() -> AbstractContextManager[object]:
    """Return a context in which texts are English. Use it for texts that are stored."""
    return _overridden("en")


def in_language(language: str) -> AbstractContextManager[object]:
    """Return a context in which texts are in the language with this code. An empty code changes nothing."""
    return _overridden(language) if language else nullcontext()


@contextmanager
def _overridden(language: str) -> Iterator[None]:
    with _Speech.by.override(language):
        before = _language.set(_Speech.by.get_language() or "en")
        try:
            yield
        finally:
            _language.reset(before)


def gettext_noop(message: str) -> str:
    """Return the message unchanged, and mark it for the translation files. The code that displays it must
    translate it."""
    return message


def ngettext_noop(singular: str, plural: str) -> tuple[str, str]:
    """Return singular and plural unchanged, and mark them for the translation files."""
    return singular, plural


class _ReadLater:
    """A descriptor of a class attribute that is translated whenever it is read."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __get__(self, owner: object, kind: type | None = None) -> str:
        return gettext(self.message)


def gettext_lazy(message: str) -> str:
    """Mark a text that is a class attribute for the translation files. Reading the attribute returns the
    translation."""
    return _ReadLater(message)  # type: ignore[return-value] # what one gets of the attribute
