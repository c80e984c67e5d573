"""A frequent search builds its SQL once, and finds at any time what Django's own query finds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db.models import Max, QuerySet
from django.utils import timezone

from kitchen.infra.compiled_queries import compiled_query
from kitchen.infra.database_writes import time_from_driver

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.sqlite]
NOON = datetime(2026, 5, 4, 12, 0, 0, 5, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def ended(now: datetime, since: timedelta) -> QuerySet[Any, Any]:
    """Return the sessions that ended between `since` ago and 90 s ago, and the one whose name is a time."""
    late = Session.objects.filter(expire_date__range=(now - since, now - 1.5 * MINUTE))
    named = Session.objects.filter(session_key="1999-01-01 10:00:00")
    return (late | named).order_by("session_key").values_list("session_key")


def test_the_sql_is_built_once_for_all_times_and_for_each_other_argument() -> None:
    built = []

    @compiled_query
    def search(now: datetime, since: timedelta) -> QuerySet[Any, Any]:
        built.append(since)
        return ended(now, since)

    for number in range(6):
        Session.objects.create(session_key=f"s{number}", expire_date=NOON + number * MINUTE)
    Session.objects.create(session_key="1999-01-01 10:00:00", expire_date=NOON + timedelta(days=9))
    for since in (3 * MINUTE, 5 * MINUTE):
        for now in (NOON + 4 * MINUTE, NOON + 6 * MINUTE, NOON + timedelta(days=400)):
            assert search(now, since) == list(ended(now, since))
    assert built == [3 * MINUTE] * 2 + [5 * MINUTE] * 2, "for two example times each"


def test_a_computed_time_has_a_time_zone() -> None:
    @compiled_query
    def last(now: datetime) -> QuerySet[Any, Any]:
        sessions = Session.objects.filter(expire_date__lt=now).order_by().values_list("session_data")
        return sessions.annotate(Max("expire_date"))

    Session.objects.create(session_key="one", session_data="kept", expire_date=NOON)
    assert [(data, time_from_driver(end)) for data, end in last(NOON + MINUTE)] == [("kept", NOON)]
    assert last(NOON) == []


def test_a_time_may_be_days_away() -> None:
    @compiled_query
    def old(now: datetime) -> QuerySet[Any, Any]:
        return Session.objects.filter(expire_date__lt=now - timedelta(days=200)).values_list("session_key")

    Session.objects.create(session_key="one", expire_date=NOON)
    assert [len(old(NOON + timedelta(days=days))) for days in (199, 201)] == [0, 1]


def test_a_time_that_does_not_follow_the_search_is_refused() -> None:
    @compiled_query
    def frozen(now: datetime) -> QuerySet[Any, Any]:
        return Session.objects.filter(expire_date__lt=timezone.now()).values_list("session_key")

    with pytest.raises(ValueError, match="no fixed distance"):
        frozen(NOON)
