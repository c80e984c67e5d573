"""Setting up studies in the admin: words, survey, conditions."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from kitchen.contract.agent import Agent
from kitchen.contract.world import Setting
from kitchen.registry import agent_registry as coplayers
from study.design.models import Condition, Study, SurveyItem
from study.editor.condition_and_item_forms import StudyForm
from study.participants.end_participation import participant_withdraw
from study.participation.page_progress import finish_page
from study.pilot.previews import study_preview
from tests.nightly import nightly, thinned
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db

STUDIES = reverse("admin:study_study_changelist")
NEW_STUDY = reverse("admin:study_study_add")
NEW_CONDITION = reverse("admin:study_condition_add")


class Eager(Agent):
    """A co-player of these tests, with a setting of every kind."""

    kind = "eager"
    settings: ClassVar = (
        Setting("patience", "int", "Patience", 3, minimum=1, maximum=9),
        Setting("heat", "float", "Heat", 0.5, minimum=0, maximum=2),
        Setting("talks", "bool", "Talks", True),
        Setting("prompt", "text", "Prompt", "Cook.\nServe."),
        Setting("model", "choice", "Model", "small", choices=(("small", "Small one"), ("big", "Big one"))),
    )

    def decide(self, situation: Any) -> Any:
        """Not asked here."""
        raise NotImplementedError


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more co-player in the registry."""
    monkeypatch.setitem(coplayers.AGENTS, "eager", f"{__name__}:Eager")


def change(row: Any) -> str:
    """The address at which a study or condition is edited."""
    return reverse(f"admin:study_{row._meta.model_name}_change", args=[row.pk])


def filled(response: Any) -> dict[str, Any]:
    """What a browser would send for the form on the page, as it stands."""
    forms = [response.context["adminform"].form]
    for inline in response.context["inline_admin_formsets"]:
        forms += [inline.formset.management_form, *inline.formset.forms]
    sent = {field.html_name: field.value() for form in forms for field in form if not field.field.disabled}
    return {name: value for name, value in sent.items() if value is not None and value is not False}


def save(client: Client, address: str, **values: Any) -> Any:
    """Open the page, change these fields, save; the answer. None takes a field away."""
    sent = {**filled(client.get(address)), **values}
    return client.post(address, {name: value for name, value in sent.items() if value is not None})


def add_condition(client: Client, study: Study, **values: Any) -> Any:
    """Fill in the form for a new condition."""
    names = {"key": "two", "name": "Two", "label": "Team A"}
    return save(client, f"{NEW_CONDITION}?study={study.pk}", **{**names, **values})


def said(response: Any) -> str:
    """All messages that were set."""
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def errors(response: Any) -> dict[str, Any]:
    """Errors by field."""
    assert response.status_code == 200
    found: dict[str, Any] = response.context["adminform"].form.errors
    return found


def test_a_study_made_from_nothing_can_be_entered_and_played(admin_client: Client) -> None:
    item = {"key": "trust", "measure": "Trust", "text": "I trust them.", "points": 7}
    answer = save(
        admin_client,
        NEW_STUDY,
        title="Cooking",
        slug="cooking",
        **{"parts-TOTAL_FORMS": "1", "parts-0-kind": "consent", "parts-0-text": "I agree."},
        **{f"items-0-{name}": value for name, value in item.items()},
    )
    study = Study.objects.get(slug="cooking")
    assert answer.url == change(study)
    settings = {"world__cuisine__level": "level_1", "world__cuisine__max_steps": "7"}
    add_condition(admin_client, study, key="alone", **settings)
    answer = add_condition(admin_client, study, name="Three", coplayer="random", teammates=2, **settings)
    assert answer.url == change(study)
    study.refresh_from_db()
    assert study.status == "closed"
    save(admin_client, change(study), status="open")

    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")

    played = person.rounds.get(position=1)
    assert played.episode is not None
    assert (played.episode.settings["level"], played.episode.settings["max_steps"]) == ("level_1", 7)
    assert played.episode.seats.count() == played.condition.teammates + 1
    assert [row.points for row in study.items.all()] == [7]
    assert [row.position for row in study.conditions.all()] == [1, 2]


def test_a_condition_stores_settings_in_their_own_types(admin_client: Client, eager: None) -> None:
    study = make_study(conditions=0)
    chosen = {"patience": "4", "heat": "1", "talks": None, "prompt": "Go.", "model": "big"}
    sent = {f"coplayer__eager__{name}": value for name, value in chosen.items()}

    add_condition(admin_client, study, coplayer="eager", teammates=1, **sent)

    condition = study.conditions.get()
    wanted = {"patience": 4, "heat": 1.0, "talks": False, "prompt": "Go.", "model": "big"}
    assert condition.coplayer_settings == wanted
    assert isinstance(condition.coplayer_settings["heat"], float)
    assert condition.settings["alpha"] == 2.0


