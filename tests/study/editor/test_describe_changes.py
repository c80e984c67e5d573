"""What is different from a preregistration, told in words; and what the page that freezes says before."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from study.design import preregistration
from study.design.blueprint import blueprint_of
from study.design.models import Outcome, Study, StudyPart, SurveyItem
from study.design.preregistration import freeze_study
from study.design.readiness_checks import readiness_problems
from study.editor.describe_changes import ChangeSide, design_changes, program_changes
from study.editor.describe_design import LabelledValue
from tests.study.factories import SETTINGS, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """One with every thing that can change."""
    found = make_study()
    StudyPart.objects.create(study=found, kind="check", settings={"attempts": 2, "on_failure": "end"})
    StudyPart.objects.create(study=found, kind="practice")
    Outcome.objects.create(study=found, kind="timed_out")
    return found


def test_each_change_is_told_with_the_words_of_the_forms(study: Study) -> None:
    before = blueprint_of(study)
    Study.objects.filter(pk=study.pk).update(idle_minutes=None, shuffle_items=True)
    one = study.conditions.filter(key="c0")
    one.update(settings=SETTINGS | {"level": "level_1", "alpha": 1.5}, thinking_seconds=2)
    study.parts.filter(kind="check").update(settings={"attempts": 2, "on_failure": "continue"})
    study.parts.filter(kind="practice").update(
        settings={"kitchen": {"settings": {"level": "level_0", "alpha": 3.0}}, "hints": False}
    )
    study.parts.filter(kind="consent").update(settings={"statements": ["Yes.", "I am 18."]})
    study.items.filter(key="i0").update(kind="number", required=False)
    study.outcomes.update(code="X")

    found = design_changes(before, blueprint_of(Study.objects.get(pk=study.pk)))

    consent = ChangeSide("Yes.; I am 18.", many=("Yes.", "I am 18."))
    expected = [
        ("Study", "Time out after minutes without action", "60", "never"),
        ("Study", "Items in random order", "no", "yes"),
        ("Condition “Condition 0”", "Difficulty (alpha)", "1", "1.5"),
        ("Condition “Condition 0”", "Thinking time, seconds", "as in the study", "2"),
        ("Check of understanding", "After the last failed attempt", "end the study for this participant",
         "continue; the data show it"),
        ("Practice episode", "Difficulty (alpha)", "2", "3"),
        ("Practice episode", "Hints step by step", "yes", "no"),
        ("Question “Measure 0”", "Kind", "scale with points", "number"),
        ("Question “Measure 0”", "Must be answered", "yes", "no"),
        ("End: timed out", "Fixed code", "no", "yes"),
    ]  # fmt: skip
    told = [(each.where, each.field, each.old.text, each.new.text) for each in found]
    for each in expected:
        assert each in told
    (level,) = (each for each in found if each.field == "Level" and each.where.startswith("Condition"))
    assert level.new.text.startswith("level_1: ")
    assert consent in [each.new for each in found]
    assert "{" not in str(told)


def test_another_order_is_told_by_names(study: Study) -> None:
    before = blueprint_of(study)
    study.conditions.filter(key="c0").update(position=9)
    study.items.filter(key="i0").update(position=9)
    found = [(one.field, one.new.text) for one in design_changes(before, blueprint_of(study))]
    assert found == [
        ("Order of conditions", "Condition 1 → Condition 0"),
        ("Order of items", "Measure 1 → Measure 0"),
    ]


def test_what_was_added_or_removed_whole_is_folded_pairs(study: Study) -> None:
    before = blueprint_of(study)
    study.conditions.filter(key="c1").delete()
    words = {"measure": "More", "text": "One more?", "kind": "single", "options": ["Yes", "No"]}
    SurveyItem.objects.create(study=study, key="more", **words)
    Outcome.objects.create(study=study, kind="complete")

    found = {one.where: one for one in design_changes(before, blueprint_of(study))}

    gone, more, end = (
        found[each] for each in ("Condition “Condition 1”", "Question “More”", "End: complete")
    )
    assert (gone.field, gone.new.text, gone.new.folded) == ("Removed", "nothing", False)
    assert LabelledValue("Participants read", "Team 1") in gone.old.pairs
    assert (more.field, more.new.folded) == ("Added", True)
    assert LabelledValue("Options", many=("Yes", "No")) in more.new.pairs
    assert end.new.pairs[0].value.startswith("Each complete participant gets their own code")


def test_a_co_player_that_was_exchanged_is_told_with_both_kinds_settings(study: Study) -> None:
    one = study.conditions.filter(key="c1")
    one.update(coplayer="planner", coplayer_settings={"tries": 5}, teammates=1)
    before = blueprint_of(study)
    one.update(coplayer="dispatcher", coplayer_settings={"fallback": "noop"})
    found = {
        (each.field, each.old.text, each.new.text) for each in design_changes(before, blueprint_of(study))
    }
    assert found == {
        ("Co-player", "Planner", "Dispatcher"),
        ("Plans tried at each step", "5", "not set"),
        ("When the model does not answer", "not set", "The agents wait"),
    }


def test_the_page_folds_what_is_long_and_prints_no_json(study: Study, admin_client: Client) -> None:
    freeze_study(study_id=study.pk, user=User.objects.create_superuser("ada"))
    study.parts.filter(kind="consent").update(text="A long text. " * 30)
    SurveyItem.objects.create(study=study, key="more", measure="More", text="One more?")
    page = admin_client.get(reverse("study:staff-preregistration", args=[study.slug])).content.decode()
    table = page.partition('<table class="changes">')[2].partition("</table>")[0]
    assert table.count("<details>") == 2
    assert "Question “More”" in table
    assert "{" not in table
    assert "&quot;" not in table


def test_orders_that_another_program_makes_are_told_by_names(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = freeze_study(study_id=study.pk, user=User.objects.create_superuser("ada")).bundle
    assert bundle
    other = {
        "scheme": "fixed",
        "meaning": "One.",
        "block": 1,
        "sequences": [{"id": 1, "order": ["c1", "c0"]}],
    }
    monkeypatch.setattr(preregistration, "orders_of", lambda design: other)
    (found,) = program_changes(bundle)
    assert (found.where, found.field) == ("Study", "Orders that follow from the scheme")
    assert found.new == ChangeSide(
        "One.", (LabelledValue("Rule", "One."), LabelledValue("Orders", many=("Condition 1 → Condition 0",)))
    )


def test_cautions_stand_above_the_button_that_freezes_with_their_links(
    study: Study, admin_client: Client
) -> None:
    study.items.all().delete()
    SurveyItem.objects.create(
        study=study, key="q", measure="Q", text="?", place="check", kind="text", correct="a"
    )
    study.parts.filter(kind="consent").update(enabled=False)
    cautions = [one for one in readiness_problems(study) if not one.hinders]
    assert len(cautions) >= 2
    there = reverse("study:staff-preregistration", args=[study.slug])

    page = admin_client.get(there).content.decode()
    before, button, _ = page.partition('<details class="ask">')
    assert button
    for one in cautions:
        link = reverse(f"study:staff-design-{one.page}", args=[study.slug, *one.args])
        assert f'<a href="{link}">{one.words}</a>' in before
    assert "Freeze the design as it is now</summary>" in page

    freeze = reverse("study:staff-preregistration-freeze", args=[study.slug])
    admin_client.post(freeze, {"sure": "on"})
    assert study.versions.exclude(frozen_at=None).count() == 1
    assert "To consider before you freeze" not in admin_client.get(there).content.decode()
