"""Duplicates of conditions and of whole studies: everything but the participants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import models, transaction

from study.models import Condition, Membership, Study, new_seed

Row = TypeVar("Row", bound=models.Model)


def condition_copy(condition: Condition) -> Condition:
    """The same condition under another key and name, last in its study."""
    others = list(condition.study.conditions.values_list("key", "name"))
    keys, names = {key for key, _ in others}, {name for _, name in others}
    return _anew(
        condition,
        key=_free(condition.key, "_copy", 50, keys.__contains__),
        name=_free(condition.name, " copy", 80, names.__contains__),
        position=_after_last(condition.study),
    )


@transaction.atomic
def study_copy(study: Study, *, owner: Any, title: str = "", slug: str = "") -> Study:
    """The same conditions and survey under another link, with another seed: closed, nobody in it but its
    owner."""
    made = _anew(
        study,
        slug=slug or _free(study.slug, "-copy", 50, _is_taken),
        title=title or f"{study.title[:113]} (copy)",
        status=Study.Status.CLOSED,
        seed=new_seed(),
        entered=0,
        withdrawn=0,
        budget_id=None,
        shared=False,
    )
    made.memberships.create(user=owner, role=Membership.Role.OWNER)
    rows: list[models.Model] = [
        *study.conditions.all(),
        *study.items.all(),
        *study.parts.all(),
        *study.outcomes.all(),
    ]
    for row in rows:
        _anew(row, study=made)
    return made


def _after_last(study: Study) -> int:
    return (study.conditions.aggregate(last=models.Max("position"))["last"] or 0) + 1


def _anew(row: Row, **changes: object) -> Row:
    names = [field.attname for field in row._meta.concrete_fields if not field.primary_key]
    made = type(row)(**{name: getattr(row, name) for name in names})
    for name, value in changes.items():
        setattr(made, name, value)
    made.save()
    return made


def _is_taken(slug: str) -> bool:
    return Study.objects.filter(slug=slug).exists()


def _free(name: str, suffix: str, longest: int, taken: Callable[[str], bool]) -> str:
    """The name with the suffix, and with a number after it if that is taken."""
    number = 1
    while True:
        end = suffix if number == 1 else f"{suffix}{number}"
        found = f"{name[: longest - len(end)]}{end}"
        if not taken(found):
            return found
        number += 1
