"""Which rows of a design somebody on the way still needs. Nothing here changes anything.

A version is a document; what participants leave behind hangs at the rows. So a row that a version of
somebody on the way names keeps its key, and an item its words. Programs and staff who preview bind nobody.
"""

from __future__ import annotations

from typing import Any

from kitchen.words.counting import counted

ACTIVE = "active"
"""`Participant.Status.ACTIVE`; the models import this module."""


def bound(row: Any) -> int:
    """How many people on the way entered under a version that names this condition or item (of
    `study.design.models`, as it is stored)."""
    stored = type(row).objects.filter(pk=row.pk).select_related("study").first() if row.pk else None
    if stored is None:
        return 0
    on_the_way = stored.study.participants.filter(status=ACTIVE, synthetic=False, preview=False)
    versions = stored.study.versions.filter(pk__in=on_the_way.values("version")).defer("bundle")
    naming = [one.pk for one in versions if _names(one.document, row.IN_DOCUMENT, stored.key)]
    return int(on_the_way.filter(version__in=naming).count()) if naming else 0


def _names(document: Any, rows: str, key: str) -> bool:
    return any(one["key"] == key for one in document[rows])


def bound_words(number: int) -> str:
    """`1 participant on the way entered with it`."""
    return f"{counted(number, 'participant')} on the way entered with it"
