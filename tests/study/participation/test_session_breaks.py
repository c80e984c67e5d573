"""Participants reach a break between sessions, come back in time or too late, and staff see it."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from study.design.blueprint import blueprint_of
from study.design.models import Outcome, OwnPage, Study
from study.design.own_page_checks import own_page_problems
from study.editor.flow_picture import flow_steps
from study.exports.export_table import ExportSelection
from study.exports.tables.participants_table import TABLE, rows, wide_columns
from study.monitor.prolific_services import free_left_places
from study.participants.entry_limits import participants_with_place
from study.participants.models import PageVisit, Participant
from study.participants.next_page import current_page
from study.participation.idle_timeout import participant_return_late, time_out_idle_participants
from study.participation.page_progress import finish_page
from tests.study.factories import enter, make_study, play_round

pytestmark = pytest.mark.django_db
BREAKS = "/staff/small/participants/breaks/"


@pytest.fixture
def study() -> Study:
    """A study with two rounds and a break of one to two days between them. It ends idle people soon."""
    made = make_study(conditions=2, items=1, idle_minutes=10, idle_warning_minutes=5)
    page = OwnPage(study=made, key="night", before="round-2", title="See you tomorrow", session_code="S1")
    page.not_before_hours, page.not_after_hours = 24, 48
    page.full_clean()
    page.save()
    Outcome.objects.create(study=made, kind="late_return", code="LATE7", text="A **pity**.")
    return made


def on_break(study: Study, hours: float, entry: str = "one") -> Participant:
    """Return a participant who reached the break so many hours ago and has done nothing since."""
    person = enter(study, entry)
    finish_page(participant_id=person.pk, page="guide")
    play_round(person)
    ago = timezone.now() - timedelta(hours=hours)
    PageVisit.objects.filter(participant=person, page="own-night").update(opened_at=ago)
    Participant.objects.filter(pk=person.pk).update(active_at=ago)
    return Participant.objects.get(pk=person.pk)


def page_of(person: Participant) -> str:
    return current_page(Participant.objects.get(pk=person.pk)).page


def press(client: Client, person: Participant) -> str:
    client.post(person.get_absolute_url(), {"page": "own-night"})
    return page_of(person)


def test_somebody_on_a_break_reads_when_to_return_and_cannot_go_on_before(
    study: Study, client: Client
) -> None:
    person = on_break(study, 2)
    assert not PageVisit.objects.get(page="own-night").loads, "the break begins before the page is loaded"
    html = client.get(person.get_absolute_url()).content.decode()
    assert 'data-page="break"' in html and "S1" in html and person.key in html
    assert html.count("data-local") == 2 and "data-idle" not in html
    assert "data-break-form hidden" in html
    assert press(client, person) == "own-night"
    here = client.get(f"{person.get_absolute_url()}here/?break=1").json()
    assert here == {"active": True, "warn_in": None, "end_in": None, "resting": True}
    assert time_out_idle_participants() == 0
    assert Participant.objects.filter(participants_with_place(), pk=person.pk).exists()


def test_somebody_who_returns_in_time_goes_on_at_the_next_page(study: Study, client: Client) -> None:
    person = on_break(study, 30)
    assert time_out_idle_participants() == 0
    html = client.get(person.get_absolute_url()).content.decode()
    assert "data-break-form hidden" not in html
    assert [press(client, person), press(client, person)] == ["play", "play"], "a double changes nothing"
    wide = wide_columns(study, [])
    cells = next(row for group in rows(study, ExportSelection(), wide) for row in group.rows)
    told = dict(zip([column.name for column in wide], cells[len(TABLE.columns) :], strict=True))
    seconds = (told["break.night.returned_at"] - told["break.night.began_at"]).total_seconds()
    assert seconds == pytest.approx(30 * 3600, abs=60)


@pytest.mark.parametrize("by", ["load", "press", "check"])
def test_somebody_who_returns_too_late_gets_an_end_of_its_own(study: Study, client: Client, by: str) -> None:
    person = on_break(study, 49)
    if by == "load":
        client.get(person.get_absolute_url())
    elif by == "press":
        assert not finish_page(participant_id=person.pk, page="own-night")
        assert press(client, person) == "end"
    else:
        assert time_out_idle_participants() == 1
    person.refresh_from_db()
    ended_at = person.ended_at
    assert (person.status, person.end_reason, person.given_code) == ("late_return", "break night", "LATE7")
    assert not participant_return_late(participant_id=person.pk)
    html = client.get(person.get_absolute_url()).content.decode()
    assert "LATE7" in html and "<strong>pity</strong>" in html and "time to come back is over" in html
    person.refresh_from_db()
    assert person.ended_at == ended_at
    assert not Participant.objects.filter(participants_with_place(), pk=person.pk).exists()


def test_prolific_ends_only_those_who_gave_their_place_back(study: Study, client: Client) -> None:
    timed_out, returned = on_break(study, 30, "a"), on_break(study, 30, "b")
    for person in (timed_out, returned):
        Participant.objects.filter(pk=person.pk).update(source="prolific", label=f"P{person.pk}")
    client.get(timed_out.get_absolute_url())
    assert press(client, timed_out) == "play", "the next session has begun"
    told = {timed_out: "TIMED-OUT", returned: "RETURNED"}
    rows = [SimpleNamespace(participant=f"P{one.pk}", status=status) for one, status in told.items()]
    prolific: Any = SimpleNamespace(submissions=lambda _: rows)
    assert free_left_places(study, prolific) == 1
    assert [one.status for one in study.participants.order_by("pk")] == ["active", "timed_out"]


def test_a_program_and_a_preview_go_on_at_once(study: Study, client: Client) -> None:
    person = on_break(study, 0)
    Participant.objects.filter(pk=person.pk).update(synthetic=True)
    assert "go on at once" in client.get(person.get_absolute_url()).content.decode()
    Participant.objects.filter(pk=person.pk).update(synthetic=False, preview=True)
    html = client.get(person.get_absolute_url()).content.decode()
    assert "The times below are an example" in html and html.count("data-local") == 2
    assert "data-break-form hidden" not in html
    assert press(client, person) == "play"


def test_staff_see_who_is_due_and_copy_a_reminder(study: Study, admin_client: Client) -> None:
    due, resting, late = (on_break(study, hours, str(hours)) for hours in (30, 1, 60))
    due.language = "es"
    due.save(update_fields=["language"])
    time_out_idle_participants()
    html = admin_client.get(BREAKS).content.decode()
    assert html.index(due.code) < html.index(resting.code) < html.index("Did not come back in time")
    assert html.index("Did not come back in time") < html.index(late.code)
    assert f"Tu enlace: http://testserver/p/{due.guest_key}/" in html and due.key not in html.replace(
        due.guest_key, ""
    )
    found = {
        status: admin_client.get(f"/staff/small/participants/?status={status}").content.decode()
        for status in ("due", "break", "late_return")
    }
    shown = {status: [one.code in page for one in (due, resting, late)] for status, page in found.items()}
    assert shown == {
        "due": [True, False, False],
        "break": [True, True, False],
        "late_return": [False, False, True],
    }
    assert (
        "due: may come back now"
        in admin_client.get(f"/staff/small/participants/{due.code}/").content.decode()
    )
    live = admin_client.get("/staff/small/live/").content.decode()
    assert "the end of a break" in live and "the participant to come back" in live


def test_a_break_is_drawn_and_checked(study: Study, admin_client: Client) -> None:
    step = next(one for one in flow_steps(study, blueprint_of(study)) if one.title == "See you tomorrow")
    assert step.pause == "come back after 1 day, within 2 days"
    assert step.end == "Who does not come back in time leaves"
    page = OwnPage.objects.get()
    edit = f"/staff/small/design/flow/{page.pk}/"
    sent: dict[str, Any] = {"title": "Rest", "before": "end", "key": "night", "match": "all"}
    sent |= {"not_before_hours": "36", "not_before_hours_unit": "1", "session_code": "S2"}
    refused = admin_client.post(edit, sent)
    assert refused.status_code == 422 and "Nothing follows this break" in refused.content.decode()
    stored = sent | {"before": "round-2", "not_after_hours": "3", "not_after_hours_unit": "24"}
    assert admin_client.post(edit, stored).status_code == 302
    page.refresh_from_db()
    assert (page.not_before_hours, page.not_after_hours, page.session_code) == (36, 72, "S2")
    page.not_after_hours, page.session_code = None, ""
    page.save()
    study.recruitment = "prolific"
    said = " ".join(one.words for one in own_page_problems(study, blueprint_of(study)))
    assert "never come back keep their place" in said and "no code for the session" in said
    assert admin_client.get("/staff/small/design/flow/").status_code == 200
