"""Where a text of a study stands, in words."""

from __future__ import annotations


def path_words(path: str) -> str:
    """Where a text stands, in words: `items.trust.options.2` is `Item trust, option 2`."""
    what, *rest = path.split(".")
    if not rest:
        return "Title"
    where, field, *number = rest
    name = {"parts": "Part", "items": "Item", "conditions": "Condition", "outcomes": "End"}[what]
    which = f"{_FIELDS.get(field, field)} {number[0]}" if number else _FIELDS.get(field, field)
    return f"{name} {where}, {which}"


_FIELDS = {
    "high": "words at the highest point",
    "low": "words at the lowest point",
    "options": "option",
    "statements": "statement",
    "title": "heading",
}
