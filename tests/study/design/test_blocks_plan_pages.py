"""The ready study of who knows the plan: no plan in its guide, and examples that the planner understands."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import translation

from kitchen.play.live.render_page import page_context
from kitchen.play.live.seat_view import current_seat_view, world_page_of
from kitchen.play.models import Episode, Seat
from kitchen.worlds.blocks.parsed_requests import PLACE, UNCLEAR
from kitchen.worlds.blocks.planner_messages import UNCLEAR_WORDS, planner_text
from kitchen.worlds.blocks.request_parser import parse_requests
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.models import Study
from study.design.study_files import study_from_file
from study.participation.page_progress import finish_page
from study.pilot.previews import condition_preview, study_preview
from tests.conftest import Once

pytestmark = pytest.mark.django_db
LANGUAGES = ("en", "es", "zh-hans")


@pytest.fixture(scope="module")
def shipped(once: Once) -> int:
    """The study as it ships; its pk."""
    with once():
        return study_from_file(DEMO_FILE.with_name(READY_STUDIES["blocks_plan"][1])).pk


@pytest.fixture
def study(shipped: int) -> Study:
    return Study.objects.get(pk=shipped)


def played_page(client: Client, study: Study, key: str) -> str:
    """The page of the first game of somebody who previews one condition, after the card before it."""
    person = condition_preview(condition=study.conditions.get(key=key))
    assert 'data-page="ready"' in client.get(person.get_absolute_url()).content.decode()
    client.post(person.get_absolute_url(), {"page": "ready"})
    return unescape(client.get(person.get_absolute_url()).content.decode())


def test_the_guide_before_the_games_prints_no_plan_and_the_one_beside_a_game_only_to_who_knows_it(
    client: Client, study: Study
) -> None:
    person = study_preview(study_id=study.pk)
    client.get(person.get_absolute_url())
    client.post(person.get_absolute_url(), {"page": "consent", "agree_0": "on"})
    client.get(person.get_absolute_url())
    Episode.objects.filter(practised_by=person).update(status=Episode.Status.OVER)
    finish_page(participant_id=person.pk, page="practice")
    shown = client.get(person.get_absolute_url()).content.decode()
    assert 'data-page="check"' in shown, "where the guide can be opened"
    assert "Letters of the blueprint" not in shown and "<td>A</td>" not in shown
    assert "Build what the blueprint shows" in shown and "You do not see it" not in shown
    for key, knows in {"both_shelter": True, "you_shelter": True, "other_shelter": False}.items():
        page = played_page(client, study, key)
        assert ("Letters of the blueprint" in page) is knows, key
        assert ("Build what the blueprint shows" not in page) is not knows
        assert ("You do not see it: others know it." in page) is not knows
        assert "The other builder understands short requests like these." in page, "the study's own text"


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_beside_the_message_box_are_understood_in_each_language(study: Study, language: str) -> None:
    for key, number in {"both_shelter": 1, "you_shelter": 3, "other_shelter": 3}.items():
        person = condition_preview(condition=study.conditions.get(key=key))
        seat = Seat.objects.get(episode__rounds__participant=person, number=0)
        with translation.override(language):
            context = page_context(world_page_of(seat), current_seat_view(seat), socket_path="/")
            html = unescape(render_to_string("kitchen/play/play.html", context))
            examples = re.findall(r"data-reply>([^<]*)<", html)
        assert len(examples) == number
        requests = [request for text in examples for request in parse_requests(text, ())]
        assert len(requests) == number and UNCLEAR not in {request.do for request in requests}
        assert (PLACE in {request.do for request in requests}) is (key == "you_shelter")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_of_an_answer_is_understood_in_each_language(language: str) -> None:
    with translation.override(language):
        text = planner_text([(UNCLEAR_WORDS, ["oak_planks"])])
    example = text.replace("\uff1a", ":").rpartition(":")[2]
    assert [(request.do, request.thing) for request in parse_requests(example, ())] == [(PLACE, "oak_planks")]


def test_the_preview_begins_in_the_chosen_language(admin_client: Client, study: Study) -> None:
    address = f"/staff/{study.slug}/design/preview/"
    assert "three small buildings" in admin_client.get(address).content.decode()
    admin_client.post("/language/", {"language": "es", "next": address})
    assert "tres edificios pequeños" in admin_client.get(address).content.decode()
