"""Which episodes somebody of the staff may look at: superusers all; what others see is said by whoever knows
what episodes belong to (`episodes_shown_by`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

from kitchen.play.models import Episode

Rule = Callable[[Any], QuerySet[Episode]]
"""From somebody of the staff, no superuser, to the episodes that are their business."""

_rules: list[Rule] = []


def episodes_shown_by(rule: Rule) -> None:
    """From now on whoever is shown episodes by this rule sees them, beside those of other rules."""
    if rule not in _rules:
        _rules.append(rule)


def episodes_visible(user: Any) -> QuerySet[Episode]:
    """The episodes that this user may look at; none for who is not of the staff."""
    if not (user.is_active and user.is_staff):
        return Episode.objects.none()
    if user.is_superuser:
        return Episode.objects.all()
    visible = Episode.objects.none()
    for rule in _rules:
        visible = visible | rule(user)
    return visible
