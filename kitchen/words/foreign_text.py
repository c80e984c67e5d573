"""Define a text that is not in the language of the page that shows it."""

from __future__ import annotations


class ForeignText(str):
    """A text whose language differs from the page's. `lang` is the code of its language."""

    __slots__ = ("lang",)
    lang: str


def foreign_text(text: str, lang: str) -> ForeignText:
    """Return the text as a `ForeignText` with the language code `lang`."""
    made = ForeignText(text)
    made.lang = lang
    return made
