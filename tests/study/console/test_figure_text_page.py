"""The page on which researchers edit the title and the note of a figure, or leave them out."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from study.analysis.analysis_results import CachedAnalysis
from study.analysis.statistics.figure_texts import LONGEST
from study.researchers.models import Membership
from tests.study.analysis.statistics.test_analysis import demo
from tests.study.factories import make_study

OWN = {"title": "Ours <b>& theirs</b>", "note": ""}
HERE = "/staff/small/analysis/success/raincloud/texts/"


@pytest.fixture
def editor(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    ready = CachedAnalysis(demo(), {})
    for place in ("figure_text_page.ready_analysis", "analysis_pages.ready_analysis"):
        monkeypatch.setattr(f"study.console.{place}", lambda *_: ready)
    user = get_user_model().objects.create_user("ed", is_staff=True)
    Membership.objects.create(study=make_study(), user=user, role=Membership.Role.COLLABORATOR)
    client.force_login(user)
    return client


@pytest.mark.servers
@pytest.mark.django_db
def test_who_may_edit_changes_a_title_and_leaves_a_note_out(editor: Client) -> None:
    sent: dict[str, Any] = {"shows_title": "on", "title": f" {OWN['title']} ", "note": "gone"}
    assert editor.post(HERE, sent)["Location"].startswith("/staff/small/analysis/success/?")
    membership = Membership.objects.get()
    assert membership.study.figure_texts == {"success": {"raincloud": OWN}}
    page = editor.get("/staff/small/analysis/success/").content.decode()
    assert HERE in page and "Half violins" not in page
    form = editor.get(HERE).content.decode()
    assert "Ours &lt;b&gt;&amp; theirs&lt;/b&gt;" in form and "<b>&" not in form
    editor.post(HERE, {"shows_title": "on", "shows_note": "on"})
    membership.study.refresh_from_db()
    assert membership.study.figure_texts == {}
    assert editor.post(HERE.replace("raincloud", "nothing"), sent).status_code == 404
    membership.role = Membership.Role.VIEWER
    membership.save()
    assert editor.post(HERE, sent).status_code == 403
    assert HERE not in editor.get("/staff/small/analysis/success/").content.decode()


@pytest.mark.django_db
def test_a_text_that_is_too_long_is_refused_and_says_how_long_it_may_be(editor: Client) -> None:
    assert "maxlength" not in editor.get(HERE).content.decode().partition("design-form")[2]
    answer = editor.post(HERE, {"shows_title": "on", "title": "x" * (LONGEST["title"] + 1)})
    assert answer.status_code == 422
    assert "at most 200 characters" in answer.content.decode()
    assert Membership.objects.get().study.figure_texts == {}
