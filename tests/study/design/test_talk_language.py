"""The language in which co-players write to people, as a field of a condition."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from study.design.blueprint import FORMAT, LANGUAGE_IN_PROMPTS, Blueprint, blueprint_of
from study.design.condition_seats import planned_organisation
from study.design.models import Condition, Study
from study.design.readiness_checks import readiness_problems
from study.design.study_versions import differences
from study.editor.describe_design import condition_pairs
from study.editor.factor_forms import ValuesFactorForm
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.participants.models import Participant
from study.participation.enter_study import consent_given, participant_enter
from study.participation.round_planning import create_round_episode, with_readers_language
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db

TALK = {"kind": "pair"}
LABEL = "Language in which co-players write to people"


def talking(
    language: str = "", *, coplayer: str = "planner", languages: str = "en es zh-hans", slug: str = "small"
) -> Study:
    """A study whose second condition has a co-player who writes in this language."""
    study = make_study(slug, conditions=2, items=1)
    Study.objects.filter(pk=study.pk).update(languages=languages)
    study.conditions.filter(key="c1").update(
        coplayer=coplayer, coplayer_settings={}, teammates=1, organisation=TALK, talk_language=language
    )
    study.refresh_from_db()
    return study


def row_of(study: Study) -> Condition:
    return study.conditions.get(key="c1")


def test_a_document_has_the_language_only_if_a_condition_names_one() -> None:
    study = talking()
    before = blueprint_of(study)
    assert "talk_language" not in json.dumps(before.to_json())
    assert Blueprint.from_json(before.to_json()) == before
    study.conditions.filter(key="c1").update(talk_language="es")
    after = blueprint_of(study)
    assert [one.get("talk_language") for one in after.to_json()["conditions"]] == [None, "es"]
    assert Blueprint.from_json(after.to_json()) == after
    assert after.digest != before.digest and after.beyond(9)
    assert after.in_format(9).digest == before.in_format(9).digest
    (found,) = differences(before, after)
    assert (found.field, found.new) == ("talk_language", "es")
    assert (LABEL, "Español") in [pair[:2] for pair in condition_pairs(after.condition("c1"))]


def entered(study: Study, language: str) -> Participant:
    person = participant_enter(study_id=study.pk, entry=language, synthetic=False, language=language)
    consent_given(participant_id=person.pk)
    person.refresh_from_db()
    return person


def test_an_unknown_language_is_refused() -> None:
    row = row_of(talking())
    row.talk_language = "tlh"
    with pytest.raises(ValidationError, match="tlh is not one of en, es, zh-hans"):
        row.clean()


@pytest.mark.parametrize(("language", "reader", "stored"), [
    ("", "en", {}),
    ("", "es", {"readers_language": "es"}),
    ("zh-hans", "es", {"readers_language": "es", "talk_language": "zh-hans"}),
    ("en", "en", {"talk_language": "en"}),
])  # fmt: skip
def test_an_episode_stores_both_languages_if_members_may_write(
    language: str, reader: str, stored: dict[str, str]
) -> None:
    study = talking(language)
    person = entered(study, reader)
    found: dict[str, Any] = {}
    for one in person.rounds.select_related("condition"):
        one.episode = create_round_episode(one, person)
        one.save(update_fields=["episode"])
        found[one.condition.key] = one.episode.organisation
    assert {name: value for name, value in found["c1"].items() if "language" in name} == stored
    assert found["c0"] is None
    text = b"".join(csv_pieces(get_table("episodes"), study)).decode()
    rows = csv.DictReader(io.StringIO(text, newline=""))
    told = {row["condition"]: row["talk_language"] for row in rows}
    assert told == {"c0": "", "c1": language}


def test_designs_of_older_formats_tell_agents_no_readers_language() -> None:
    person = entered(talking(), "es")
    organisation = planned_organisation(row_of(person.study))
    assert with_readers_language(organisation, person, FORMAT) != organisation
    assert with_readers_language(organisation, person, LANGUAGE_IN_PROMPTS - 1) == organisation


def test_a_condition_in_which_nobody_writes_has_no_language() -> None:
    row = row_of(talking("es"))
    row.organisation = {"kind": "each"}
    planned = planned_organisation(row)
    assert planned and planned.is_silent and not planned.talk_language


def warnings(study: Study) -> list[str]:
    """The warnings about the second condition that name its language of talk."""
    told = [one for one in readiness_problems(study) if one.page == "condition" and not one.hinders]
    return [one.words for one in told if "Español" in one.words]


def test_a_language_that_the_study_does_not_offer_is_a_warning() -> None:
    assert not warnings(talking("es", coplayer="pairwise", slug="offered"))
    (words,) = warnings(talking("es", coplayer="pairwise", languages="en"))
    assert "co-players write in Español, but the study does not offer Español" in words


def form_of(client: Client, study: Study) -> Any:
    url = f"/staff/{study.slug}/design/conditions/{row_of(study).pk}/"
    return url, client.get(url).context["form"]


def test_the_form_offers_the_languages_of_the_study_where_members_may_write(admin_client: Client) -> None:
    study = talking("zh-hans", languages="en es")
    url, form = form_of(admin_client, study)
    field = form.fields["talk_language"]
    assert [value for value, _ in field.choices] == ["", "en", "es", "zh-hans"] and not field.disabled
    sent = {one.html_name: one.value() for one in form if not one.field.disabled} | {"talk_language": "es"}
    sent = {name: value for name, value in sent.items() if value is not None and value is not False}
    assert admin_client.post(url, sent).status_code == 302
    assert row_of(study).talk_language == "es"


@pytest.mark.parametrize("organisation", [{}, {"kind": "each"}, {"kind": "central"}])
def test_the_form_says_why_there_is_no_language_where_nobody_writes(
    admin_client: Client, organisation: dict[str, str]
) -> None:
    study = talking("es")
    study.conditions.filter(key="c1").update(organisation=organisation)
    _, form = form_of(admin_client, study)
    field = form.fields["talk_language"]
    assert field.disabled and field.help_text.startswith("Nobody writes messages in this condition.")


def test_the_language_of_talk_can_be_a_factor_also_with_the_language_of_the_reader() -> None:
    base = row_of(talking())
    data = {"name": "Language", "where": "within", "values": ["none", "es", "zh-hans"]}
    form = ValuesFactorForm(data, base=base, factors=(), path="talk_language")
    assert form.is_valid(), form.errors
    levels = form.cleaned_data["factor"].levels
    assert [one.sets["talk_language"] for one in levels] == ["", "es", "zh-hans"]
    assert [one.name for one in levels] == ["the reader's language", "Español", "简体中文"]
    assert len({one.key for one in levels}) == 3


def test_two_participants_of_different_languages_get_the_same_document() -> None:
    study = talking("es")
    assert entered(study, "es").version_id == entered(study, "en").version_id
