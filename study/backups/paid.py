"""What is kept of people whose part was over when they left (`study.people.took_part`) outlasts the restore
of a backup that was made before: the code is still to be paid, and the name does not begin again.

It is written to a file beside the database before that is replaced, and the file is gone once it is in the
restored one: nothing is stored for longer than it was before.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import Error

from kitchen.machine import atomic
from study.design.models import Study
from study.people.models import LeftComplete

KEPT = "left.json"
"""In the folder of what the app writes, while a backup is put in place."""


class Left(NamedTuple):
    """One row, wherever it is."""

    study: int
    slug: str
    code: str
    mark: str
    day: str


def left_keep() -> None:
    """Have all that the present database, and a restore that died, know in the file; OSError."""
    if known := _in_database() | _in_file():
        atomic.put(_file(), json.dumps(sorted(known.elements())).encode()).chmod(0o600)


def left_put_back() -> None:
    """Have in the database what is not there, or is there with a mark that was forgotten since; the file is
    gone."""
    known = _in_file()
    missing, studies = known - _in_database(), set(Study.objects.values_list("pk", "slug"))
    marks = {left.mark for left in known} | {""}
    for left in missing.elements():
        if (left.study, left.slug) in studies:
            _put_back(left, marks)
    _file().unlink(missing_ok=True)


def _put_back(left: Left, marks: set[str]) -> None:
    rows = LeftComplete.objects.filter(study=left.study, code=left.code, left_on=left.day)
    row = None if left.mark else rows.exclude(mark__in=marks).first()
    row = row or LeftComplete(study_id=left.study, code=left.code, left_on=date.fromisoformat(left.day))
    row.mark = left.mark
    row.save()


def _in_database() -> Counter[Left]:
    """None in an older one, or in one that is broken."""
    rows = LeftComplete.objects.values_list("study", "study__slug", "code", "mark", "left_on")
    try:
        return Counter(Left(pk, slug, code, mark, str(day)) for pk, slug, code, mark, day in rows)
    except Error:
        return Counter()


def _in_file() -> Counter[Left]:
    return Counter(Left(*row) for row in json.loads(_file().read_text())) if _file().exists() else Counter()


def _file() -> Path:
    return Path(settings.VAR_DIR) / KEPT
