"""A page that several tabs of one participant open at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from study.participants.models import Participant
from study.participation.page_progress import page_opened
from tests.study.factories import enter, make_study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]


def test_tabs_that_open_a_page_at_once_are_one_visit_that_counts_them_all() -> None:
    participant_id = enter(make_study()).pk

    def open_it() -> None:
        try:
            page_opened(person=Participant.objects.get(pk=participant_id), page="guide")
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as tabs:
        for tab in [tabs.submit(open_it) for _ in range(8)]:
            tab.result()
    assert Participant.objects.get().visits.get(page="guide").loads == 8
