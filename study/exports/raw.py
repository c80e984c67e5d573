"""JSON columns as the text that the database holds: reading and writing each one again would take most of the
time of an export."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast


def as_text(field: str) -> Cast:
    """The JSON text of a field, for `annotate`."""
    return Cast(field, output_field=TextField())


@lru_cache(maxsize=4096)
def read_small(text: str) -> Any:
    """A value that many rows share, read once; do not change it."""
    return json.loads(text)
