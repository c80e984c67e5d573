"""Studies as files."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import call_command

from kitchen.contract.data_files import DataError
from study.design.blueprint import blueprint_of
from study.design.demo_study_files import DEMO_FILE
from study.design.models import Study
from study.design.page_and_item_order import PAGES, is_shown, pages_before_rounds
from study.design.parts_other_than_rounds import PARTS
from study.design.questions.questionnaires import instruments
from study.design.study_files import study_from_file

pytestmark = pytest.mark.django_db


def test_the_demo_study_is_the_papers() -> None:
    study = study_from_file(DEMO_FILE)
    found = [(c.coplayer, c.teammates) for c in study.conditions.all()]
    assert found == [("none", 0), ("dispatcher", 1), ("dispatcher", 2), ("dispatcher", 3), ("random", 2)]
    for condition in study.conditions.all():
        assert condition.settings == {"level": "level_3", "alpha": 1.0, "beta": 4.5, "max_steps": 60}
    asked = study.items.filter(place="survey")
    assert asked.count() == 7
    assert {item.points for item in asked} == {5}


def test_the_demo_study_practises_before_reading_and_has_a_check_a_comparison_and_a_debriefing() -> None:
    design = blueprint_of(study_from_file(DEMO_FILE))
    assert [page for page in PAGES if page in PARTS and is_shown(design, page)] == [
        "consent",
        "guide",
        "practice",
        "check",
        "final",
        "debriefing",
        "end",
    ]
    assert {one.settings["level"] for one in design.conditions} == {"level_3"}
    assert design.practice.settings["level"] == "level_0", "the first dish takes few steps"
    assert pages_before_rounds(design) == ("consent", "practice", "about", "check")
    assert design.practice.settings["max_steps"] <= 40
    shipped = {item.key: item.text for one in instruments() for item in one.items}
    assert {item.key: item.text for item in design.items}.items() <= shipped.items()


def test_it_is_made_once() -> None:
    call_command("seed_demo")
    Study.objects.update(title="Changed by hand")
    call_command("seed_demo")
    assert Study.objects.get().title == "Changed by hand"


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ('slug = "demo"', 'slug = "not a slug"', "demo.toml: slug: "),
        ('slug = "demo"', 'slug = "tokens"', "demo.toml: slug: This name is taken"),
        (
            "seed = 20231",
            "seed = 1\nidle_warning_minutes = 60",
            "toml: idle_warning_minutes: Warn",
        ),
        (
            "seed = 20231",
            'seed = 1\nrecruitment = "prolific"',
            "demo.toml: Prolific gets no code .* status = .closed",
        ),
        (
            'title = "Cooking together"',
            'tittle = "x"',
            "toml: tittle: unknown key; there are slug",
        ),
        ('coplayer = "random"', 'coplayer = "genius"', r"conditions\[5\]: .*genius"),
        ('level = "level_0"', 'level = "level_99"', "parts.practice.settings: .*level_99"),
        (
            '"cuisine"\nsettings = { level = "level_3"',
            '"cuisine"\nsettings = { level = "x"',
            r"conditions\[1\]: .*x",
        ),
        ("teammates = 3", "teammates = 9", r"conditions\[4\]: .*teammates"),
        ('key = "trust"', 'key = "fun"', r"items\[7\]"),
        ("seed = 20231", "seed = ", "demo.toml"),
        ("seed = 20231", "seed = 2.5", "demo.toml: seed: must be a whole number, not 2.5"),
        ("seed = 20231", "seed = 1\nid = 1", "demo.toml: id: unknown key"),
        ("seed = 20231", "seed = 1\nentered = 7", "demo.toml: entered: unknown key"),
        ("seed = 20231", "seed = 1\nwithdrawn = 7", "demo.toml: withdrawn: unknown key"),
        ("teammates = 3", "teammates = true", r"conditions\[4\].teammates: must be a whole number, not True"),
        ("teammates = 3", "teammates = 3\nposition = 1", r"conditions\[4\].position: unknown key"),
        ("teammates = 3", "teammates = 3\nstudy = 1", r"conditions\[4\].study: unknown key"),
        ("teammates = 3", "teammates = 3\nsettings = 4", r"conditions\[4\].settings: must be a table, not 4"),
        (
            'kind = "cuisine"\nsettings = {',
            'kind = "cuisine"\nsettings = 4 # {',
            "world.settings: must be a table",
        ),
        (
            'kind = "cuisine"',
            'kind = "cuisine"\nlevel = 3',
            "world.level: unknown key; there are kind",
        ),
        ("seed = 20231", "seed = 1\nbudget = -1", "demo.toml: budget_limit"),
        (
            "seed = 20231",
            'seed = 1\nbetween_groups = ["a"]',
            "toml: between_groups: One group is no comparison",
        ),
        ("seed = 20231", 'seed = 1\nbetween_groups = ["a", "b c"]', r"between_groups\[2\]: .*'b c'"),
        (
            "teammates = 3",
            'teammates = 3\nbetween_group = "a"',
            r"conditions\[4\]: .*no group a; its groups: none",
        ),
        (
            '"items.fun.text" = "La',
            '"items.fan.text" = "La',
            "texts.es: items.fan.text is no text of this study",
        ),
        ('key = "trust"', 'key = "trust"\nid = 3', r"items\[7\].id: unknown key; there are key, place"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place_and_makes_nothing(
    tmp_path: Path, old: str, new: str, names: str
) -> None:
    text = DEMO_FILE.read_text()
    assert old in text
    wrong = tmp_path / "demo.toml"
    wrong.write_text(text.replace(old, new, 1))
    with pytest.raises(DataError, match=names):
        study_from_file(wrong)
    assert not Study.objects.exists()


def test_a_file_can_name_the_budget(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(DEMO_FILE.read_text().replace("seed = 20231", "seed = 20231\nbudget = 2.5"))
    assert study_from_file(file).budget_limit == Decimal("2.5")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("conditions = 5", "study.toml: conditions: must be a list, not 5"),
        ("conditions = [5]", r"conditions\[1\]: must be a table, not 5"),
        ("items = {}", "study.toml: items: must be a list"),
        ('items = ["trust"]', r"items\[1\]: must be a table, not 'trust'"),
        ("world = 3", "study.toml: world: must be a table, not 3"),
        ("world = {kind = 3}", "world.kind: must be a text, not 3"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(tmp_path: Path, line: str, names: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(f'slug = "s"\ntitle = "T"\n{line}\n')
    with pytest.raises(DataError, match=names):
        study_from_file(file)
    assert not Study.objects.exists()
