"""What a consent has to say where people write or speak to others."""

from __future__ import annotations

from typing import Any

import pytest

from study.design.consenting import OTHER_PEOPLE
from study.design.models import Study
from study.design.readiness import missing
from study.taking_part.going_on import page_done
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db

TALK: dict[str, Any] = {"kind": "central", "settings": {"talk": True}}
SPOKEN: dict[str, Any] = {"kind": "central", "settings": {"talk": True, "spoken": True}}


def told(study: Study, organisation: dict[str, Any], consent: str = "") -> list[str]:
    study.conditions.update(coplayer="planner", teammates=2, organisation=organisation)
    study.parts.filter(kind="consent").update(text=consent or "We record what you do.", enabled=True)
    return [one.words for one in missing(study) if "the consent does not" in one.words and not one.hinders]


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
    page_done(participant_id=person.pk, page="guide")
    episode = person.rounds.get().episode
    assert episode and episode.organisation and episode.organisation["blocked"] == ["idiot", "what the hell"]


def test_where_speech_goes_is_to_be_told() -> None:
    study = make_study()
    assert len(told(study, SPOKEN)) == 2
    messages = "Your messages are stored. You may speak them."
    (said,) = told(study, SPOKEN, messages)
    assert "where that goes" in said
    assert told(study, SPOKEN, f"{messages} The maker of your browser may hear that.") == []