def test_settings_of_a_new_coplayer_appear_by_themselves(admin_client: Client, eager: None) -> None:
    page = admin_client.get(NEW_CONDITION, {"coplayer": "eager"})

    text = page.content.decode()
    for words in (
        "Settings of Eager",
        "Patience",
        "From 1 to 9.",
        "Default: 3.",
        "Big one",
        "Eager (plays every",
    ):
        assert words in text
    assert shown(page) >= {"Settings of Cuisine", "Settings of Eager"}


def shown(response: Any) -> set[str]:
    """Headings of the settings that are in sight."""
    fieldsets = [
        f for f in response.context["adminform"].fieldsets if "settings-of" in f[1].get("classes", ())
    ]
    return {name for name, options in fieldsets if "not-chosen" not in options["classes"]}


def test_another_choice_is_shown_with_all_that_was_typed_and_nothing_saved(
    admin_client: Client, eager: None
) -> None:
    condition = make_study(conditions=1).conditions.get()
    typed = {"name": "Halfway", "world__cuisine__alpha": "no number", "coplayer": "eager", "teammates": ""}

    page = save(admin_client, change(condition), _show_settings="1", **typed)

    assert shown(page) == {"Settings of Cuisine", "Settings of Eager"}
    form = page.context["adminform"].form
    assert not form.errors
    assert (form["name"].value(), form["world__cuisine__alpha"].value()) == ("Halfway", "no number")
    assert form["coplayer__eager__patience"].value() == "3"
    assert "no number" in page.content.decode()
    condition.refresh_from_db()
    assert (condition.name, condition.coplayer) == ("Condition 0", "none")


def test_settings_of_kinds_that_are_not_chosen_are_neither_checked_nor_stored(
    admin_client: Client, eager: None
) -> None:
    condition = make_study(conditions=1).conditions.get()

    answer = save(admin_client, change(condition), coplayer__eager__patience="99")

    assert answer.status_code == 302
    condition.refresh_from_db()
    assert condition.coplayer_settings == {}


WRONG = [
    ({"world__cuisine__alpha": "0"}, "world__cuisine__alpha", "0.0 is below 0.01."),
    ({"world__cuisine__alpha": "nan"}, "world__cuisine__alpha", "Enter a number."),
    ({"world__cuisine__max_steps": "2.5"}, "world__cuisine__max_steps", "Enter a whole number."),
    ({"world__cuisine__max_steps": "5000"}, "world__cuisine__max_steps", "5000 is above 1000."),
    ({"world__cuisine__max_steps": ""}, "world__cuisine__max_steps", "Fill this in; the default is 60."),
    ({"world__cuisine__level": "level_99"}, "world__cuisine__level", "Select a valid choice"),
    ({"coplayer": "random", "teammates": "8"}, "teammates", "8 do not fit, cuisine takes 0 to 7"),
    ({"coplayer": "random", "teammates": "0"}, "teammates", "Choose a co-player and at least one teammate"),
    ({"coplayer": "none", "teammates": "1"}, "teammates", "Choose a co-player and at least one teammate"),
    ({"coplayer": "nonsense"}, "coplayer", "Select a valid choice"),
    ({"key": "two words"}, "key", "Enter a valid"),
    ({"key": "c1"}, "key", "Another condition of this study has this key."),
    ({"label": ""}, "label", "This field is required."),
    ({"name": "Condition 1"}, "name", "Another condition of this study has this name."),
    ({"name": "No\u00a0break"}, "name", "It has characters that do not print"),
    ({"key": "_alone"}, "key", "Begin with a letter or a digit"),
]


@pytest.mark.parametrize(("values", "field", "words"), thinned(WRONG, 4))
def test_a_wrong_value_is_told_at_its_field_and_changes_nothing(
    admin_client: Client, values: dict[str, str], field: str, words: str
) -> None:
    condition = make_study().conditions.get(key="c0")

    found = errors(save(admin_client, change(condition), **{"name": "Changed", **values}))

    assert list(found) == [field]
    assert words in found[field][0]
    fresh = Condition.objects.get(pk=condition.pk)
    assert (fresh.name, fresh.settings, fresh.teammates) == (condition.name, condition.settings, 0)


