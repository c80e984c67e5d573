"""People play before they read: where the design says so, and never in a version that began otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from kitchen.registry.world_registry import get_page
from study.design.blueprint import blueprint_of
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.models import Study, StudyPart, SurveyItem
from study.design.page_and_item_order import pages_before_rounds, progress
from study.design.study_files import study_from_file
from study.participants.models import Participant
from study.participants.next_page import current_page
from study.participation.page_progress import finish_page
from tests.nightly import thinned
from tests.reading_time import WORDS_A_MINUTE, way_to_first_dish, way_to_first_move, words_in
from tests.study.factories import enter, make_study
from tests.study.participation.test_practice import LEVEL, again, follow

pytestmark = pytest.mark.django_db
MOST_SECONDS, MOST_SECONDS_TO_MOVE = 90, 60
OTHERS = [DEMO_FILE.with_name(name) for _, name in READY_STUDIES.values() if name != DEMO_FILE.name]
"""The ready studies but the demo."""


def study_with(**settings: Any) -> Study:
    """A study with a guide, practice with these settings, and a question about the rules."""
    study = make_study(conditions=1)
    kitchen = {"settings": {**LEVEL, "max_steps": 40}}
    StudyPart.objects.create(study=study, kind="about", enabled=True, text="About you.")
    StudyPart.objects.create(
        study=study, kind="practice", enabled=True, settings={"kitchen": kitchen, **settings}
    )
    StudyPart.objects.create(study=study, kind="check", enabled=True)
    asked = {"kind": "single", "options": ["yes", "no"], "correct": "yes"}
    SurveyItem.objects.create(study=study, key="rule", measure="Rule", text="A rule?", place="check", **asked)
    return study


def pages_of(person: Participant) -> str:
    return current_page(Participant.objects.get(pk=person.pk)).page


def test_practice_follows_consent_and_the_guide_is_no_page(client: Client) -> None:
    study = study_with(plays_first=True)
    assert pages_before_rounds(blueprint_of(study)) == ("consent", "practice", "about", "check")
    person = enter(study)
    html = client.get(person.get_absolute_url()).content.decode()
    assert 'data-page="practice"' in html and "data-beats" in html and 'id="guide-dialog"' in html
    assert [html.count(f'data-beat="{name}"') for name in ("move", "cook", "serve")] == [1, 1, 1]
    assert 'data-purpose="fetch"' in html, "what the hint is for says which part is on"
    follow(again(person).practice)
    finish_page(participant_id=person.pk, page="practice")
    assert pages_of(person) == "about"
    place = progress(blueprint_of(study), "about")
    assert place and (place.number, place.total) == (3, 5), "the guide is not counted"


def test_whoever_entered_before_keeps_the_order_that_they_began_with(client: Client) -> None:
    study = study_with()
    early = enter(study, "early")
    study.parts.filter(kind="practice").update(
        settings={**study.parts.get(kind="practice").settings, "plays_first": True}
    )
    late = enter(Study.objects.get(pk=study.pk), "late")
    assert (pages_of(early), pages_of(late)) == ("about", "practice")
    for page in ("about", "guide"):
        finish_page(participant_id=early.pk, page=page)
    assert "data-beats" not in client.get(early.get_absolute_url()).content.decode()


def test_where_answers_decide_what_is_played_they_come_first() -> None:
    design = blueprint_of(study_with(plays_first=True))
    quotas = {"quotas": "a, i0 = yes: 1"}
    grouped = {**design.study, "between_groups": "a b", "allocation": quotas}
    needs = design.model_copy(update={"study": grouped})
    assert needs.allocation.items == ("i0",) and needs.groups
    assert pages_before_rounds(needs) == ("consent", "about", "practice", "check")


@pytest.mark.parametrize("world", ["cuisine", "overcooked"])
def test_every_part_of_the_first_game_is_reached_by_some_purpose(world: str) -> None:
    page = get_page(world)
    names = [beat.name for beat in page.beats]
    assert names == ["move", "cook", "serve"] and {*names[1:]} <= {*page.beat_of.values()} <= {*names}


def test_a_design_says_so_only_where_it_is_so() -> None:
    stored = blueprint_of(study_with()).to_json()
    assert "plays_first" not in str(stored)


def test_only_what_can_be_seen_counts_as_read() -> None:
    page = """<header>Not this</header><main><h1>One two</h1><p hidden>no</p><script>no no</script>
    <details><summary>three</summary><p>no</p></details><p>four - <b class="visually-hidden">no</b>five<br>six
    </p><dialog>no</dialog></main><footer>no</footer>"""
    assert words_in(page) == 6
    assert words_in("<main>no <p data-beats>one <b>two</b></p> no</main>", "data-beats") == 2
    assert WORDS_A_MINUTE == 200


def test_in_the_demo_the_first_dish_is_served_within_ninety_seconds(client: Client) -> None:
    study = study_from_file(DEMO_FILE)
    study.status = Study.Status.OPEN
    study.save()
    way = way_to_first_dish(client, study)
    assert way.served and list(way.words) == ["welcome", "consent", "practice"]
    assert way.seconds <= MOST_SECONDS, f"{way.seconds:.0f} s: {way.words}, {way.actions} actions"


@pytest.mark.parametrize("file", thinned(OTHERS, 3), ids=lambda file: file.stem)
def test_in_every_ready_study_the_first_own_move_comes_within_a_minute(client: Client, file: Path) -> None:
    """Their first result takes longer by its rules: a clock runs, a building has many blocks, or somebody is
    led. The demo's first dish is measured above."""
    study = study_from_file(file)
    study.status = Study.Status.OPEN
    study.save()
    way = way_to_first_move(client, study)
    assert [*way.words][-2:] == ["consent", "practice"]
    assert way.seconds <= MOST_SECONDS_TO_MOVE, f"{way.seconds:.0f} s: {way.words}, {way.actions} actions"
