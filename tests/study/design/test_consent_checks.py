"""What a consent has to say where people write or speak to others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from study.design.blueprint import blueprint_of
from study.design.consent_checks import ALL_PROGRAMS, NO_MODEL, NOBODY_ELSE, OTHER_PEOPLE
from study.design.demo_study_files import OVERCOOKED, TWO_WORLDS, demo_part_texts
from study.design.models import Study
from study.design.readiness_checks import readiness_problems
from study.design.study_files import study_from_file
from study.participation.page_progress import finish_page
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db

TALK: dict[str, Any] = {"kind": "central", "settings": {"talk": True}}
SPOKEN: dict[str, Any] = {"kind": "central", "settings": {"talk": True, "spoken": True}}


def told(study: Study, organisation: dict[str, Any], consent: str = "") -> list[str]:
    study.conditions.update(coplayer="planner", teammates=2, organisation=organisation)
    study.parts.filter(kind="consent").update(text=consent or "We record what you do.", enabled=True)
    return [
        one.words
        for one in readiness_problems(study)
        if "the consent does not" in one.words and not one.hinders
    ]


def test_who_may_write_is_to_be_told_so() -> None:
    study = make_study()
    assert told(study, {}) == told(study, {"kind": "central"}) == []
    (said,) = told(study, TALK)
    assert said.startswith("People may write to others in ")
    for consent in (
        "The messages you write are stored.",
        "Lo que escribes a tu equipo se guarda.",
        "你写给队友的话",
    ):
        assert told(study, TALK, consent) == []


def test_other_people_are_known_in_the_languages_of_the_program() -> None:
    for consent in (
        "Other people see what you do.",
        "Otras personas ven lo que haces.",
        "Juegas con otros participantes.",
        "其他参与者会看到你的操作。",
    ):
        assert OTHER_PEOPLE.search(consent)
    assert not OTHER_PEOPLE.search("Juegas con un programa. 你和程序一起玩。")


def test_the_words_that_a_study_does_not_show_come_into_its_episodes() -> None:
    study = make_study(conditions=1, blocked_words="idiot\n\n what the hell ")
    study.conditions.update(coplayer="planner", teammates=2, organisation=TALK)
    person = enter(study, "somebody")
    finish_page(participant_id=person.pk, page="guide")
    episode = person.rounds.get().episode
    assert episode and episode.organisation and episode.organisation["blocked"] == ["idiot", "what the hell"]


def test_where_speech_goes_is_to_be_told() -> None:
    study = make_study()
    assert len(told(study, SPOKEN)) == 2
    messages = "Your messages are stored. You may speak them."
    (said,) = told(study, SPOKEN, messages)
    assert "where their speech goes" in said
    assert told(study, SPOKEN, f"{messages} The maker of your browser may hear that.") == []


def test_the_words_of_the_demo_are_told_by_the_names_of_what_they_do_not_fit() -> None:
    """Two people play together, may write and speak: nothing of it is in the demo's words."""
    study, words = make_study(), demo_part_texts()
    study.parts.filter(kind="debriefing").delete()
    study.parts.create(kind="debriefing", text=words["debriefing"], enabled=True)
    both = {**SPOKEN, "people": [0, 1]}
    study.conditions.update(
        coplayer="dispatcher", coplayer_settings={"model": "stand-in"}, teammates=2, organisation=both
    )
    study.parts.filter(kind="consent").update(text=words["consent"], enabled=True)
    told = [one for one in readiness_problems(study) if "onsent" in one.words or "nobody else" in one.words]
    names = [row.name for row in study.conditions.all()]
    for words_of in (
        "other participants see what somebody does and writes",
        "People may write to others in ",
        "People may speak in ",
        "Consent says that nobody else plays",
        "Consent says that all others are programs",
        "Debriefing says that nobody else plays",
    ):
        (one,) = [one for one in told if words_of in one.words]
        assert all(name in one.words for name in names) and not one.hinders
    assert {one.args for one in told} == {("consent",), ("debriefing",)}


def test_that_a_language_model_reads_what_people_write_is_to_be_told() -> None:
    study = make_study()
    assert told(study, TALK, "Messages are stored.") == []
    study.conditions.update(coplayer="dispatcher", coplayer_settings={"model": "stand-in"})
    assert [one.words for one in readiness_problems(study) if one.words.startswith("A language model reads")]
    study.parts.filter(kind="consent").update(text="Messages are stored; an AI reads them.")
    assert not [
        one.words for one in readiness_problems(study) if one.words.startswith("A language model reads")
    ]


def test_that_nobody_else_plays_is_known_in_the_languages_of_the_program() -> None:
    for consent in ("No other person plays with you.", "Ninguna otra persona juega.", "没有其他人参加。"):
        assert NOBODY_ELSE.search(consent)
    assert not NOBODY_ELSE.search("Other people see what you do.")


def test_that_all_others_are_programs_is_known_in_the_languages_of_the_program() -> None:
    for consent in (
        "All of your teammates are computer-controlled.",
        "All the other players are programs.",
        "Todo tu equipo está controlado por computadora.",
        "你的所有队友都由计算机控制。",
    ):
        assert ALL_PROGRAMS.search(consent)
    assert not ALL_PROGRAMS.search("All your teammates are people. Some of the robots are programs.")


@pytest.mark.parametrize("file", [OVERCOOKED, TWO_WORLDS], ids=lambda file: file.stem)
def test_who_names_a_model_in_a_ready_study_is_told_of_the_words_that_deny_it(file: Path) -> None:
    """The stand-in is none: as it ships, consent and debriefing say so, in each of its languages."""
    study = study_from_file(file)

    def told() -> list[tuple[Any, ...]]:
        return [
            (one.args, one.hinders)
            for one in readiness_problems(study)
            if "no language model is asked" in one.words
        ]

    assert told() == []
    texts = blueprint_of(study).study["texts"].values()
    told_there = [each[f"parts.{kind}.text"] for each in texts for kind in ("consent", "debriefing")]
    assert len(told_there) == 4 and all(map(NO_MODEL.search, told_there))
    study.conditions.filter(coplayer="proagent").update(
        coplayer_settings={"model": "anthropic:claude-haiku-4-5"}
    )
    assert told() == [(("consent",), False), (("debriefing",), False)]
