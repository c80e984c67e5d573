"""Moments and JSON that are read as texts say what the values say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from study.exports.csv_encoding import MomentText, cell, harmless, iso, iso_from_text, seconds_between
from study.exports.tables.episodes_and_steps_tables import apart_from_commands
from study.participants.models import PageVisit
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.servers

OPENED = datetime(2026, 11, 21, 7, 59, 59, 123456, tzinfo=UTC)


WAITS = (0.0, 0.0005, 0.8765, 1.5, 75.123456, 172800.0)


@pytest.mark.django_db
@pytest.mark.parametrize("microsecond", [0, 123456, 999500, 1])
def test_moments_and_the_seconds_between_them(microsecond: int) -> None:
    person, opened = enter(make_study()), OPENED.replace(microsecond=microsecond)
    moments = [(opened, opened + timedelta(seconds=wait)) for wait in WAITS]
    for number, (begun, done) in enumerate(moments):
        PageVisit.objects.create(
            participant=person, page="survey", position=number, opened_at=begun, done_at=done
        )
    visits = PageVisit.objects.filter(page="survey").order_by("position")
    found = visits.annotate(a=MomentText("opened_at"), b=MomentText("done_at"))
    for (begun, done), (first, last) in zip(moments, found.values_list("a", "b"), strict=True):
        assert (iso_from_text(first), iso_from_text(last)) == (iso(begun), iso(done))
        assert seconds_between(first, last) == round((done - begun).total_seconds(), 3)


def test_seconds_are_those_of_the_moments_themselves() -> None:
    rng = Random(4)
    for _ in range(3000):
        begun = OPENED + timedelta(microseconds=rng.randrange(120_000_000))
        done = begun + timedelta(microseconds=rng.randrange(90_000_000))
        texts = [moment.strftime("%Y-%m-%d %H:%M:%S.%f") for moment in (begun, done)]
        assert seconds_between(*texts) == round((done - begun).total_seconds(), 3)


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


@pytest.mark.parametrize("digits", ["7" * 5000, "9007199254740993", "0" * 4999 + "9" * 17])
def test_whole_numbers_of_any_length_that_would_be_rounded_get_an_apostrophe(digits: str) -> None:
    assert harmless(digits) == cell(harmless, digits) == f"'{digits}"


@pytest.mark.parametrize("digits", ["0" * 5000, "9007199254740992", "0" * 4999 + "1"])
def test_whole_numbers_of_any_length_that_stay_exact_get_none(digits: str) -> None:
    assert harmless(digits) == cell(harmless, digits) == digits
