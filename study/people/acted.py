"""What staff did to participants, under a seal: a row that was written or changed by SQL is found.

One that is gone is not: whoever leaves takes what was done to them along.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from kitchen.machine.sealed import columns, seal_fits, seal_of
from study.people.models import StaffAction

PURPOSE = "staff action"
SEALED = ("study_id", "participant_id", "user_name", "action", "reason", "at")
"""All but the user, who is forgotten with their account."""


def action_write(**values: Any) -> StaffAction:
    """Note what staff did."""
    row = StaffAction(**values)
    row.seal = seal_of(PURPOSE, columns(row, SEALED))
    row.save()
    return row


def actions_verify(actions: QuerySet[StaffAction]) -> Iterator[str]:
    """Those of these actions that are not as they were written."""
    for row in actions.order_by("pk").iterator():
        if not seal_fits(row.seal, PURPOSE, columns(row, SEALED)):
            yield f"staff action {row.pk} is not what was written"
