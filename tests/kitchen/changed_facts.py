"""Copy dataclasses that contain other dataclasses, with some fields changed."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

Whole = TypeVar("Whole")


def changed(whole: Whole, **facts: Any) -> Whole:
    """Return a copy of the dataclass with these fields changed. A field is found by its name in the dataclass
    or in one of its groups."""
    own: Any = whole
    names = {slot.name for slot in fields(own)}
    groups: dict[str, Any] = {name: part for name in names if is_dataclass(part := getattr(own, name))}
    for name, part in groups.items():
        theirs = {slot.name for slot in fields(part)} - names
        if inner := {fact: facts.pop(fact) for fact in theirs & facts.keys()}:
            own = replace(own, **{name: replace(part, **inner)})
    copy: Whole = replace(own, **facts)
    return copy
