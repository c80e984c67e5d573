"""The tabs of one study in the researcher's console."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from study.participants.end_and_erase_participation import participant_withdraw
from study.pilot.previews import study_preview
from study.templatetags.console import TABS
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db


def test_every_page_of_a_study_has_the_same_tabs_and_marks_its_own(admin_client: Client) -> None:
    study = make_study()

    page = admin_client.get(reverse("study:staff-analysis", args=[study.slug])).content.decode()

    here = reverse("study:staff-analysis", args=[study.slug])
    assert f'<a href="{here}" aria-current="page">Analysis</a>' in page
    assert page.count('aria-current="page"') == 1
    assert f'<a href="{reverse("study:staff-participants", args=[study.slug])}">Participants</a>' in page


def test_tabs_lead_only_to_pages_that_answer(admin_client: Client) -> None:
    study = make_study()

    page = admin_client.get(reverse("study:staff-study", args=[study.slug])).content.decode()

    listed = page.partition('class="tabs"')[2].partition("</nav>")[0]
    tabs = re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', listed)
    assert len(tabs) > 4 and {words for _, words in tabs} <= set(TABS)
    assert all(admin_client.get(url).status_code == 200 for url, _ in tabs)


def test_a_receipt_of_who_left_is_checked_for_staff(admin_client: Client) -> None:
    study, other = make_study(), make_study("other")
    code = participant_withdraw(participant_id=enter(study).pk).code

    def said(slug: str, receipt: str) -> str:
        url = reverse("study:staff-participants", args=[slug])
        return admin_client.get(url, {"receipt": receipt}).content.decode()

    assert "genuine: somebody left this study" in said(study.slug, f" {code[:20]}\n{code[20:]}")
    assert "genuine, but for another study: small" in said(other.slug, code)
    for wrong in (code[:-1], code.replace("small", "other"), "2026"):
        assert "not a receipt of this server" in said(study.slug, wrong)


def test_the_study_tab_lists_what_is_asked_after_each_episode_and_who_entered(admin_client: Client) -> None:
    study = make_study()
    study.items.filter(key="i0").update(kind="single", options=["often", "never"])
    study.items.filter(key="i1").update(enabled=False)
    study.items.create(key="age", measure="Age", text="How old?", place="about", kind="number")
    person = study_preview(study_id=study.pk)

    page = admin_client.get("/staff/small/").content.decode()

    table = page.partition('id="items-title"')[2].partition("</section>")[0]
    assert "One of several: often, never" in table
    assert "Measure 1" not in table
    assert "Age" not in table
    row = page.partition('id="participants"')[2]
    assert '<span class="badge preview">preview</span>' in row
    assert person.consented_at is None
    assert f"{person.entered_at:%Y-%m-%d %H:%M}" in row
