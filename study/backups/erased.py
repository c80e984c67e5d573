"""Who was erased must not come back with a backup that was made before.

Marks of the erased (`study.people.marks`) are noted with the security events: in the database, and in
`security.log`, which a restore does not touch. Before a database is replaced all marks are written to a file
beside it, so that they are known whatever happens then.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator
from logging import FileHandler
from pathlib import Path

from django.conf import settings
from django.db import Error

from kitchen.machine import atomic
from study.people.leaving import participant_withdraw
from study.people.marks import mark_of
from study.people.models import Participant
from study.researchers.models import SecurityEvent

KIND = SecurityEvent.Kind.PERSON_ERASED
KEPT = "erased.marks"
"""A mark a line, in the folder of what the app writes."""


def marks_known() -> set[str]:
    """Of everybody who was erased, as far as the present database, the logs and the file say so."""
    return {noted.split()[-1] for noted in (*_in_database(), *_in_logs(), *_kept())}


def marks_keep() -> None:
    """Have all that are known in the file; OSError."""
    atomic.put(_file(), "".join(f"{mark}\n" for mark in sorted(marks_known())).encode())


def _kept() -> list[str]:
    return _file().read_text().split() if _file().exists() else []


def _file() -> Path:
    return Path(settings.VAR_DIR) / KEPT


def _in_database() -> Iterator[str]:
    try:
        yield from SecurityEvent.objects.filter(kind=KIND).exclude(what="").values_list("what", flat=True)
    except Error:  # there is none yet, or it is broken: the logs are left
        return


def _in_logs() -> Iterator[str]:
    for handler in logging.getLogger("brigade.security").handlers:
        if isinstance(handler, FileHandler):
            log = Path(handler.baseFilename)
            for file in sorted(log.parent.glob(f"{log.name}*")):
                yield from _in_log(file)


def _in_log(file: Path) -> Iterator[str]:
    """One that was put aside by a program is read too, unless that has compressed it."""
    for line in file.read_text(errors="replace").splitlines():
        try:
            noted = json.loads(line)
            if noted["kind"] == KIND and noted["what"]:
                yield str(noted["what"])
        except (ValueError, KeyError, TypeError):
            continue


def erase_again(marks: set[str]) -> Counter[str]:
    """Erase everybody with one of these marks; how many, by the slug of their study."""
    people = Participant.objects.select_related("study").only("pk", "entry", "study__slug")
    back = [(person.pk, person.study.slug) for person in people.iterator() if mark_of(person) in marks]
    for pk, _ in back:
        participant_withdraw(participant_id=pk)
    return Counter(slug for _, slug in back)
