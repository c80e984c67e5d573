"""Studies as files."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from study.files import DEMO, StudyFileError, study_from_file
from study.models import Study

pytestmark = pytest.mark.django_db


def test_the_demo_study_is_the_papers() -> None:
    study = study_from_file(DEMO)
    found = [(c.coplayer, c.teammates) for c in study.conditions.all()]
    assert found == [("none", 0), ("dispatcher", 1), ("dispatcher", 2), ("dispatcher", 3), ("random", 2)]
    for condition in study.conditions.all():
        assert condition.settings == {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 60}
    assert study.items.count() == 7
    assert {item.points for item in study.items.all()} == {5}


def test_it_is_made_once() -> None:
    call_command("seed_demo")
    Study.objects.update(title="Changed by hand")
    call_command("seed_demo")
    assert Study.objects.get().title == "Changed by hand"


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ('slug = "demo"', 'slug = "not a slug"', "study: slug"),
        ('title = "Cooking together"', 'tittle = "x"', "study: .*tittle"),
        ('coplayer = "random"', 'coplayer = "genius"', r"conditions\[5\]: .*genius"),
        ('level = "level_3"', 'level = "level_99"', r"conditions\[1\]: .*level_99"),
        ("teammates = 3", "teammates = 9", r"conditions\[4\]: .*teammates"),
        ('key = "trust"', 'key = "fun"', r"items\[7\]"),
        ("seed = 20231", "seed = ", "demo.toml"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place_and_makes_nothing(
    tmp_path: Path, old: str, new: str, names: str
) -> None:
    text = DEMO.read_text()
    assert old in text
    wrong = tmp_path / "demo.toml"
    wrong.write_text(text.replace(old, new, 1))
    with pytest.raises(StudyFileError, match=names):
        study_from_file(wrong)
    assert not Study.objects.exists()
