"""Researchers see the flow of a study, and add, move, copy and delete their own pages in it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import OwnPage, Study, SurveyItem
from study.design.page_and_item_order import pages_before_rounds
from study.design.readiness_checks import readiness_problems
from study.design.study_errors import DesignError
from study.editor.describe_design import study_pairs
from study.editor.design_services import study_copy
from study.editor.flow_picture import flow_steps
from study.editor.own_page_form import OwnPageForm
from study.editor.own_page_services import (
    own_page_copy,
    own_page_delete,
    own_page_move,
    own_page_put,
    own_page_save,
)
from tests.study.factories import make_study
from tests.study.media_samples import png

FLOW = "/staff/small/design/flow/"


def places_of(study: Study) -> list[tuple[str, str]]:
    return list(study.own_pages.values_list("key", "before"))


def test_a_page_is_added_with_a_rule_and_the_flow_shows_it(admin_client: Client, admin_user: Any) -> None:
    study = make_study(conditions=2)
    asked = {"place": "about", "kind": "single", "options": ["yes", "no"]}
    SurveyItem.objects.create(study=study, key="plays", measure="Plays", text="?", **asked)
    study.parts.create(kind="about", enabled=True)
    assert "Add a page" in admin_client.get(FLOW).content.decode()
    sent = {"title": "Rest", "text": "Relax.", "before": "round-2", "key": "rest", "match": "all"}
    wrong = sent | {"text": "{answer:nothing}", "what_0": "answer:plays", "value_0": "yes", "before": "about"}
    refused = admin_client.post(f"{FLOW}new/", wrong | {"compares_0": "is"})
    assert refused.status_code == 422 and "known before this page" in refused.content.decode()
    rule = {"what_0": "answer:plays", "compares_0": "is", "value_0": "yes"}
    assert admin_client.post(f"{FLOW}new/", sent | rule).status_code == 302
    assert places_of(study) == [("rest", "round-2")]
    saved, html = admin_client.get(FLOW).content.decode().split('id="flow-title"')
    assert "Rest: saved." in saved and '">Next: ' in saved
    assert "Only if Answer: Plays is yes" in html
    assert html.index("Round 1") < html.index("Rest") < html.index("Round 2")
    page = OwnPage.objects.get()
    assert 'value="yes"' in admin_client.get(f"{FLOW}{page.pk}/").content.decode()
    copy = study_copy(study, owner=admin_user)
    assert places_of(copy) == [("rest", "round-2")]


def test_a_page_moves_past_its_neighbours_and_to_the_next_place(admin_client: Client) -> None:
    study = make_study(conditions=2)
    for number, key in enumerate("ab"):
        OwnPage.objects.create(study=study, key=key, before="rounds", title=key, position=number)
    page = OwnPage.objects.get(key="a")

    def press(act: str, **more: str) -> list[tuple[str, str]]:
        admin_client.post(f"{FLOW}{page.pk}/{act}/", more)
        return places_of(study)

    assert press("down") == [("b", "rounds"), ("a", "rounds")]
    assert press("down") == [("b", "rounds"), ("a", "round-2")]
    assert press("up") == [("b", "rounds"), ("a", "rounds")]
    assert press("copy")[-1] == ("a2", "rounds")
    assert len(press("delete")) == 3, "not without the box"
    assert press("delete", sure="on") == [("b", "rounds"), ("a2", "rounds")]


def test_questions_come_along_with_their_page(admin_client: Client, admin_user: Any) -> None:
    study = make_study(conditions=2)
    sent = {"title": "Mood", "before": "round-2", "key": "mood", "match": "all", "_question": ""}
    new = admin_client.post(f"{FLOW}new/", sent).headers["Location"]
    assert new == "/staff/small/design/items/new/?place=own-mood"
    page = study.own_pages.get()
    html = admin_client.get(new).content.decode()
    assert '<option value="own-mood" selected>on the page “Mood”</option>' in html
    sent = {"place": "own-mood", "kind": "text", "measure": "Feels", "text": "How?", "enabled": "on"}
    sent |= {"points": "5"}
    assert admin_client.post(new, sent | {"place": "own-none"}).status_code == 422
    assert admin_client.post(new, sent).status_code == 302
    assert "1 question" in admin_client.get(FLOW).content.decode()
    assert "Feels" in admin_client.get(f"{FLOW}{page.pk}/").content.decode()
    library = "/staff/small/design/items/shipped/"
    assert "on the page “Mood”" in admin_client.get(library).content.decode()
    admin_client.post(library, {"instrument": "sus", "place": "own-mood"})
    added = study.items.filter(place="own-mood").exclude(key="feels")
    assert added.count() == 10
    added.delete()
    own_page_copy(page=page)
    copied = study.items.get(place="own-mood2")
    assert (copied.key, copied.measure, copied.text) == ("feels_copy", "Feels copy", "How?")
    page.key = "feeling"
    own_page_save(page=page)
    assert study.items.get(key="feels").place == "own-feeling"
    with pytest.raises(DesignError, match="asks 1 question"):
        own_page_delete(page=page)
    assert study_copy(study, owner=admin_user).items.get(key="feels").place == "own-feeling"
    OwnPage.objects.filter(pk=page.pk).delete()
    told = [one.words for one in readiness_problems(study) if one.hinders]
    assert any("“Feels”: its page is gone" in words for words in told)


def test_a_page_that_somebody_deleted_or_moved_meanwhile_does_no_harm(db: None) -> None:
    study = make_study(conditions=2)
    page, other = (
        OwnPage.objects.create(study=study, key=key, before="rounds", title=key, position=number)
        for number, key in enumerate("ab")
    )
    own_page_put(page=OwnPage.objects.get(pk=page.pk), before="round-2", number=0)
    own_page_move(page=page, by=-1)  # the row of a request that began before
    assert places_of(study) == [("b", "rounds"), ("a", "rounds")]
    OwnPage.objects.filter(pk=page.pk).delete()
    acts = (
        partial(own_page_move, by=1),
        partial(own_page_put, before="final", number=0),
        own_page_copy,
    )
    for act in acts:
        with pytest.raises(DesignError, match="deleted “a” meanwhile"):
            act(page=page)
    assert places_of(study) == [(other.key, "rounds")]


def test_a_comparison_with_a_deleted_question_stays_in_the_form(admin_client: Client) -> None:
    study = make_study(conditions=2)
    rules = [{"what": "answer:gone", "compares": "is", "value": "no"}]
    show_if = {"match": "all", "rules": rules}
    page = OwnPage.objects.create(study=study, key="a", before="rounds", title="a", show_if=show_if)
    form = OwnPageForm(instance=page)
    sent = {name: form[name].value() for name in form.fields}
    sent = {name: value for name, value in sent.items() if value}
    answer = admin_client.post(f"{FLOW}{page.pk}/", sent)
    assert answer.status_code == 422 and "“answer:gone” is not known" in answer.content.decode()
    page.refresh_from_db()
    assert page.show_if == show_if


def test_a_page_moves_in_the_order_in_which_participants_play_first(db: None) -> None:
    study = make_study(conditions=2)
    study.parts.create(kind="practice", enabled=True, settings={"plays_first": True})
    page = OwnPage.objects.create(study=study, key="a", before="practice", title="a")
    with pytest.raises(DesignError, match="a: it stands first already"):
        own_page_move(page=page, by=-1)
    moved = []
    for by in (1, 1, 1, 1, -1, -1, -1):
        own_page_move(page=page, by=by)
        page.refresh_from_db()
        moved.append(page.before)
    assert moved == ["about", "check", "rounds", "round-2", "rounds", "check", "about"]


@pytest.mark.parametrize(
    ("place", "up", "down"), [("guide", "check", "rounds"), ("round-9", "round-2", "final")]
)
def test_a_page_at_a_place_that_is_gone_moves_to_the_places_around_it(
    db: None, place: str, up: str, down: str
) -> None:
    study = make_study(conditions=2)
    study.parts.create(kind="practice", enabled=True, settings={"plays_first": True})
    for by, expected in ((-1, up), (1, down)):
        page = OwnPage.objects.create(study=study, key=f"a{by + 1}", before=place, title="a")
        own_page_move(page=page, by=by)
        page.refresh_from_db()
        assert page.before == expected


def test_a_dragged_page_comes_to_the_place_where_it_was_dropped(admin_client: Client) -> None:
    study = make_study(conditions=2)
    for number, key in enumerate("abc"):
        OwnPage.objects.create(study=study, key=key, before="rounds", title=key, position=number)
    page = OwnPage.objects.get(key="a")

    def drop(before: str, number: str) -> int:
        return admin_client.post(f"{FLOW}{page.pk}/place/", {"before": before, "number": number}).status_code

    assert drop("rounds", "2") == 302
    assert places_of(study) == [("b", "rounds"), ("c", "rounds"), ("a", "rounds")]
    assert drop("round-2", "0") == 302
    assert places_of(study)[-1] == ("a", "round-2")
    assert [drop("nowhere", "0"), drop("rounds", "-1")] == [400, 400]


@pytest.mark.django_db
def test_the_picture_shows_conditions_branches_and_who_leaves() -> None:
    study = make_study(conditions=2, items=3)
    rule = {"match": "all", "rules": [{"what": "condition", "compares": "is", "value": "c9"}]}
    OwnPage.objects.create(study=study, key="a", before="round-2", title="A", ends=True, show_if=rule)
    steps = {step.words: step for step in flow_steps(study, blueprint_of(study))}
    assert steps["Consent"].end and not steps["Guide"].end
    assert (len(steps["Round 1"].names), steps["Round 1"].then) == (2, "3 questions")
    own = steps["Own page"]
    assert own.rule and own.end and "nobody sees it" in own.problems[0].words


def test_a_page_is_saved_with_its_file_and_a_refused_page_keeps_it(admin_client: Client) -> None:
    study = make_study(conditions=2)
    sent = {"title": "Look", "text": "One.\r\n\r\nTwo.", "before": "rounds", "key": "look", "match": "all"}

    def with_file(name: str = "table.png", **more: str) -> Any:
        image = SimpleUploadedFile(name, png(), "image/png")
        return admin_client.post(f"{FLOW}new/", sent | {"upload-file": image, "upload-alt": "A table"} | more)

    assert with_file(title="").status_code == 422
    again = with_file("wrong.exe").content.decode()
    assert "The file was not stored" in again and "Two." in again and not study.own_pages.exists()
    assert study.media.get().name == "table.png", "the page was refused, the file is stored"
    unticked = admin_client.post(f"{FLOW}new/", sent | {"title": "", "upload-file-clear": "on"})
    assert unticked.status_code == 422
    saved = with_file("other.png", **{"upload-cursor": "4", "_another": "1"})
    assert saved.headers["Location"] == f"{FLOW}new/?before=rounds"
    assert study.own_pages.get().text == "One.\n\n![A table](media:other.png)\n\nTwo."


def test_a_part_gets_a_rule_and_only_answers_that_can_be_given(admin_client: Client) -> None:
    study = make_study(conditions=2)
    study.parts.create(kind="about", enabled=True)
    asked = {"place": "about", "text": "?"}
    SurveyItem.objects.create(study=study, key="plays", kind="single", options=["yes", "no"], **asked)
    SurveyItem.objects.create(study=study, key="age", kind="number", minimum=18, maximum=99, **asked)
    url = "/staff/small/design/parts/guide/"
    sent = {"enabled": "on", "match": "all", "what_0": "answer:plays", "compares_0": "is", "value_0": "maybe"}
    shown = admin_client.post(url, sent | {"_show_settings": "1", "what_1": "answer:age"}).content.decode()
    assert '<option value="no">no</option>' in shown and 'min="18" max="99"' in shown
    assert "maybe (cannot be answered)" in shown and "figure:" not in shown, "rounds come later"
    assert "“maybe” cannot be answered" in admin_client.post(url, sent).content.decode()
    late = admin_client.post(url, sent | {"what_0": "condition", "value_0": "c1"})
    assert late.status_code == 422 and "not known before this page" in late.content.decode()
    assert admin_client.post(url, sent | {"value_0": "no"}).status_code == 302
    assert "Only if Answer: " in admin_client.get(FLOW).content.decode()
    consent = admin_client.get("/staff/small/design/parts/consent/").content.decode()
    assert "Everybody must agree" in consent and "what_0" not in consent


def test_the_survey_gets_a_rule_which_the_flow_previews_copies_and_documents_keep(
    admin_client: Client, admin_user: Any
) -> None:
    study = make_study(conditions=2, items=1)
    address = "/staff/small/design/survey-rule/"
    rule = {"match": "all", "what_0": "condition", "compares_0": "is", "value_0": "c9"}
    refused = admin_client.post(address, rule)
    assert refused.status_code == 422 and "c9 (cannot be answered)" in refused.content.decode()
    assert "answer:i0" not in refused.content.decode(), "the first survey knows no earlier one"
    reloaded = admin_client.post(address, rule | {"value_0": "", "_show_settings": "1"})
    assert 'value="c1"' in reloaded.content.decode(), "the conditions can be chosen, and nothing is stored"
    assert "survey_show_if" not in blueprint_of(study).to_json()["study"]
    assert admin_client.post(address, rule | {"value_0": "c1"}).status_code == 302
    assert "1 question, only if Condition of the last round is c1" in admin_client.get(FLOW).content.decode()
    study.refresh_from_db()
    told = [one.value for one in study_pairs(blueprint_of(study))]
    assert "Condition of the last round is c1" in told, "with readable names"
    copy = study_copy(study, owner=admin_user)
    assert copy.survey_show_if == study.survey_show_if
    assert Blueprint.from_json(blueprint_of(copy).to_json()) == blueprint_of(copy)
    sent = {"page": "survey", "condition": "c0", "language": "en"}
    shown = admin_client.post("/staff/small/design/previews/", sent, follow=True).content.decode()
    assert 'data-page="survey"' in shown, "a preview shows the page to researchers of any condition"


def test_parts_are_moved_within_limits_and_old_studies_keep_their_order(admin_client: Client) -> None:
    study = make_study(conditions=2)
    for kind in ("about", "practice", "check"):
        study.parts.create(kind=kind, enabled=True, text="Read.")
    old = blueprint_of(study)
    assert "part_order" not in old.to_json()["study"]

    def drop(kind: str, before: str) -> tuple[str, ...]:
        admin_client.post(f"{FLOW}parts/{kind}/", {"before": before})
        return pages_before_rounds(blueprint_of(Study.objects.get()))

    assert drop("about", "rounds") == ("consent", "guide", "practice", "check", "about")
    assert drop("practice", "guide") == ("consent", "practice", "guide", "check", "about")
    assert drop("check", "guide")[1] == "practice", "a check comes after what it asks about"
    assert drop("consent", "rounds")[0] == drop("about", "consent")[0] == "consent"
    html = admin_client.get(FLOW).content.decode()
    assert "Always first" in html and 'data-moves="practice guide check"' in html
    design = blueprint_of(Study.objects.get())
    assert design.beyond(15) and Blueprint.from_json(design.to_json()) == design
    assert pages_before_rounds(design.in_format(15)) == pages_before_rounds(old)
    study.parts.filter(kind="practice").update(settings={"plays_first": True})
    assert drop("practice", "check") == ("consent", "practice", "check", "about")
