"""What the database turns into a text or a number is what Python would make of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from study.exports.csv_text import iso
from study.exports.raw import MomentText, SecondsSince, as_written
from study.exports.steps import apart_from_commands
from study.models import PageVisit
from tests.study.factories import enter, make_study

OPENED = datetime(2026, 11, 21, 7, 59, 59, 123456, tzinfo=UTC)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("opened", "taken", "seconds"),
    [
        (OPENED, OPENED + timedelta(seconds=1.5), 1.5),
        (OPENED.replace(microsecond=0), OPENED.replace(microsecond=0) + timedelta(days=2), 172800.0),
        (OPENED, OPENED, 0.0),
    ],
)
def test_moments_and_seconds(opened: datetime, taken: datetime, seconds: float) -> None:
    person = enter(make_study())
    PageVisit.objects.create(participant=person, page="final", opened_at=opened, done_at=taken)
    texts = {"a": MomentText("opened_at"), "b": MomentText("done_at")}
    visits = PageVisit.objects.filter(page="final").annotate(**texts, s=SecondsSince("done_at", "opened_at"))
    found = visits.values_list("a", "b", "s")
    begun, done, between = found.get()
    assert (as_written(begun), as_written(done)) == (iso(opened), iso(taken))
    assert str(between) == str(seconds)


@pytest.mark.parametrize(
    ("events", "left"),
    [
        ("[]", "[]"),
        ('[{"kind": "performed", "seat": 0}, {"kind": "refused", "seat": 1}]', "[]"),
        ('[{"kind": "performed", "seat": 0}, {"kind": "order_done"}]', '[{"kind":"order_done"}]'),
        ('[{"kind": "performed_twice"}]', '[{"kind":"performed_twice"}]'),
        ('[{"kind":"performed"}]', "[]"),
        ('[{"kind": "refused", "said": "\\"kind\\": \\"x\\""}]', "[]"),
    ],
)
def test_events_that_are_no_commands_stay(events: str, left: str) -> None:
    assert apart_from_commands(events) == left
