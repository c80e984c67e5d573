"""A preview says on every page that it is one, and hands out nothing."""

from __future__ import annotations

import pytest
from django.test import Client

from study.design.models import Outcome
from study.participants.end_and_erase_participation import finish_participant, participant_end
from study.participants.models import Participant
from study.pilot.previews import condition_preview, study_preview
from tests.study.factories import enter, make_study
from tests.study.participation.test_views import text_of

BANNER = "Preview: nothing here counts"

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def test_every_page_of_a_preview_says_so_and_no_page_of_others(client: Client) -> None:
    study = make_study()
    tried, played = study_preview(study_id=study.pk), condition_preview(condition=study.conditions.all()[0])
    leaving = f"/p/{tried.key}/withdraw/"
    urls = (tried.get_absolute_url(), played.get_absolute_url(), leaving)
    pages = [text_of(client.get(url)) for url in urls]
    assert [page.count(BANNER) for page in pages] == [1, 1, 1]
    assert 'data-page="consent"' in pages[0]
    assert 'data-page="play"' in pages[1]
    assert BANNER in text_of(client.post(leaving, {"confirm": "yes"}))
    assert BANNER not in text_of(client.get(enter(study).get_absolute_url()))


@pytest.mark.parametrize("kind", [kind for kind, _ in Outcome.Kind.choices])
def test_the_last_page_of_a_preview_tells_of_code_and_button_and_has_neither(
    client: Client, kind: str
) -> None:
    study = make_study(recruitment="prolific")
    Outcome.objects.create(study=study, kind=kind, code="S3CRET")
    person = study_preview(study_id=study.pk)
    participant_end(participant_id=person.pk, status=kind)
    page = text_of(client.get(person.get_absolute_url()))
    assert BANNER in page
    assert "S3CRET" not in page
    assert "prolific.com" not in page
    assert "Participants get the code for this ending here. It is the same for everybody." in page
    assert "Below it a button leads them back" in page


def test_a_preview_shows_which_kind_of_code_participants_get(client: Client) -> None:
    study = make_study()
    person = study_preview(study_id=study.pk)
    finish_participant(person, Participant.Status.COMPLETE)
    page = text_of(client.get(person.get_absolute_url()))
    assert "Each participant gets their own code here." in page
    assert person.completion_code not in page
    assert "Below it a button" not in page

    other = study_preview(study_id=study.pk)
    participant_end(participant_id=other.pk, status="technical")
    assert "Participants get no code at this ending." in text_of(client.get(other.get_absolute_url()))
