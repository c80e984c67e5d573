"""Duplicates of conditions and of whole studies: everything but the participants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from django.db import models, transaction

from study.design.free_names import free_label, free_name
from study.design.models import Condition, Outcome, Study, new_seed
from study.editor.saving import after_last
from study.researchers.models import Membership

Row = TypeVar("Row", bound=models.Model)


def condition_copy(condition: Condition) -> Condition:
    """The same condition under another key and name, and under a label that is free; last in its study."""
    others = list(condition.study.conditions.values_list("key", "name"))
    keys, names = {key for key, _ in others}, {name for _, name in others}
    return _anew(
        condition,
        key=free_name(condition.key, "_copy", 50, keys.__contains__),
        name=free_name(condition.name, " copy", 80, names.__contains__),
        label=free_label(condition.study),
        position=after_last(condition.study.conditions.values_list("position", flat=True)),
    )


@transaction.atomic
def study_copy(study: Study, *, owner: Any, title: str = "", slug: str = "") -> Study:
    """The same conditions and survey under another link, with another seed: closed, nobody in it but its
    owner. Without codes and a closing date: these are the first study's own."""
    made = _anew(
        study,
        **FRESH,
        slug=slug or free_name(study.slug, "-copy", 50, _is_taken),
        title=title or f"{study.title[:113]} (copy)",
        seed=new_seed(),
    )
    made.memberships.create(user=owner, role=Membership.Role.OWNER)
    for row in (*study.conditions.all(), *study.items.all(), *study.parts.all(), *_outcomes(study)):
        _anew(row, study=made)
    return made


FRESH: dict[str, Any] = {
    "status": Study.Status.CLOSED,
    "closes_at": None,
    "entered": 0,
    "withdrawn": 0,
    "withdrawn_synthetic": 0,
    "budget_id": None,
    "shared": False,
}
"""What a copy does not take over."""


def _outcomes(study: Study) -> Iterator[Outcome]:
    """What is said at the ends, without the codes and without addresses that may hold one."""
    for row in study.outcomes.all():
        row.code, row.url = "", row.url if "{code}" in row.url else ""
        if row.url or row.text:
            yield row


def _anew(row: Row, **changes: object) -> Row:
    names = [field.attname for field in row._meta.concrete_fields if not field.primary_key]
    made = type(row)(**{name: getattr(row, name) for name in names})
    for name, value in changes.items():
        setattr(made, name, value)
    made.save()
    return made


def _is_taken(slug: str) -> bool:
    return Study.objects.filter(slug=slug).exists()
