"""Write the files with which bonuses are paid at recruitment platforms: Prolific, MTurk and SONA.

A file has only people who came from its platform. An ID with characters that no platform uses is left out,
because a spreadsheet could run it as a formula.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping

from study.design.models import Study
from study.participants.payments import Payment

Source = Study.Recruitment

ID = re.compile(r"[A-Za-z0-9][\w.-]{0,119}")
"""What an ID of a platform looks like."""


def prolific_file(payments: Iterable[Payment]) -> str:
    """Return the lines for Prolific's *bulk bonus payments*: the participant's ID and the amount."""
    return "".join(
        f"{one.participant.label},{one.amount:.2f}\n" for one in with_id(payments, Source.PROLIFIC)
    )


def mturk_file(payments: Iterable[Payment]) -> str:
    """Return a CSV file with what `send-bonus` of MTurk's API needs. MTurk pays in US dollars only, and a
    request with the same token only once."""
    head = ("WorkerId", "AssignmentId", "BonusAmount", "Reason", "UniqueRequestToken")
    return _csv(
        head,
        (
            (
                one.participant.label,
                _safe(str(one.participant.referral.get("assignmentId", ""))),
                f"{one.amount:.2f}",
                "Bonus for the study",
                str(one.key),
            )
            for one in with_id(payments, Source.MTURK)
            if one.currency == "USD"
        ),
    )


def sona_file(payments: Iterable[Payment]) -> str:
    """Return a CSV file with the survey code and the amount of each person."""
    people = with_id(payments, Source.SONA)
    rows = ((one.participant.label, f"{one.amount:.2f}", one.currency) for one in people)
    return _csv(("survey_code", "amount", "currency"), rows)


FILES: Mapping[str, Callable[[Iterable[Payment]], str]] = {
    "prolific.txt": prolific_file,
    "mturk.csv": mturk_file,
    "sona.csv": sona_file,
}
"""The function that writes each file, by file name."""


def left_out(payments: Iterable[Payment]) -> list[Payment]:
    """Return the payments that no file has: without a usable ID of a platform, or in a currency that MTurk
    does not pay."""
    rows = list(payments)
    held = {one.pk for source in (Source.PROLIFIC, Source.SONA) for one in with_id(rows, source)}
    held |= {one.pk for one in with_id(rows, Source.MTURK) if one.currency == "USD"}
    return [one for one in rows if one.pk not in held]


def with_id(payments: Iterable[Payment], source: str) -> Iterable[Payment]:
    """Yield the payments of people who came from this platform with a usable ID."""
    for one in payments:
        if one.participant.source == source and ID.fullmatch(one.participant.label):
            yield one


def _safe(value: str) -> str:
    return value if ID.fullmatch(value) else ""


def _csv(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()