def test_a_coplayer_that_cannot_play_the_world_is_told_at_the_coplayer(
    admin_client: Client, eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Eager, "worlds", ("elsewhere",))
    found = errors(add_condition(admin_client, make_study(conditions=0), coplayer="eager", teammates=1))
    assert found["coplayer"] == ["Eager cannot play cuisine."]


def test_a_stored_choice_that_is_gone_stays_in_sight_and_is_not_saved_again(admin_client: Client) -> None:
    condition = make_study(conditions=1).conditions.get()
    Condition.objects.update(settings={**condition.settings, "level": "level_old"})

    answer = save(admin_client, change(condition))

    assert "level_old (no longer there)" in answer.content.decode()
    assert "world__cuisine__level" in errors(answer)


def test_a_dish_that_nobody_can_cook_is_told_after_saving(admin_client: Client) -> None:
    study = make_study(conditions=0)
    answer = add_condition(admin_client, study, world__cuisine__level="level_12")
    assert study.conditions.exists()
    assert "level_12: no tool for frenchFries" in said(answer)


def test_a_condition_of_a_study_that_has_begun_warns_and_keeps_study_and_key(admin_client: Client) -> None:
    study = make_study(conditions=1)
    condition = study.conditions.get()
    assert "has begun" not in admin_client.get(change(condition)).content.decode()
    enter(study)

    page = admin_client.get(change(condition)).content.decode()
    save(admin_client, change(condition), key="other", name="New name")

    assert "1 participant has begun; changes apply to those who enter from now on" in page
    condition.refresh_from_db()
    assert (condition.key, condition.name) == ("c0", "New name")


def test_a_condition_has_its_step_timer_and_thinking_time_and_a_way_to_the_preview(
    admin_client: Client,
) -> None:
    condition = make_study(conditions=1).conditions.get()
    page = admin_client.get(change(condition)).content.decode()
    assert f'href="{reverse("study:staff-design", args=["small"])}">Preview it in the console' in page
    save(admin_client, change(condition), step_seconds="20", thinking_seconds="1.5")
    condition.refresh_from_db()
    assert (condition.step_seconds, condition.thinking_seconds) == (20, 1.5)
    save(admin_client, change(condition), step_seconds="", thinking_seconds="")
    condition.refresh_from_db()
    assert (condition.step_seconds, condition.thinking_seconds) == (None, None)


def test_a_condition_in_somebodys_plan_is_not_deleted_and_the_page_says_why(admin_client: Client) -> None:
    study = make_study(conditions=1)
    enter(study)
    address = reverse("admin:study_condition_delete", args=[study.conditions.get().pk])

    for page in (admin_client.get(address), admin_client.post(address, {"post": "yes"})):
        assert "Condition 0: 1 participant has Condition 0 in the plan" in page.content.decode()
    assert study.conditions.exists()


@pytest.mark.parametrize("model", ["study", "condition"])
def test_deleting_many_at_once_is_refused_in_words_too(admin_client: Client, model: str) -> None:
    study = make_study()
    enter(study)
    row = study if model == "study" else study.conditions.first()
    assert row is not None
    sent = {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"}

    page = admin_client.post(reverse(f"admin:study_{model}_changelist"), sent)

    assert "Nothing was deleted" in page.content.decode()
    assert type(row).objects.filter(pk=row.pk).exists()


def test_a_study_with_participants_is_not_deleted_and_one_without_is(admin_client: Client) -> None:
    study, empty = make_study(), make_study("empty")
    enter(study)
    for row in (study, empty):
        page = admin_client.post(reverse("admin:study_study_delete", args=[row.pk]), {"post": "yes"})
        assert page.status_code == (200 if row == study else 302)
    assert list(Study.objects.all()) == [study]


@pytest.mark.servers
def test_a_study_with_previews_alone_is_deleted_with_them_and_one_with_programs_says_what_to_do(
    admin_client: Client,
) -> None:
    study, tried = make_study(), make_study("tried")
    enter(study, synthetic=True)
    study_preview(study_id=tried.pk)
    for row in (study, tried):
        address = reverse("admin:study_study_delete", args=[row.pk])
        shown = admin_client.get(address).content.decode()
        admin_client.post(address, {"post": "yes"})
        assert ("First erase the 1 synthetic participant" in shown) == (row == study)
    assert list(Study.objects.all()) == [study]


@pytest.mark.servers
def test_many_studies_are_deleted_by_those_who_own_them_only(client: Client) -> None:
    study = make_study()
    user = User.objects.create_user("collaborator", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="study"))
    study.memberships.create(user=user, role="collaborator")
    client.force_login(user)
    sent = {"action": "delete_selected", "_selected_action": study.pk, "post": "yes"}
    assert client.post(reverse("admin:study_study_changelist"), sent).status_code == 403
    assert Study.objects.exists()


