"""Any page of a study is shown at once, filled in by a program, and never counts."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from kitchen.play.models import Episode
from study.design.models import OwnPage, Study, StudyPart, SurveyItem
from study.participants.models import Answer, Participant
from tests.study.factories import make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def study() -> Study:
    study = make_study(steps=4, languages="en es")
    study.conditions.filter(key="c1").update(ready_card=True)
    for kind in ("about", "practice", "final", "debriefing"):
        StudyPart.objects.create(study=study, kind=kind, enabled=True, text="Read.")
    for number, place in enumerate(("about", "final")):
        words = {"key": place, "measure": place, "text": f"At {place}?", "kind": "number"}
        SurveyItem.objects.create(study=study, place=place, minimum=1, maximum=9, position=number, **words)
    rule = {"match": "all", "rules": [{"what": "answer:about", "compares": "is", "value": "77"}]}
    text = "You said {answer:i0} in {team}."
    OwnPage.objects.create(study=study, key="told", before="round-2", title="Told", text=text)
    OwnPage.objects.create(study=study, key="out", before="rounds", title="Out", ends=True, show_if=rule)
    study.texts = {"es": {"At final?": "¿Al final?"}}
    study.save()
    return study


@pytest.fixture(autouse=True)
def _owner(study: Study, client: Client) -> None:
    user = User.objects.create_user("researcher", is_staff=True)
    study.memberships.create(user=user, role="owner")
    client.force_login(user)


def shown(client: Client, study: Study, page: str, language: str = "en") -> tuple[str, str]:
    """Return the kind and the text of the page that the button shows."""
    sent = {"page": page, "condition": "c1", "language": language}
    url = reverse("study:staff-design-previews", args=[study.slug])
    text = client.post(url, sent, follow=True).content.decode()
    found = re.search('data-page="([^"]+)"', text)
    assert "preview-banner" in text, page
    return found[1] if found else "", text


def test_every_page_of_the_list_is_shown_by_one_click(client: Client, study: Study) -> None:
    url = reverse("study:staff-design-previews", args=[study.slug])
    text = client.get(url, {"condition": "c1"}).content.decode()
    pages = re.findall('name="page" value="([^"]+)"', text)
    kinds = {page: shown(client, study, page)[0] for page in pages if not page.startswith("end-")}
    assert kinds == {
        "consent": "consent",
        "about": "about",
        "guide": "guide",
        "practice": "practice",
        "own-out": "screen-out",
        "ready": "ready",
        "play": "play",
        "play-middle": "play",
        "survey": "survey",
        "own-told": "own",
        "final": "final",
        "debriefing": "debriefing",
    }
    assert {"end-complete", "end-timed_out", "end-failed_check"} <= {*pages}
    assert Participant.objects.count() == 1, "each preview replaces the one before"


def test_a_program_fills_in_what_comes_before(client: Client, study: Study) -> None:
    assert "¿Al final?" in shown(client, study, "final", "es")[1]
    assert Answer.objects.filter(round__position=2).count() == 2
    _, told = shown(client, study, "own-told")
    assert re.search(r"You said [1-5] in Team 1\.", told)
    shown(client, study, "play-middle")
    episode = Episode.objects.get()
    assert (episode.step, episode.status, episode.settings["max_steps"]) == (2, "playing", 4)
    _, end = shown(client, study, "end-complete")
    assert "Each participant gets their own code here." in end


def test_rounds_have_the_slider_and_the_probes_of_the_condition(client: Client, study: Study) -> None:
    item = {"key": "a", "kind": "text", "text": "Who leads here?"}
    probes = [{"key": "lead", "step": 3, "items": [item]}]
    study.conditions.update(probes=probes, rating_slider={"text": "Trust them", "low": "no", "high": "yes"})
    for page, step in (("play", 0), ("play-middle", 3)):
        _, text = shown(client, study, page)
        assert ("Trust them" in text, "Who leads here?" in text) == (True, page == "play-middle")
        episode = Episode.objects.get()
        assert (episode.step, episode.probing, len(episode.probes)) == (step, step == 3, 1)


def test_only_its_own_preview_leads_to_the_test_of_the_microphone(client: Client, study: Study) -> None:
    study.think_aloud = "optional"
    study.save()
    assert [shown(client, study, page)[0] for page in ("microphone", "play")] == ["microphone", "play"]


def test_a_preview_of_the_study_goes_on_in_the_language_of_its_first_page(
    client: Client, study: Study
) -> None:
    study.think_aloud = "optional"
    study.save()
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "es"
    first = reverse("study:staff-design-preview", args=[study.slug])
    assert "También puedes participar sin micrófono." in client.post(first, follow=True).content.decode()
    assert Participant.objects.get().microphone is None


def test_another_condition_is_listed_in_the_language_that_was_chosen(client: Client, study: Study) -> None:
    url = reverse("study:staff-design-previews", args=[study.slug])
    sent = {"condition": "c1", "other": "c0", "language": "es", "list": "yes"}
    text = client.post(url, sent, follow=True).content.decode()
    assert 'name="condition" value="c0"' in text
    assert 'value="es" checked' in text


def test_nothing_of_a_preview_counts(client: Client, study: Study) -> None:
    shown(client, study, "end-complete")
    person = Participant.objects.get()
    assert person.preview
    assert not study.participants.filter(preview=False).exists()
    again = client.post(
        reverse("study:staff-design-previews", args=[study.slug]), {"page": "nowhere"}, follow=True
    )
    assert Participant.objects.get() == person, "an unknown page changes nothing"
    assert "no longer has this page" in again.content.decode()


def test_a_page_for_one_answer_is_shown_after_this_answer(client: Client, study: Study) -> None:
    for value in ("Yes", "No"):
        rule = {"match": "all", "rules": [{"what": "answer:new", "compares": "is", "value": value}]}
        page = {"title": value, "text": "You said {answer:new}.", "before": "guide", "show_if": rule}
        OwnPage.objects.create(study=study, key=value.lower(), **page)
    words = {"key": "new", "measure": "new", "text": "New?", "kind": "single", "options": ["Yes", "No"]}
    SurveyItem.objects.create(study=study, place="about", position=9, **words)
    for value in ("Yes", "No"):
        assert f"You said {value}." in shown(client, study, f"own-{value.lower()}")[1]
