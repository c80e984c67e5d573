"""Forms for conditions and questions: typed settings, what is refused, and what stays as it was answered."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from kitchen.contract.agent import Agent
from kitchen.contract.declared_settings import Setting
from kitchen.registry import agent_registry as coplayers
from study.design.models import Condition, Study, SurveyItem
from study.editor.condition_and_item_forms import SHOW_BUTTON
from study.editor.design_forms import SettingsForm
from study.editor.design_services import study_copy, study_deletion_problem
from study.participants.end_and_erase_participation import participant_withdraw
from study.participation.page_progress import finish_page
from tests.nightly import thinned
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db


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

    async def decide(self, situation: Any) -> Any:
        """Not asked here."""
        raise NotImplementedError


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more co-player in the registry."""
    monkeypatch.setitem(coplayers.AGENTS, "eager", f"{__name__}:Eager")


def at(study: Study, name: str, *args: Any) -> str:
    """The address of a design page."""
    return reverse(f"study:staff-design-{name}", args=[study.slug, *args])


def change(row: Condition | SurveyItem) -> str:
    """The address at which a condition or an item is edited."""
    return at(row.study, "item" if isinstance(row, SurveyItem) else "condition", row.pk)


def save(client: Client, url: str, **changes: Any) -> Any:
    """Send the form as it is shown, with these changes. None takes a field away."""
    return send(client, url, client.get(url).context["form"], **changes)


def send(client: Client, url: str, form: Any, **changes: Any) -> Any:
    """Send this form with these changes."""
    sent = {field.html_name: field.value() for field in form if not field.field.disabled} | changes
    return client.post(
        url, {name: value for name, value in sent.items() if value is not None and value is not False}
    )


def add_condition(client: Client, study: Study, **values: Any) -> Any:
    """Fill in the form for a new condition."""
    names = {"key": "two", "name": "Two", "label": "Team A"}
    return save(client, at(study, "condition-new"), **{**names, **values})


def said(response: Any) -> str:
    """All messages that were set."""
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def errors(response: Any) -> dict[str, Any]:
    """Errors by field."""
    assert response.status_code == 422
    found: dict[str, Any] = response.context["form"].errors
    return found


def test_a_goal_is_written_line_by_line_with_the_metrics_of_the_world(admin_client: Client) -> None:
    study = make_study()
    row = study.conditions.all()[0]
    saved = save(admin_client, change(row), goal="completed = 3\nsuccess_rate >= 0.5\n", ends_at_goal="on")
    row.refresh_from_db()
    assert saved.status_code == 302
    assert (row.goal, row.ends_at_goal) == ({"completed": 3, "success_rate": 0.5}, True)
    form = admin_client.get(change(row)).context["form"]
    assert form["goal"].value() == "completed = 3\nsuccess_rate = 0.5"
    assert "completed (" in form["goal"].help_text
    for wrong, why in (
        ("applause = 1", "&#x27;applause&#x27; is not one of"),
        ("completed = 0", "Completed needs a number above 0"),
        ("completed", "write each metric once"),
        ("completed = 1\ncompleted = 2", "write each metric once"),
    ):
        assert why in str(errors(send(admin_client, change(row), form, goal=wrong))["goal"])
    assert "Set a goal" in str(errors(send(admin_client, change(row), form, goal=""))["ends_at_goal"])


def test_star_targets_are_a_metric_with_three_numbers(admin_client: Client) -> None:
    study = make_study()
    row = study.conditions.all()[0]
    assert save(admin_client, change(row), star_targets="completed = 3 5 7").status_code == 302
    row.refresh_from_db()
    assert row.star_targets == {"completed": [3, 5, 7]}
    form = admin_client.get(change(row)).context["form"]
    assert form["star_targets"].value() == "completed = 3 5 7"
    for wrong, why in (
        ("completed", "write a metric and its numbers"),
        ("completed = 3 5", "Write three numbers"),
        ("completed = 3 5 x", "Write three numbers"),
        ("completed = 7 5 3", "needs three different numbers above 0, ascending"),
        ("success_rate = 1 2 3", "Name one of completed, failed"),
    ):
        assert why in str(errors(send(admin_client, change(row), form, star_targets=wrong))["star_targets"])