def test_what_hinders_a_study_keeps_it_closed_in_the_admin_too(admin_client: Client) -> None:
    study = make_study(status="closed")
    study.parts.filter(kind="consent").update(text="")
    for words in ("", "I agree."):
        study.parts.filter(kind="consent").update(text=words)
        save(admin_client, change(study), status="open", **{"parts-0-text": words})
        study.refresh_from_db()
        assert study.status == ("open" if words else "closed")


def test_filters_name_no_study_of_others(client: Client) -> None:
    mine, theirs = make_study("mine"), make_study("theirs")
    Study.objects.filter(pk=theirs.pk).update(title="A secret of others")
    enter(mine)
    user = User.objects.create_user("collaborator", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="study"))
    mine.memberships.create(user=user, role="collaborator")
    client.force_login(user)
    for model in ("condition", "participant"):
        page = client.get(reverse(f"admin:study_{model}_changelist")).content.decode()
        assert "A secret of others" not in page


def test_a_study_that_cannot_be_so_is_told_at_its_field(admin_client: Client) -> None:
    address = change(make_study())
    sent = filled(admin_client.get(address))
    for changes in (
        {"slug": "tokens"},
        {"slug": "sample-size"},
        {"idle_warning_minutes": "60", "idle_minutes": "60"},
    ):
        assert next(iter(changes)) in errors(admin_client.post(address, {**sent, **changes}))


def test_link_and_seed_are_fixed_once_somebody_entered_even_if_they_withdrew(admin_client: Client) -> None:
    study = make_study()
    save(admin_client, change(study), slug="renamed", seed="5")
    study.refresh_from_db()
    assert (study.slug, study.seed) == ("renamed", 5)
    participant_withdraw(participant_id=enter(study).pk)

    save(admin_client, change(study), slug="again", seed="6", title="New title")

    study.refresh_from_db()
    assert (study.slug, study.seed, study.title) == ("renamed", 5, "New title")


def test_an_answered_item_stays_as_it_was_answered(admin_client: Client) -> None:
    study = make_study(conditions=1, items=1)
    complete(study)
    before = SurveyItem.objects.values(*SurveyItem.FROZEN).get()
    wanted: dict[str, Any] = dict.fromkeys(SurveyItem.FROZEN, "other") | {"points": "9", "position": "7"}

    assert (
        save(admin_client, change(study), **{f"items-0-{k}": v for k, v in wanted.items()}).status_code == 302
    )
    assert SurveyItem.objects.values(*SurveyItem.FROZEN).get() == before
    assert study.items.get().position == 7

    page = save(admin_client, change(study), **{"items-0-DELETE": "on"})
    assert "“Measure 0” stays: 1 answers to it are stored." in page.content.decode()
    assert study.items.exists()


def test_an_item_without_answers_can_be_deleted(admin_client: Client) -> None:
    study = make_study()
    save(admin_client, change(study), **{"items-0-DELETE": "on"})
    assert [item.key for item in study.items.all()] == ["i1"]


def test_a_wrong_item_is_told_at_its_field(admin_client: Client) -> None:
    address = change(make_study(items=1))
    sent = filled(admin_client.get(address))
    for wrong in (
        {"key": ("two words", "Enter a valid"), "points": ("12", "A whole number from 3 to 11")},
        {"key": ("success_rate", "Choose another key"), "points": ("2", "A whole number from 3 to 11")},
        {
            "key": ("_trust", "Begin with a letter or a digit"),
            "measure": ("Dishes completed", "Choose another name"),
        },
    ):
        values = {f"items-0-{field}": value for field, (value, _) in wrong.items()}
        page = admin_client.post(address, {**sent, **values})
        (found, *_) = page.context["inline_admin_formsets"][1].formset.errors
        assert set(found) == set(wrong)
        assert all(words in found[field][0] for field, (_, words) in wrong.items())


@pytest.mark.parametrize("change_first", [{"items-0-measure": "New"}, *nightly({})])
def test_two_items_of_one_measure_are_told_at_the_second(
    admin_client: Client, change_first: dict[str, str]
) -> None:
    study = make_study(items=1)
    item = {"key": "new", "measure": change_first.get("items-0-measure", "Measure 0"), "text": "Another."}
    sent = {**change_first, **{f"items-1-{name}": value for name, value in item.items()}}
    page = save(admin_client, change(study), **sent)
    formset = page.context["inline_admin_formsets"][1].formset
    assert formset.forms[1].errors["measure"] == ["Another item of this study has this measure."]
    assert study.items.count() == 1


