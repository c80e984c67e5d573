"""Participants go through pages of the researchers: before, between and after rounds, or past them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from study.design.blueprint import blueprint_of
from study.design.models import OwnPage, Study, StudyPart, SurveyItem
from study.design.own_page_checks import part_rule_problems
from study.exports.export_table import ExportSelection
from study.exports.tables.page_times_and_outages_tables import page_time_rows
from study.exports.tables.participants_table import COLUMNS, unused_columns
from study.exports.tables.participants_table import rows as participant_rows
from study.participants.end_and_erase_participation import completion_of, participant_withdraw
from study.participants.models import Participant
from study.participants.next_page import current_page
from study.participation.page_progress import answers_submit
from tests.study.exports.rows import csv_rows
from tests.study.factories import enter, make_study, play_out, play_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """A study with a question about the person and two rounds."""
    made = make_study(conditions=2, items=1)
    StudyPart.objects.create(study=made, kind="about", enabled=True, text="About you.")
    StudyPart.objects.create(study=made, kind="guide", enabled=False)
    asked = {"kind": "single", "options": ["yes", "no"]}
    SurveyItem.objects.create(study=made, key="plays", measure="Plays", text="Plays?", place="about", **asked)
    return made


def add(study: Study, key: str, before: str, *rules: str, **fields: Any) -> None:
    """Add a page that is shown if the answer to `plays` is each of these values."""
    told = [{"what": "answer:plays", "compares": "is", "value": value} for value in rules]
    rule = {"match": "all", "rules": told} if told else {}
    position = study.own_pages.count()
    made = OwnPage(study=study, key=key, before=before, title=key, position=position, show_if=rule, **fields)
    made.full_clean()
    made.save()


def page_of(person: Participant) -> str:
    return current_page(Participant.objects.get(pk=person.pk)).page


def go_on(client: Client, person: Participant) -> str:
    """Open the page, press its button, and return what was shown."""
    html: str = client.get(person.get_absolute_url()).content.decode()
    client.post(person.get_absolute_url(), {"page": page_of(person)})
    return html


def test_pages_come_between_parts_and_rounds_with_ones_own_words(study: Study, client: Client) -> None:
    add(study, "first", "about", text="Hello **there**.")
    add(study, "only_no", "rounds", "no")
    add(study, "only_yes", "rounds", "yes", text="You said {answer:plays}.")
    add(study, "break", "round-2", text="{team} made {figure:completed}.")
    add(study, "last", "end")
    person = enter(study)
    assert page_of(person) == "own-first"
    html = go_on(client, person)
    assert "<strong>there</strong>" in html and 'data-page="own"' in html
    assert answers_submit(participant_id=person.pk, page="about", values={"plays": "yes"})
    assert page_of(person) == "own-only_yes", "the page for other answers is left out"
    assert "You said yes." in go_on(client, person)
    assert page_of(person) == "play"
    play_round(person)
    assert page_of(person) == "own-break"
    label = person.rounds.order_by("position")[0].condition.label
    assert f"{label} made 0." in go_on(client, person)
    play_round(person)
    assert page_of(person) == "own-last"
    go_on(client, person)
    person.refresh_from_db()
    assert person.status == "complete"
    rows = [row for group in page_time_rows(study, ExportSelection()) for row in group.rows]
    loads = {row[0]: row[6] for row in rows if row[0].startswith("own-")}
    assert loads == {"own-first": 1, "own-only_no": 0, "own-only_yes": 1, "own-break": 1, "own-last": 1}


def test_a_page_can_end_the_study_for_some_answers(study: Study, client: Client) -> None:
    add(study, "sorry", "rounds", "no", ends=True, text="You said {answer:plays}. We look for others.")
    person, other = enter(study), enter(study, "two")
    for one, answer in ((person, "no"), (other, "yes")):
        assert answers_submit(participant_id=one.pk, page="about", values={"plays": answer})
    assert page_of(other) == "play"
    person.refresh_from_db()
    assert (person.status, person.end_reason, page_of(person)) == ("screened_out", "page sorry", "end")
    html = client.get(person.get_absolute_url()).content.decode()
    assert 'data-page="screen-out"' in html and "<h1>sorry</h1>" in html
    assert "You said no. We look for others." in html and "with other answers" not in html


def test_nobody_enters_again_after_leaving_at_the_page_that_ended_the_study(study: Study) -> None:
    add(study, "sorry", "rounds", "no", ends=True)
    person = enter(study)
    Participant.objects.filter(pk=person.pk).update(label="ann")
    assert answers_submit(participant_id=person.pk, page="about", values={"plays": "no"})
    participant_withdraw(participant_id=person.pk)
    assert completion_of(study.pk, "ann")


def test_a_page_is_a_quota_by_what_others_answered_and_how_many_saw_it(study: Study) -> None:
    full = [
        {"what": "answer:plays", "compares": "is", "value": "no"},
        {"what": "same:plays", "compares": "at_least", "value": "1"},
        {"what": "count:shown", "compares": "at_most", "value": "0"},
    ]
    rule = {"match": "all", "rules": full}
    OwnPage.objects.create(study=study, key="full", before="rounds", title="Full", ends=True, show_if=rule)

    def answers(entry: str, value: str) -> Participant:
        person = enter(study, entry)
        assert answers_submit(participant_id=person.pk, page="about", values={"plays": value})
        person.refresh_from_db()
        return person

    first = answers("a", "no")
    assert first.status == "active", "nobody finished with this answer before"
    Participant.objects.filter(pk=first.pk).update(status="complete")
    assert answers("b", "yes").status == "active"
    assert answers("c", "no").end_reason == "page full"
    assert answers("d", "no").status == "active", "the page was shown once already"


def test_a_part_with_a_rule_is_left_out_for_others_and_the_data_say_so(study: Study) -> None:
    rules = [{"what": "answer:plays", "compares": "is", "value": "no"}]
    part = StudyPart(study=study, kind="practice", settings={"show_if": {"match": "all", "rules": rules}})
    part.full_clean()
    part.save()
    pages = []
    for answer in ("no", "yes"):
        person = enter(study, answer)
        assert answers_submit(participant_id=person.pk, page="about", values={"plays": answer})
        person.refresh_from_db()
        pages.append((page_of(person), person.practice is None))
    assert pages == [("practice", False), ("play", True)]
    at = [column.name for column in COLUMNS].index("left_out_by_rules")
    (group,) = participant_rows(study, ExportSelection(), [])
    assert [row[at] for row in group.rows] == [None, "practice"]
    assert "left_out_by_rules" not in unused_columns(study)


def test_questions_on_a_page_are_asked_checked_stored_exported_and_lead_a_later_rule(
    study: Study, client: Client
) -> None:
    add(study, "mood", "round-2", text="Take a **breath**.")
    add(study, "glad", "round-2", text="You said {answer:mood}.")
    add(study, "sad", "end")
    for key, value in (("glad", "5"), ("sad", "1")):
        rules = [{"what": "answer:mood", "compares": "is", "value": value}]
        OwnPage.objects.filter(key=key).update(show_if={"match": "all", "rules": rules})
    asked: dict[str, Any] = {"study": study, "place": "own-mood"}
    SurveyItem.objects.create(key="mood", measure="Mood", text="How do you feel?", scale="Mood", **asked)
    SurveyItem.objects.create(key="why", measure="Why", text="Why?", kind="text", required=False, **asked)
    SurveyItem.objects.create(
        study=study, place="own-sad", key="left", measure="Left", text="Left?", kind="text"
    )
    person = enter(study)
    assert answers_submit(participant_id=person.pk, page="about", values={"plays": "yes"})
    play_round(person)
    address = person.get_absolute_url()
    html = client.get(address).content.decode()
    assert (
        'data-page="own-asked"' in html and "<strong>breath</strong>" in html and "How do you feel?" in html
    )
    sent = {"page": "own-mood", "position": "0", "item_why": "It rains."}
    refused = client.post(address, sent)
    assert refused.status_code == 422 and "It rains." in refused.content.decode()
    assert client.post(address, sent | {"item_mood": "5"}).status_code == 302
    given = person.answers.filter(item__place="own-mood").order_by("item__key")
    assert [(one.item.key, one.value, one.round) for one in given] == [
        ("mood", 5, None),
        ("why", "It rains.", None),
    ]
    assert "You said 5." in go_on(client, person)
    play_round(person)
    assert page_of(person) == "end", "the rule of the last page leaves its question out"
    (row,) = csv_rows(study, "participants")
    assert (row["own-mood.mood"], row["own-mood.why"], row["own-sad.left"]) == ("5", "It rains.", "")
    assert row["own-mood.mood_score"] == "5.0"
    states = {row["item"]: (row["place"], row["became"]) for row in csv_rows(study, "asked")}
    assert states["mood"] == ("own-mood", "answered")
    assert states["left"] == ("own-sad", "not_asked")
    assert [one["item"] for one in csv_rows(study, "answers") if one["place"] == "own-mood"] == [
        "mood",
        "why",
    ]


def test_the_survey_is_left_out_after_rounds_that_its_rule_does_not_name(
    study: Study, client: Client
) -> None:
    rules = [{"what": "condition", "compares": "is", "value": "c1"}]
    study.survey_show_if = {"match": "all", "rules": rules}
    study.full_clean()
    study.save()
    assert not [*part_rule_problems(blueprint_of(study))]
    person = enter(study)
    assert answers_submit(participant_id=person.pk, page="about", values={"plays": "yes"})
    played = [one.condition.key for one in person.rounds.order_by("position")]
    for key in played:
        episode = person.rounds.filter(answered_at=None).order_by("position")[0].episode
        assert episode
        play_out(episode)
        for _ in range(2):
            html = client.get(person.get_absolute_url(), follow=True).content.decode()
            assert ('data-page="survey"' in html) is (key == "c1")
        if key == "c1":
            position = played.index(key) + 1
            answers_submit(participant_id=person.pk, page="survey", values={"i0": 3}, position=position)
    person.refresh_from_db()
    assert person.status == "complete"
    left = played.index("c0") + 1
    (row,) = csv_rows(study, "participants")
    assert row["left_out_by_rules"] == f"survey-{left}"
    states = {row["condition"]: row["became"] for row in csv_rows(study, "asked") if row["item"] == "i0"}
    assert states == {"c0": "not_asked", "c1": "answered"}
