"""All texts of a study stand beside their translations, on one page and in one file."""

from __future__ import annotations

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from study.design.models import Study
from study.editor import text_table
from study.editor.translation_forms import text_field_name
from tests.study.factories import make_study

THERE = "/staff/small/design/texts/"


@pytest.fixture
def study(db: None) -> Study:
    study = make_study("small", languages="en es zh-hans", texts={"es": {"Team 0": "Equipo 0"}})
    study.own_pages.create(key="rest", title="Rest", text="You are in {team}.\n\nRest now.", before="final")
    return study


def rows_of(browser: Client) -> list[list[str]]:
    answer = browser.get("/staff/small/design/texts.csv")
    assert "small_texts.csv" in answer.headers["Content-Disposition"]
    return list(csv.reader(io.StringIO(answer.content.decode())))


def as_file(rows: list[list[str]], delimiter: str = ",") -> dict[str, SimpleUploadedFile]:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return {"file": SimpleUploadedFile("texts.csv", ("\ufeff" + out.getvalue()).encode())}


def test_one_save_stores_the_translations_of_all_languages(study: Study, admin_client: Client) -> None:
    names = {code: f"{code}-{text_field_name('Rest')}" for code in ("es", "zh-hans")}
    page = admin_client.get(THERE).content.decode()
    assert all(f'name="{name}"' in page for name in names.values())
    answer = admin_client.post(THERE, {names["es"]: "Descanso", names["zh-hans"]: "休息"})
    assert answer.status_code == 302
    study.refresh_from_db()
    assert (study.texts["es"]["Rest"], study.texts["zh-hans"]["Rest"]) == ("Descanso", "休息")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_file_comes_back_translated(study: Study, admin_client: Client, delimiter: str) -> None:
    heading, *rows = rows_of(admin_client)
    assert heading == ["place", "en", "es", "zh-hans"]
    told = {own: f"es {n} {own}" for n, (_, own, *_) in enumerate(rows)}
    filled = [[place, own.replace("\n", "\r\n"), told[own], ""] for place, own, *_ in rows]
    assert admin_client.post(THERE, as_file([heading, *filled], delimiter)).status_code == 302
    study.refresh_from_db()
    assert {own: text.replace("\r\n", "\n") for own, text in study.texts["es"].items()} == told


def test_a_wrong_row_is_named_and_nothing_is_saved(study: Study, admin_client: Client) -> None:
    rest = "You are in {team}. Rest now."
    for rows, told in (
        ([["en", "es"], ["Rest", "Descanso"], ["Nowhere", "No"]], "Row 3: the study has no text “Nowhere”."),
        ([["en", "es"], ["Rest", "Descanso"], [rest, "En {equipo}."]], "Row 3 of the file:"),
        ([["en", "es"], ["Rest", "A"], ["Rest", "B"]], "Row 3: this text is in the file twice."),
        ([["en", "es"], ["Rest", "A", "B"]], "Row 2 has too many cells."),
        ([["en", "fr"], ["Rest", "Repos"]], "no language “fr”"),
        ([["es"], ["Descanso"]], "one of them must be en"),
    ):
        answer = admin_client.post(THERE, as_file(rows))
        assert answer.status_code == 422 and told in answer.content.decode(), told
        study.refresh_from_db()
        assert study.texts == {"es": {"Team 0": "Equipo 0"}}


def test_a_table_that_is_too_long_for_a_page_is_a_file(
    study: Study, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_table, "MOST_FIELDS", 3)
    assert "too many texts for one page" in admin_client.get(THERE).content.decode()
    assert admin_client.post(THERE, as_file([["en", "zh-hans"], ["Rest", "休息"]])).status_code == 302
    study.refresh_from_db()
    assert study.texts == {"es": {"Team 0": "Equipo 0"}, "zh-hans": {"Rest": "休息"}}