@pytest.mark.servers
def test_saving_a_study_keeps_those_who_entered_meanwhile(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study()

    def clean(form: StudyForm) -> dict[str, Any]:
        enter(study, "while the page is being saved")
        return form.cleaned_data

    monkeypatch.setattr(StudyForm, "clean", clean)
    save(admin_client, change(study), title="New title")
    enter(study, "after it")
    study.refresh_from_db()
    assert (study.title, study.entered) == ("New title", 2)


def test_items_without_a_position_come_last_in_the_order_written(admin_client: Client) -> None:
    study = make_study(items=2)
    item = {"key": "new", "measure": "New", "text": "Something new."}
    save(admin_client, change(study), **{f"items-2-{name}": value for name, value in item.items()})
    assert [(item.key, item.position) for item in study.items.all()] == [("i0", 0), ("i1", 1), ("new", 2)]


def act(client: Client, row: Any, action: str) -> Any:
    """Run an action of a list on one row."""
    address = reverse(f"admin:study_{row._meta.model_name}_changelist")
    return client.post(address, {"action": action, "_selected_action": row.pk})


def test_a_duplicated_condition_is_the_same_under_another_key(admin_client: Client) -> None:
    original = make_study(conditions=1).conditions.get()
    assert act(admin_client, original, "duplicate").status_code == 302
    act(admin_client, original, "duplicate")
    copies = Condition.objects.exclude(pk=original.pk)
    assert [copy.key for copy in copies] == ["c0_copy", "c0_copy2"]
    assert [copy.name for copy in copies] == ["Condition 0 copy", "Condition 0 copy2"]
    assert [copy.position for copy in copies] == [1, 2]
    assert all(copy.settings == original.settings for copy in copies)


def test_a_duplicated_study_has_its_conditions_and_survey_and_nobody_in_it(admin_client: Client) -> None:
    study = make_study()
    complete(study)

    act(admin_client, study, "duplicate")

    copy = Study.objects.get(slug="small-copy")
    assert (copy.status, copy.entered, copy.participants.count()) == ("closed", 0, 0)
    assert copy.seed != study.seed
    for kind in (Condition, SurveyItem):
        assert [row.key for row in kind.objects.filter(study=copy)] == [
            row.key for row in kind.objects.filter(study=study)
        ]


def test_the_study_page_leads_to_link_conditions_and_researchers_pages(admin_client: Client) -> None:
    study = make_study()
    text = admin_client.get(change(study)).content.decode()
    condition = study.conditions.all()[0]
    wanted = [
        f"http://localhost:8000/s/{study.slug}/",
        *(reverse(f"study:staff-{page}", args=[study.slug]) for page in ("study", "data", "analysis")),
        change(condition),
        f"{NEW_CONDITION}?study={study.pk}",
    ]
    assert [address for address in wanted if address not in text] == []


def test_empty_pages_say_what_to_do_first(admin_client: Client) -> None:
    assert "No studies yet. Add a study" in admin_client.get(STUDIES).content.decode()
    study = make_study(conditions=0)
    text = admin_client.get(change(study)).content.decode()
    assert "No conditions yet" in text
    nobody = admin_client.get(reverse("admin:study_participant_changelist")).content.decode()
    assert "Nobody has entered yet" in nobody


@pytest.mark.servers
def test_lists_ask_the_database_as_often_for_many_rows_as_for_one(
    admin_client: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(8):
        study = make_study(f"study{number}")
        enter(study, f"e{number}")
    for name in ("study", "condition", "participant"):
        with django_assert_max_num_queries(9):
            admin_client.get(reverse(f"admin:study_{name}_changelist"))


def test_who_may_only_look_sees_settings_in_words_and_changes_nothing(client: Client) -> None:
    condition = make_study(conditions=1).conditions.get()
    user = User.objects.create_user("looker", password="a long password", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_condition"))
    client.force_login(user)
    assert client.get(change(condition)).status_code == 302  # of a study that is none of theirs
    condition.study.memberships.create(user=user, role="viewer")

    page = client.get(change(condition))

    assert "Level: level_0" in page.content.decode()
    assert client.post(change(condition), {"name": "Mine"}).status_code == 403
    assert client.get(NEW_CONDITION).status_code == 403


def test_nobody_but_staff_gets_in(client: Client) -> None:
    client.force_login(User.objects.create_user("visitor", password="a long password"))
    assert client.get(STUDIES).status_code == 302
