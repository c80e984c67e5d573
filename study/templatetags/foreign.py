"""Define a template filter that adds the attribute `lang` if a text is not in the page's language."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from kitchen.words.foreign_text import ForeignText

register = template.Library()


@register.filter
def its_lang(text: object) -> SafeString | str:
    """Return the attribute `lang="…"` for the HTML element with this text. Return an empty string if the
    text is in the page's language."""
    return format_html(' lang="{}"', text.lang) if isinstance(text, ForeignText) else ""
