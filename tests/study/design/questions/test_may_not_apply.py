"""Items that can be answered by “does not apply”: on the page, in the data, in the analysis."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from kitchen.infra.append_only import erasure_allowed
from study.analysis.analysis_results import analyse_present_data
from study.analysis.analysis_sample import exclusion_reasons
from study.design.models import Condition, Study, StudyPart, SurveyItem
from study.design.questions.item_fields import DOES_NOT_APPLY
from study.design.questions.item_kinds import item_problems
from study.exports.export_registry import get_table
from study.exports.export_table import ExportTable
from study.participants.end_and_erase_participation import erase_names, texts_of
from study.participants.models import Answer, Participant
from study.participation.item_forms import ItemsForm, TeamReminder
from study.participation.page_progress import answers_submit, finish_page
from study.pilot.bots.http_browser import read_page
from tests.study.exports.rows import rows_of
from tests.study.factories import complete, enter, make_study, play_out, play_round

pytestmark = pytest.mark.django_db

KINDS: dict[str, dict[str, Any]] = {
    "likert": {},
    "single": {"options": ["a", "b"]},
    "multiple": {"options": ["a", "b"]},
    "number": {},
    "marks": {"kind": "number", "minimum": 0, "maximum": 100, "step": 5, "low": "Low", "high": "High"},
    "text": {},
    "team": {"place": "final"},
}
GOOD: dict[str, Any] = {
    "likert": "2", "single": "a", "multiple": ["b"], "number": "3", "marks": "5", "text": "x",
    "team": "team-1",
}  # fmt: skip


def plan(name: str, **more: Any) -> Any:
    fields = {"kind": name, **KINDS[name], "may_not_apply": True, **more}
    return SurveyItem(key=name, measure=name, text="?", **fields).plan


def filled(name: str, sent: dict[str, Any], **more: Any) -> ItemsForm:
    return ItemsForm(sent, items=[plan(name, **more)], teams=[TeamReminder("c0", "Team A")])


def boxed(name: str) -> dict[str, Any]:
    radio = name not in {"multiple", "number", "text"}
    return {f"item_{name}": "does-not-apply"} if radio else {f"item_{name}.apart": "on"}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_can_be_answered_so_and_is_stored_as_its_own_value(name: str) -> None:
    form = filled(name, boxed(name))
    assert form.is_valid(), form.errors
    assert form.values() == {name: DOES_NOT_APPLY}
    assert filled(name, {f"item_{name}": GOOD[name]}).is_valid()
    assert not filled(name, {}).is_valid()
    assert filled(name, {}, required=False).is_valid()
    without = filled(name, boxed(name), may_not_apply=False)
    assert not without.is_valid() or not without.values()


@pytest.mark.parametrize("name", ["multiple", "number", "text"])
def test_both_at_once_are_refused(name: str) -> None:
    form = filled(name, boxed(name) | {f"item_{name}": GOOD[name]})
    assert "Either answer" in str(form.errors)


def test_what_has_a_right_answer_always_applies() -> None:
    item = SurveyItem(key="k", measure="k", text="?", correct=2, may_not_apply=True)
    assert "may_not_apply" in item_problems(item.plan)


@pytest.fixture
def study() -> Study:
    """Alone in c0, with a teammate in c1; i1 is asked with teammates only, i0 may not apply."""
    study = make_study(orders="fixed")
    Condition.objects.filter(key="c1").update(coplayer="random", teammates=1)
    SurveyItem.objects.filter(key="i0").update(may_not_apply=True)
    SurveyItem.objects.filter(key="i1").update(needs_teammates=True, required=False)
    return study


def person_who(study: Study, entry: str, first: Any, second: Any) -> Participant:
    """These are the answers to i0; i1 is left open."""
    person = enter(study, entry)
    finish_page(participant_id=person.pk, page="guide")
    for position, value in enumerate((first, second), start=1):
        one = person.rounds.select_related("episode").get(position=position)
        assert one.episode
        with erasure_allowed():
            one.episode.minds.all().delete()
        type(one.episode).objects.filter(pk=one.episode.pk).update(status="over")
        assert answers_submit(
            participant_id=person.pk, page="survey", position=position, values={"i0": value}
        )
    person.refresh_from_db()
    return person


def column(table: ExportTable, study: Study, name: str) -> list[Any]:
    names = [one.name for one in table.columns_of(study)]
    return [row[names.index(name)] for row in rows_of(table, study)]


def test_the_data_tell_apart_what_did_not_apply_was_not_asked_and_was_not_answered(study: Study) -> None:
    person_who(study, "one", DOES_NOT_APPLY, 4)
    answers, people, asked = (get_table(name) for name in ("answers", "participants", "asked"))
    assert column(answers, study, "answer_value") == [None, 4]
    assert column(answers, study, "does_not_apply") == [True, False]
    assert column(people, study, "c0.i0") == [None] and column(people, study, "c0.i0.does_not_apply") == [
        True
    ]
    assert column(people, study, "c1.i0") == [4] and column(people, study, "c1.i0.does_not_apply") == [False]
    assert "c1.i1.does_not_apply" not in [one.name for one in people.columns_of(study)]
    assert column(asked, study, "became") == ["does_not_apply", "not_asked", "answered", "not_answered"]
    enter(study, "two")
    assert column(asked, study, "became")[4:] == ["not_reached", "not_asked", "not_reached", "not_reached"]


def test_the_codebook_counts_it(study: Study) -> None:
    person_who(study, "one", DOES_NOT_APPLY, 4)
    said = {row[1]: row[4] for row in rows_of(get_table("codebook"), study) if row[0] == "participants.csv"}
    assert said["c0.i0.does_not_apply"].endswith("Answered so 1 time until now.")
    assert said["c1.i0.does_not_apply"].endswith("Answered so 0 times until now.")


def test_no_mean_and_no_test_has_it(study: Study) -> None:
    for number, value in enumerate((DOES_NOT_APPLY, 2, 4)):
        person_who(study, str(number), value, 3)
    table = next(
        one for one in analyse_present_data(study, "people").measures if one.measure.key == "i0"
    ).table
    assert (
        sorted(table.values("c0")) == [2, 4] and table.missing("c0") == 1 and table.values("c1") == (3, 3, 3)
    )
    assert not exclusion_reasons(study)


def test_names_that_are_erased_leave_it(study: Study) -> None:
    item = SurveyItem.objects.create(
        study=study, key="words", kind="text", measure="W", text="W?", may_not_apply=True
    )
    person = person_who(study, "one", 1, 2)
    for position, value in ((1, DOES_NOT_APPLY), (2, "Ada")):
        Answer.objects.create(
            participant=person, round=person.rounds.get(position=position), item=item, value=value
        )
    erase_names([person.pk])
    assert [one.value for one in Answer.objects.filter(item=item).order_by("round__position")] == [
        DOES_NOT_APPLY,
        "",
    ]
    assert not texts_of(Participant.objects.all()).exists()


def test_the_page_has_it_and_programs_pass_it_by(study: Study, client: Client) -> None:
    SurveyItem.objects.create(
        study=study, key="n", kind="number", measure="N", text="N?", may_not_apply=True, position=9
    )
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    play_out(person.rounds.get(position=1).episode)  # type: ignore[arg-type]
    html = client.get(person.get_absolute_url()).content.decode()
    assert html.count("Does not apply") == 2
    assert "How was it this time?" in html and "Team 0?" not in html and 'class="figures"' not in html
    (form,) = read_page(html, url="", status=200).forms
    field = form.fields["item_i0"]
    assert field.choices == ["1", "2", "3", "4", "5", "does-not-apply"]
    assert form.fields["item_n.apart"].kind == "checkbox"
    staff = {"page": "survey", "position": 1, "item_i0": "does-not-apply", "item_n.apart": "on"}
    assert client.post(person.get_absolute_url(), staff).status_code == 302
    assert {one.value == DOES_NOT_APPLY for one in person.answers.all()} == {True}


def last_questions(study: Study, client: Client) -> str:
    StudyPart.objects.create(study=study, kind="final", enabled=True)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    for _ in range(2):
        play_round(person)
    return " ".join(client.get(person.get_absolute_url()).content.decode().split())


def test_the_last_questions_remind_who_the_teams_were(client: Client) -> None:
    study = make_study(orders="fixed")
    SurveyItem.objects.create(study=study, key="best", kind="team", place="final", measure="B", text="Best?")
    page = last_questions(study, client)
    assert 'Team 0: <span class="quiet">game 1 of 2, you alone, 0 dishes served</span>' in page
    assert "Team 1: " in page and "game 2 of 2" in page and "Condition" not in page
    assert "The teams that you played with" not in page


def test_where_no_question_names_them_they_stand_above(client: Client) -> None:
    study = make_study()
    SurveyItem.objects.create(study=study, key="w", kind="text", place="final", measure="W", text="Which?")
    assert "The teams that you played with" in last_questions(study, client)


def test_a_study_of_before_goes_on_without_and_with_scores(client: Client) -> None:
    study = make_study(remind_teams=False, scores_above_surveys=True)
    SurveyItem.objects.create(study=study, key="best", kind="team", place="final", measure="B", text="Best?")
    person = enter(study, "scores")
    finish_page(participant_id=person.pk, page="guide")
    play_out(person.rounds.get(position=1).episode)  # type: ignore[arg-type]
    assert 'class="figures"' in client.get(person.get_absolute_url()).content.decode()
    assert "you alone" not in last_questions(study, Client())


def test_complete_people_of_a_study_without_it_have_no_new_columns() -> None:
    study = make_study()
    complete(study)
    names = [one.name for one in get_table("participants").columns_of(study)]
    assert not [name for name in names if name.endswith(".does_not_apply")]