def test_a_study_made_from_nothing_can_be_entered_and_played(admin_client: Client) -> None:
    admin_client.post("/staff/new/", {"title": "Cooking", "slug": "cooking"})
    study = Study.objects.get(slug="cooking")
    admin_client.post(
        at(study, "part", "consent"), {"enabled": "on", "text": "I agree.", "statements": "Yes."}
    )
    item = {"key": "trust", "measure": "Trust", "text": "I trust them.", "points": 7}
    assert save(admin_client, at(study, "item-new"), **item).status_code == 302
    settings = {"world__cuisine__level": "level_1", "world__cuisine__max_steps": "7"}
    add_condition(admin_client, study, key="alone", name="Alone", **settings)
    add_condition(admin_client, study, name="Three", label="B", coplayer="random", teammates=2, **settings)
    admin_client.post(at(study, "state"), {"state": "open"})

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
    sent["_shown"] = "coplayer__eager"

    add_condition(admin_client, study, coplayer="eager", teammates=1, **sent)

    condition = study.conditions.get()
    wanted = {"patience": 4, "heat": 1.0, "talks": False, "prompt": "Go.", "model": "big"}
    assert condition.coplayer_settings == wanted
    assert isinstance(condition.coplayer_settings["heat"], float)
    assert condition.settings["alpha"] == 2.0


def test_another_choice_is_shown_with_all_that_was_typed_and_nothing_saved(
    admin_client: Client, eager: None
) -> None:
    condition = make_study(conditions=1).conditions.get()
    typed = {"name": "Halfway", "world__cuisine__alpha": "no number", "coplayer": "eager", "teammates": ""}

    page = save(admin_client, change(condition), **{SHOW_BUTTON: "1"}, **typed)

    assert {kind.name for kind, _, chosen in page.context["groups"] if chosen} == {"cuisine", "eager"}
    form = page.context["form"]
    assert not form.errors
    assert (form["name"].value(), form["world__cuisine__alpha"].value()) == ("Halfway", "no number")
    assert form["coplayer__eager__patience"].value() == "3"
    text = page.content.decode()
    for words in ("no number", "Patience", "From 1 to 9.", "Default: 3.", "Big one", "Eager (plays every"):
        assert words in text
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


