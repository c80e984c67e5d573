"""The demo's consent says what is stored, and asks nothing that it has answered."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.utils import translation

from study.design.blueprint import blueprint_of
from study.design.demo_study_files import DEMO_FILE, demo_part_texts
from study.design.models import Study, SurveyItem
from study.design.readiness_checks import readiness_problems
from study.design.study_files import study_from_file
from study.design.translated_texts import missing_translations
from study.design.translations import language_codes, texts_to_translate
from study.participants.personal_data_register import ERASED_DATA, STORED_BESIDE, STORED_DATA
from tests.conftest import Once
from tests.study.factories import make_study

WORDS = {
    "link": ("the link", "Prolific"),
    "answers": ("answers", "own words"),
    "code": ("a number and a code",),
    "consent": ("that you agree",),
    "way": ("each page",),
    "completion": ("completion code",),
    "secrets": ("random key",),
    "play": ("every choice", "when it was made"),
    "game": ("how the game was set up",),
    "team": ("your teammates", "language model", "company"),
    "talk": ("happens in it",),
    "staff": ("researchers did",),
    "browser": ("cookie", "not sent yet"),
    "address": ("network address",),
    "log": ("went wrong",),
    "left": ("one person left", "receipt"),
    "mark": ("a marker", "backup"),
    "paid": ("after the end", "paid", "twice"),
}
"""Words that must all occur in a consent text that mentions what is stored, by line of the register."""
ALWAYS = [name for name, line in STORED_DATA.items() if not line.setting]


@pytest.fixture(scope="module")
def shipped(once: Once) -> int:
    """The demo as it ships; its pk."""
    with once():
        return study_from_file(DEMO_FILE).pk


@pytest.fixture
def demo(shipped: int) -> Study:
    return Study.objects.get(pk=shipped)


@pytest.mark.parametrize("name", [*ALWAYS, *STORED_BESIDE])
def test_it_names_all_that_is_stored(name: str) -> None:
    said = " ".join(demo_part_texts()["consent"].split()).lower()
    words = WORDS[name]
    assert words
    lacking = [word for word in words if word.lower() not in said]
    assert not lacking, f"the consent in study/data/demo.toml does not name {name}: {lacking}"


def test_the_page_to_leave_tells_of_every_line_that_it_is_erased() -> None:
    told = {line for one in ERASED_DATA for line in one.lines}
    assert told == STORED_DATA.keys() - {"completion"}  # which stays for who has earned it


@pytest.mark.django_db
def test_the_demo_can_be_read_whole_in_each_language_of_the_program(demo: Study) -> None:
    design = blueprint_of(demo)
    assert language_codes(design.study["languages"]) == list(dict(settings.LANGUAGES))
    assert missing_translations(design) == {
        code: [] for code in language_codes(design.study["languages"])[1:]
    }
    own = texts_to_translate(design)
    for language, texts in design.study["texts"].items():
        assert texts.keys() == own.keys(), language
        same = [path for path, text in texts.items() if text.strip() == own[path].strip()]
        halves = [path for path, text in texts.items() if text.count("**") != own[path].count("**")]
        assert same == halves == [], language


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["es", "zh-hans"])
def test_the_consent_names_the_page_that_says_all_in_the_words_of_its_language(
    demo: Study, language: str
) -> None:
    told = blueprint_of(demo).study["texts"][language]["parts.consent.text"]
    with translation.override(language):
        assert translation.gettext("What is stored about you") in told


@pytest.mark.django_db
def test_alone_nobody_is_asked_about_others_and_the_question_that_is_answered_is_not_there(
    demo: Study,
) -> None:
    design = blueprint_of(demo)
    alone = [item.key for item in design.items_after("alone")]
    assert alone == ["enjoyment", "productivity"]
    assert len(design.items_after("random")) == 7
    assert not [one for one in readiness_problems(demo) if "asks who is a person" in one.words]
    assert not demo.scores_above_surveys and demo.remind_teams


@pytest.mark.django_db
def test_a_researcher_is_told_that_the_consent_answers_the_question() -> None:
    study = make_study()
    options = ["All were people", "All were programs"]
    SurveyItem.objects.create(
        study=study, key="who", place="final", kind="single", measure="Who", text="Who?", options=options
    )
    assert not [one for one in readiness_problems(study) if "asks who is a person" in one.words]
    study.parts.filter(kind="consent").update(text="Your teammates are computer-controlled.")
    (told,) = [one for one in readiness_problems(study) if "asks who is a person" in one.words]
    assert not told.hinders and "“consent” mentions programs before" in told.words
