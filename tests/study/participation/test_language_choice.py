"""In which language somebody reads, and what of it is kept."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from kitchen.play.live import render_page
from kitchen.play.live.page_session import open_page
from kitchen.play.models import Seat
from kitchen.play.turn.websocket_messages import NoticeMessage
from study.design.models import Study, StudyPart, SurveyItem
from study.participants.models import Participant
from study.participation.enter_study import consent_given, participant_enter
from study.participation.page_progress import finish_page
from tests.study.exports.rows import csv_rows
from tests.study.factories import enter, make_study, play_out
from tests.study.participation.test_views import begin, text_of

pytestmark = pytest.mark.django_db
SPANISH = {
    "A small study": "Un estudio",
    "I agree.": "Estoy de acuerdo.",
    "Second": "La segunda",
}


@pytest.fixture
def study() -> Study:
    return make_study(items=1, conditions=1, languages="en es zh-hans", texts={"es": SPANISH})


@pytest.mark.parametrize(
    ("asked", "read"),
    [("es-MX,es;q=0.9", "es"), ("zh-CN", "zh-hans"), ("fr, es;q=0.2", "es"), ("fr", "en"), ("", "en")],
)
def test_the_browser_asks_and_the_study_offers(study: Study, asked: str, read: str) -> None:
    page = Client(HTTP_ACCEPT_LANGUAGE=asked).get("/s/small/")
    assert f'<html lang="{read}" dir="ltr">' in text_of(page)


def test_a_study_in_one_language_is_read_in_it(client: Client) -> None:
    make_study(languages="es")
    page = text_of(Client(HTTP_ACCEPT_LANGUAGE="en").get("/s/small/"))
    assert ">Empezar<" in page and 'class="languages"' not in page


def test_the_chosen_language_outranks_the_browsers_and_is_stored_with_the_person(
    study: Study,
) -> None:
    client = Client(HTTP_ACCEPT_LANGUAGE="es")
    client.post("/language/", {"language": "zh-hans", "next": "/s/small/"})
    there = begin(client, study)["Location"]
    assert Participant.objects.get().language == "zh-hans"
    assert 'lang="zh-hans" dir' in text_of(Client(HTTP_ACCEPT_LANGUAGE="es").get(there))


def test_a_participant_changes_the_language_on_any_page(study: Study) -> None:
    client = Client(HTTP_ACCEPT_LANGUAGE="en")
    there = begin(client, study)["Location"]
    key = Participant.objects.get().key
    response = client.post("/language/", {"language": "es", "next": there, "key": key})
    assert response["Location"] == there
    assert "Estoy de acuerdo." in text_of(client.get(there))
    assert [row["language"] for row in csv_rows(study, "participants")] == ["es"]


@pytest.mark.parametrize(
    "next_page", ["https://elsewhere.example/", "//elsewhere.example", "javascript:1", ""]
)
def test_choosing_a_language_leads_nowhere_else(study: Study, next_page: str) -> None:
    assert Client().post("/language/", {"language": "es", "next": next_page})["Location"] == "/"


def test_a_language_that_there_is_not_changes_nothing(study: Study) -> None:
    person = participant_enter(study_id=study.pk, entry="one")
    assert Client().post("/language/", {"language": "xx", "key": person.key}).status_code == 400
    Study.objects.update(languages="en es")
    Client().post("/language/", {"language": "zh-hans", "key": person.key})
    assert Participant.objects.get().language == "en"


def test_the_words_that_were_agreed_to_are_those_that_were_read(study: Study) -> None:
    spoken = {}
    for language in ("en", "es"):
        person = participant_enter(study_id=study.pk, entry=language, language=language)
        consent_given(participant_id=person.pk)
        person.refresh_from_db()
        spoken[language] = person
        part = person.design.part("consent")
        words = "\n".join([part.text, *part.settings["statements"]])
        assert person.consent_hash == sha256(words.encode()).hexdigest()
    assert spoken["en"].consent_hash != spoken["es"].consent_hash


def test_options_are_stored_in_the_words_of_the_study(study: Study) -> None:
    SurveyItem.objects.create(
        study=study,
        key="which",
        measure="Which",
        text="Which one?",
        kind="single",
        options=["First", "Second"],
    )
    person = enter(study)
    Participant.objects.update(language="es")
    finish_page(participant_id=person.pk, page="guide")
    episode = person.rounds.get().episode
    assert episode
    play_out(episode)
    client, there = Client(), person.get_absolute_url()
    assert 'value="Second"' in (page := text_of(client.get(there))) and "La segunda" in page
    client.post(there, {"page": "survey", "position": "1", "item_i0": "3", "item_which": "Second"})
    assert person.answers.get(item__key="which").value == "Second"


def test_only_untranslated_texts_name_their_language(study: Study) -> None:
    StudyPart.objects.create(study=study, kind="guide", text="Nobody translated this.")
    person = enter(study)
    Participant.objects.update(language="es")
    client, there = Client(), person.get_absolute_url()
    guide = text_of(client.get(there))
    assert '<div lang="en"><p>Nobody translated this.</p>' in guide
    assert "<h1>Cómo se juega</h1>" in guide and 'lang="es"' not in re.sub(r"<(html|button)[^>]*>", "", guide)
    Participant.objects.update(language="en")
    assert 'lang="en"' not in re.sub(r"<(html|button)[^>]*>", "", text_of(client.get(there)))


@pytest.mark.parametrize("language", ["es", "zh-hans"])
def test_every_page_on_the_way_says_its_language(study: Study, language: str) -> None:
    person = enter(study)
    Participant.objects.update(language=language)
    client, there = Client(), person.get_absolute_url()
    finish_page(participant_id=person.pk, page="guide")
    episode = person.rounds.get().episode
    assert episode
    pages = [text_of(client.get(there))]
    play_out(episode)
    pages.append(text_of(client.get(there)))
    client.post(there, {"page": "survey", "position": "1", "item_i0": "3"})
    pages += [text_of(client.get(one)) for one in (there, f"{there}withdraw/", "/s/small/stored/")]
    kinds = [re.findall(r'data-page="(\w+)"', page)[0] for page in pages]
    assert kinds == ["play", "survey", "end", "withdraw", "stored"]
    assert all(f'<html lang="{language}" dir="ltr">' in page for page in pages[:-1])


def test_on_the_play_page_another_language_is_one_click_away(study: Study) -> None:
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    client, there = Client(), person.get_absolute_url()
    page = text_of(client.get(f"{there}?more=1"))
    assert f'name="next" value="{there}"' in page and 'value="zh-hans"' in page  # its length tells nothing
    client.post("/language/", {"language": "zh-hans", "next": there, "key": person.key})
    assert "轮到你了" in text_of(client.get(there)) and person.rounds.get().episode


def test_a_play_page_gets_notices_in_its_language_and_a_program_in_english(study: Study) -> None:
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    episode = person.rounds.get().episode
    assert episode
    told: dict[str, Any] = {}
    for language, json in (("es", False), ("en", False), ("zh-hans", True)):
        page, _ = open_page(
            Seat.objects.get(episode=episode).key,
            f"page-{language}",
            newest=True,
            json=json,
            language=language,
        )
        assert page
        told[language] = page.show_notice(NoticeMessage("over", "This game has ended.")).texts[0]
    assert "Esta partida ha terminado." in told["es"] and "This game has ended." in told["en"]
    assert "This game has ended." in told["zh-hans"]


def test_a_cached_drawing_is_not_shown_in_another_language(study: Study) -> None:
    enter(study)
    from kitchen.play.live.common_panels import Notice, notice_panel

    panel = notice_panel(Notice("Words"))
    with translation.override("es"):
        spanish = render_page.panel_frame(panel)
    assert spanish != render_page.panel_frame(panel)


def test_the_person_s_language_ends_with_the_answer(study: Study) -> None:
    Client(HTTP_ACCEPT_LANGUAGE="es").get("/s/small/")
    assert translation.get_language() == "en"


def test_pages_of_errors_are_read_in_the_language_of_the_browser_and_those_of_staff_in_english() -> None:
    client = Client(HTTP_ACCEPT_LANGUAGE="es")
    assert "Aquí no hay nada" in text_of(client.get("/p/nobody/"))
    assert "Log in" in text_of(client.get("/admin/login/"))