POLICY = "coplayer__written_policy__tree"
WRONG = [
    ({"world__cuisine__alpha": "0"}, "world__cuisine__alpha", "0.0 is below 0.01."),
    ({"world__cuisine__alpha": "nan"}, "world__cuisine__alpha", "Enter a number."),
    ({"world__cuisine__max_steps": "2.5"}, "world__cuisine__max_steps", "Enter a whole number."),
    ({"world__cuisine__max_steps": "5000"}, "world__cuisine__max_steps", "5000 is above 1000."),
    ({"world__cuisine__max_steps": ""}, "world__cuisine__max_steps", "Fill this in; the default is 60."),
    ({"world__cuisine__level": "level_99"}, "world__cuisine__level", "Select a valid choice"),
    ({"coplayer": "random", "teammates": "8"}, "teammates", "8 do not fit: cuisine takes 0 to 7"),
    ({"coplayer": "random", "teammates": "0"}, "teammates", "Choose a co-player and at least one teammate"),
    ({"coplayer": "none", "teammates": "1"}, "teammates", "Choose a co-player and at least one teammate"),
    ({"coplayer": "nonsense"}, "coplayer", "Select a valid choice"),
    ({"key": "two words"}, "key", "Begin with a letter or a digit"),
    ({"key": "c1"}, "key", "Another condition of this study has this key."),
    ({"label": ""}, "label", "This field is required."),
    ({"name": "Condition 1"}, "name", "Another condition of this study has this name."),
    ({"name": "No\u00a0break"}, "name", "It has characters that do not print"),
    ({"key": "_alone"}, "key", "Begin with a letter or a digit"),
    (
        {"world": "overcooked", "coplayer": "written_policy", "teammates": "1", POLICY: "put\r\nfry"},
        POLICY,
        "Line 2: 'fry' is no act",
    ),
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


def test_a_condition_of_a_study_that_has_begun_keeps_its_key(admin_client: Client) -> None:
    study = make_study(conditions=1)
    condition = study.conditions.get()
    enter(study)
    save(admin_client, change(condition), key="other", name="New name")
    condition.refresh_from_db()
    assert (condition.key, condition.name) == ("c0", "New name")


def test_a_condition_has_its_step_timer_and_thinking_time(admin_client: Client) -> None:
    condition = make_study(conditions=1).conditions.get()
    for sent, stored in ((("20", "1.5"), (20, 1.5)), (("", ""), (None, None))):
        save(admin_client, change(condition), step_seconds=sent[0], thinking_seconds=sent[1])
        condition.refresh_from_db()
        assert (condition.step_seconds, condition.thinking_seconds) == stored


def test_a_study_with_programs_says_what_to_erase_first() -> None:
    study = make_study()
    enter(study, synthetic=True)
    assert "First erase the 1 synthetic participant" in study_deletion_problem(study)


def test_link_and_seed_are_fixed_once_somebody_entered_even_if_they_withdrew(admin_client: Client) -> None:
    study = make_study()
    save(admin_client, at(study, "settings"), slug="renamed", seed="5")
    study.refresh_from_db()
    assert (study.slug, study.seed) == ("renamed", 5)
    participant_withdraw(participant_id=enter(study).pk)

    save(admin_client, at(study, "settings"), slug="again", seed="6", title="New title")

    study.refresh_from_db()
    assert (study.slug, study.seed, study.title) == ("renamed", 5, "New title")


@pytest.mark.servers
def test_saving_a_study_keeps_those_who_entered_meanwhile(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study()

    def clean(form: SettingsForm) -> dict[str, Any]:
        enter(study, "while the page is being saved")
        return form.cleaned_data

    monkeypatch.setattr(SettingsForm, "clean", clean)
    save(admin_client, at(study, "settings"), title="New title")
    enter(study, "after it")
    study.refresh_from_db()
    assert (study.title, study.entered) == ("New title", 2)


def test_an_answered_item_stays_as_it_was_answered(admin_client: Client) -> None:
    study = make_study(conditions=1, items=1)
    complete(study)
    before = SurveyItem.objects.values(*SurveyItem.FROZEN).get()
    wanted: dict[str, Any] = dict.fromkeys(SurveyItem.FROZEN, "other") | {"points": "9"}
    assert save(admin_client, change(study.items.get()), **wanted).status_code == 302
    assert SurveyItem.objects.values(*SurveyItem.FROZEN).get() == before

    gone = admin_client.post(at(study, "item-act", study.items.get().pk, "delete"), {"sure": "on"})
    assert "There are answers to “Measure 0”. Switch it off instead." in said(gone)
    assert study.items.exists()


WRONG_ITEMS = [
    {"key": ("two words", "Begin with a letter or a digit"), "points": ("12", "A whole number from 3 to 11")},
    {"key": ("success_rate", "Choose another key"), "points": ("2", "A whole number from 3 to 11")},
    {
        "key": ("_trust", "Begin with a letter or a digit"),
        "measure": ("Dishes completed", "Choose another name"),
    },
    {"measure": ("Measure 1", "Another item of this study has this measure.")},
]


@pytest.mark.parametrize("wrong", WRONG_ITEMS)
def test_a_wrong_item_is_told_at_its_field(admin_client: Client, wrong: dict[str, tuple[str, str]]) -> None:
    item = make_study(items=2).items.get(key="i0")
    sent = {field: value for field, (value, _) in wrong.items()}
    found = errors(save(admin_client, change(item), **sent))
    assert set(found) == set(wrong)
    assert all(words in found[field][0] for field, (_, words) in wrong.items())


def test_a_new_item_comes_last(admin_client: Client) -> None:
    study = make_study(items=2)
    save(admin_client, at(study, "item-new"), key="new", measure="New", text="Something new.")
    assert [(item.key, item.position) for item in study.items.all()] == [("i0", 0), ("i1", 1), ("new", 2)]


def test_a_copied_condition_is_the_same_under_another_key(admin_client: Client) -> None:
    original = make_study(conditions=1).conditions.get()
    for _ in range(2):
        admin_client.post(at(original.study, "condition-act", original.pk, "copy"))
    copies = Condition.objects.exclude(pk=original.pk)
    assert [copy.key for copy in copies] == ["c0_copy", "c0_copy2"]
    assert [copy.name for copy in copies] == ["Condition 0 copy", "Condition 0 copy2"]
    assert [copy.position for copy in copies] == [1, 2]
    assert all(copy.settings == original.settings for copy in copies)
    save(admin_client, change(copies[0]), name="Two planners")
    save(admin_client, change(copies[1]), name="Two planners again", key="typed")
    save(admin_client, change(original), name="Alone")
    keys = [row.key for row in original.study.conditions.all()]
    assert keys == ["c0", "two_planners", "typed"], "only a copy without a key of its own gets one"


def test_a_copied_study_has_its_conditions_and_survey_and_nobody_in_it(admin_user: Any) -> None:
    study = make_study()
    complete(study)

    copy = study_copy(study, owner=admin_user)

    assert (copy.slug, copy.status, copy.entered, copy.participants.count()) == ("small-copy", "closed", 0, 0)
    assert copy.seed != study.seed
    for kind in (Condition, SurveyItem):
        assert [row.key for row in kind.objects.filter(study=copy)] == [
            row.key for row in kind.objects.filter(study=study)
        ]
