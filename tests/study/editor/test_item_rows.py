"""Questions and their translations as CSV, out and in."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from study.design.models import Study
from study.editor.item_rows import ItemRowsError, item_csv, items_store
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    found = make_study("rows", conditions=1, items=1)
    Study.objects.filter(pk=found.pk).update(languages="en es")
    found.refresh_from_db()
    return found


def rows(study: Study) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(item_csv(study), newline="")))


def test_rows_add_and_change_questions_and_their_translations(study: Study) -> None:
    given = (
        "key,place,kind,measure,text,options,text (es),options (es)\r\n"
        'liked,final,single,Liked,Which one?,"red\nblue",¿Cuál?,"rojo\nazul"\r\n'
        "i0,,,,Changed?,,¿Cambiado?,\r\n"
    )
    assert items_store(study_id=study.pk, rows=given) == (1, 1)
    study.refresh_from_db()
    first, second = rows(study)
    assert (first["text"], first["text (es)"], first["points"]) == ("Changed?", "¿Cambiado?", "5")
    assert (second["options"], second["options (es)"]) == ("red\nblue", "rojo\nazul")
    assert items_store(study_id=study.pk, rows=item_csv(study)) == (0, 2)
    study.refresh_from_db()
    assert rows(study) == [first, second]


def test_rows_of_a_spreadsheet_have_tabs_and_formulas_are_made_harmless(study: Study) -> None:
    given = "key\tmeasure\ttext\ncost\tCost\t=1+1 is it?\n"
    assert items_store(study_id=study.pk, rows=given) == (1, 0)
    assert rows(study)[1]["text"] == "'=1+1 is it?"
    items_store(study_id=study.pk, rows=item_csv(study))
    assert study.items.get(key="cost").text == "=1+1 is it?"


def test_an_empty_cell_changes_nothing_and_a_mark_empties_the_field_and_its_translation(study: Study) -> None:
    full = "key,table,minimum,correct,text (es)\ni0,Ease,1,2,¿Qué?\n"
    items_store(study_id=study.pk, rows=full)
    items_store(study_id=study.pk, rows="key,table,minimum,correct,text (es)\ni0,,,,\n")
    study.refresh_from_db()
    (row,) = rows(study)
    filled = ("table", "minimum", "correct", "text (es)")
    assert [row[name] for name in filled] == ["Ease", "1.0", "2", "¿Qué?"]
    marks = ",".join(["(empty)"] * 4)
    items_store(study_id=study.pk, rows=f"key,table,minimum,correct,text (es)\ni0,{marks}\n")
    study.refresh_from_db()
    (row,) = rows(study)
    assert not any(row[name] for name in filled)
    assert study.items.get().minimum is None and study.items.get().correct is None


@pytest.mark.parametrize("cell", ["[" * 100_000, "NaN", "[Infinity]"])
def test_a_right_answer_that_json_or_its_limits_do_not_allow_is_refused(study: Study, cell: str) -> None:
    with pytest.raises(ItemRowsError, match=r"Row 2 \(i0\): "):
        items_store(study_id=study.pk, rows=f"key,correct\ni0,{cell}\n")


def test_every_wrong_row_is_told_and_nothing_is_stored(study: Study, admin_client: Client) -> None:
    given = (
        "key,kind,measure,text,points,options,options (es)\n"
        "good,likert,Good,Is it good?,5,,\n"
        "wide,likert,Wide,Is it wide?,99,,\n"
        'some,single,Some,Which?,,"a\nb",uno\n'
        "much,likert,Much,Is it much?,many,,\n"
    )
    with pytest.raises(ItemRowsError) as caught:
        items_store(study_id=study.pk, rows=given)
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        *("Row 3 (wide)", "Row 4 (some)", "Row 5 (much)"),
    ]
    assert caught.value.problems[-1] == "Row 5 (much): points is a number, not “many”."
    page = admin_client.post("/staff/rows/design/items/rows/", {"rows": given})
    assert page.status_code == 422
    assert "Row 3 (wide)" in page.content.decode() and "Row 5 (much)" in page.content.decode()
    assert given.splitlines()[1] in page.content.decode(), "the typed rows are still there"
    assert study.items.count() == 1


@pytest.mark.parametrize("given", ["", "text\nWhat?", "key,colour\na,red", "key\na\na", 'key,text\n"a'])
def test_what_is_no_table_of_questions_is_refused_in_words(study: Study, given: str) -> None:
    with pytest.raises(ItemRowsError) as caught:
        items_store(study_id=study.pk, rows=given)
    assert all(caught.value.problems)


def test_the_page_leads_to_the_file_and_stores_rows(study: Study, admin_client: Client) -> None:
    assert "All questions as CSV" in admin_client.get("/staff/rows/design/items/rows/").content.decode()
    answer = admin_client.get("/staff/rows/design/items/rows.csv")
    assert answer["Content-Disposition"] == 'attachment; filename="rows_items.csv"'
    told = admin_client.post(
        "/staff/rows/design/items/rows/", {"rows": "key,measure,text\nb,B,What?\n"}, follow=True
    )
    assert "1 question added, 0 changed." in told.content.decode()
