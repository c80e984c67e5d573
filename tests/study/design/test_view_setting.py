"""How a world is shown: set for a study, for one condition otherwise, and told in the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from kitchen.contract.data_files import DataError
from kitchen.registry.world_registry import get_page
from study.design.blueprint import blueprint_of
from study.design.models import Condition, Study
from study.design.study_files import study_from_file
from study.exports.export_registry import get_table
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from tests.study.exports.rows import rows_of
from tests.study.factories import enter, make_study, play_round

pytestmark = pytest.mark.django_db

FILE = """slug = "looks"
title = "Looks"
status = "closed"
{}
[[conditions]]
key = "a"
name = "A"
label = "Team A"
[[conditions]]
key = "b"
name = "B"
label = "Team B"
shown = "drawn"
"""


def told(person: Participant) -> list[tuple[str, bool]]:
    """`shown` and `asks_first` of every episode, as `episodes.csv` has them."""
    table = get_table("episodes")
    names = [column.name for column in table.columns_of(person.study)]
    shown, asks = names.index("shown"), names.index("asks_first")
    return [(row[shown], row[asks]) for row in rows_of(table, person.study)]


@pytest.mark.parametrize(("own", "found"), [("", "both"), ("drawn", "drawn"), ("tables", "tables")])
def test_a_condition_comes_before_the_study_and_what_somebody_had_is_in_the_data(
    own: str, found: str
) -> None:
    study = make_study(conditions=1, asks_first=True)
    Condition.objects.update(shown=own)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    assert told(person) == [(found, True)]


def test_who_has_entered_keeps_what_they_had() -> None:
    study = make_study(conditions=2, orders="fixed")
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    Study.objects.filter(pk=study.pk).update(shown="tables")
    play_round(person)
    assert told(person) == [("both", False)] * 2
    assert enter(study, "two").version.blueprint.meant("shown") == "tables"


@pytest.mark.usefixtures("beacon")
def test_a_world_without_a_drawing_offers_what_it_has() -> None:
    assert {get_page("beacon").shown(wanted) for wanted in ("tables", "drawn", "both")} == {"tables"}
    assert get_page("cuisine").shown("drawn") == "drawn"


def test_a_file_says_it_and_a_slip_is_told(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(FILE.format('shown = "tables"\nasks_first = true'))
    design = blueprint_of(study_from_file(file))
    assert [design.shown_in(one) for one in design.conditions] == ["tables", "drawn"]
    assert design.meant("asks_first") is True
    file.write_text(FILE.format('shown = "table"'))
    with pytest.raises(DataError, match="shown"):
        study_from_file(file)
