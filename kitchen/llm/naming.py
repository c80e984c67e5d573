"""Names of models: a date at their end pins a version and makes no difference to what it takes and costs."""

from __future__ import annotations

import re

_DATE = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2})\Z")


def undated(model: str) -> str:
    """`claude-haiku-4-5` for `claude-haiku-4-5-20251001`; `gpt-6` for `gpt-6-2026-03-01`."""
    return _DATE.sub("", model)
