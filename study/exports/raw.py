"""JSON and moments as the text that the database holds: reading and writing each one again would take most of
the time of an export."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Func, TextField
from django.db.models.functions import Cast


def as_text(field: str) -> Cast:
    """The JSON text of a field, for `annotate`."""
    return Cast(field, output_field=TextField())


class MomentText(Func):
    """The text of a DateTimeField in UTC, for `annotate`: `2026-11-21 07:30:00.123456`; SQLite holds whole
    seconds without a fraction."""

    template = "CAST(%(expressions)s AS text)"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        """A moment has no text of its own there."""
        form = "to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
        return self.as_sql(compiler, connection, template=form)


def as_written(moment: str) -> str:
    """A `MomentText` as `iso` writes the moment."""
    return f"{moment[:10]}T{moment[11:23]}Z" if len(moment) == 26 else f"{moment[:10]}T{moment[11:19]}.000Z"


def seconds_between(earlier: str, later: str) -> float:
    """Seconds from one `MomentText` to another, to the millisecond."""
    return round((datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds(), 3)
