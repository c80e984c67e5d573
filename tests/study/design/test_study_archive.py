"""A whole study as one file: written, read back the same, and refused in words if anything is wrong."""

from __future__ import annotations

import io
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from kitchen.contract.data_files import DataError
from study.design import study_archive
from study.design.blueprint import blueprint_of
from study.design.demo_study_files import DEMO_FILE
from study.design.media.media_limits import MIB
from study.design.models import OwnPage, Study, StudyMedia, SurveyItem
from study.design.study_archive import LIMITS, read_study_bytes, study_zip
from study.design.study_errors import DesignError
from study.design.study_file_writer import study_as_toml, study_as_zip
from study.design.study_files import study_from_content, study_from_file
from study.design.study_versions import differences
from study.design.toml_text import toml_text
from tests.study.factories import add_factor, make_study

pytestmark = pytest.mark.django_db


def a_study() -> Study:
    """Create a study with something in every table of its file."""
    study = make_study("whole", languages="en es", idle_minutes=None, budget_limit="2.5", shared=True)
    add_factor(study)
    off = {"key": "off", "measure": "Off", "text": "Not\nasked", "enabled": False, "position": 7}
    SurveyItem.objects.create(study=study, **off)
    rule = {"match": "all", "rules": [{"what": "answer:i0", "compares": "at_least", "value": "2"}]}
    OwnPage.objects.create(study=study, key="pause", before="final", title="P", text="a\n\nb", show_if=rule)
    study.outcomes.create(kind="complete", code="SECRET", text="Bye", url="https://a.example/SECRET")
    study.texts = {"es": {"Item 0.": "Uno", "Not\nasked": "No", "changed since": "x"}}
    study.bonus_rule = {"currency": "EUR", "base": "1.00", "most": "2.00"}
    study.save()
    return study


def packed(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text.encode("latin-1"))
    return out.getvalue()


def test_a_study_is_the_same_after_it_was_written_and_read() -> None:
    study = a_study()
    for data in (study_as_zip(study), study_as_toml(study).encode()):
        made = study_from_content(read_study_bytes(data, "f"), slug=f"made-{len(data)}")
        old, new = blueprint_of(study), blueprint_of(made)
        fields = {(one.where, one.field) for one in differences(old, new)}
        assert fields == {
            ("study", "slug"),
            ("end complete", "has_code"),
            ("end complete", "has_address"),
        }
        assert made.texts == {"es": {"Item 0.": "Uno", "Not\nasked": "No"}}
        assert (made.idle_minutes, str(made.budget_limit)) == (None, "2.5")
        assert (made.status, made.shared) == ("closed", False)
        assert list(made.items.values_list("key", "enabled")) == [("i0", True), ("i1", True), ("off", False)]
    assert b"SECRET" not in study_as_toml(study).encode()
    assert study_as_zip(study) == study_as_zip(study), "equal studies have equal files"


def test_the_ready_demo_study_survives_as_a_file() -> None:
    study = study_from_file(DEMO_FILE)
    made = study_from_content(read_study_bytes(study_as_zip(study), "f"), slug="made")
    assert {one.field for one in differences(blueprint_of(study), blueprint_of(made))} == {"slug"}
    assert made.texts == study.texts


def test_a_study_that_no_server_could_read_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DesignError, match=r"a\.csv, that is packed far too tightly\. .+ A backup"):
        study_zip("s", {}, {"a.csv": bytes(2 * MIB)})
    monkeypatch.setattr(study_archive, "MAX_FILE_BYTES", 100)
    with pytest.raises(DesignError, match=r"would have 1 MiB, and 32 MiB are read\. .+ A backup"):
        study_zip("s", {}, {"a.png": b"x"})
    study = make_study("large")
    StudyMedia.objects.create(study=study, name="a.mp4", size=LIMITS.bytes + 1, data=b"")
    with pytest.raises(CommandError, match=r"have 49 MiB, and a ZIP may hold 48 MiB\. .+ A backup"):
        call_command("dump_study", "large", "--out", str(tmp_path / "s.zip"))
    assert not list(tmp_path.iterdir())


DESIGN = 'slug = "s"\ntitle = "T"\nlanguages = ["en", "es"]\n'


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (packed(**{"other.toml": DESIGN}), "f.zip: study.toml is missing in it"),
        (packed(**{"study.toml": DESIGN, "note.txt": "x"}), "f.zip: note.txt: unknown file; there are study"),
        (packed(**{"study.toml": DESIGN, "media/a.png": "x"}), "media/a.png"),
        (packed(**{"study.toml": DESIGN + "colour = 1"}), "study.toml: colour: unknown key"),
        (packed(**{"study.toml": DESIGN + "# \xe9"}), "study.toml: is not a text in UTF-8"),
        (packed(**{"study.toml": DESIGN, "translations/es.toml": '"tutle" = "x"'}), "texts.es: tutle is no"),
        (packed(**{"study.toml": DESIGN, "translations/es.toml": "x"}), "translations/es.toml: not TOML"),
        (
            packed(
                **{"study.toml": DESIGN + '[texts.es]\ntitle = "T"', "translations/es.toml": 'title = "T"'}
            ),
            "texts.es: is in a file of its own, too",
        ),
        (b"PK\x03\x04", "f.zip: is not a ZIP archive, or is damaged"),
        (b"\xff\xfe", "f.zip: is not a text in UTF-8"),
        (DESIGN.replace('"s"', '"s s"').encode(), "f.zip: slug: "),
        ((DESIGN + 'unlimited = ["budget"]').encode(), r"unlimited\[1\]: 'budget' is not one of"),
    ],
)
def test_a_wrong_file_is_refused_in_words_and_makes_nothing(tmp_path: Path, data: bytes, words: str) -> None:
    file = tmp_path / "f.zip"
    file.write_bytes(data)
    with pytest.raises(DataError, match=words):
        study_from_file(file)
    assert not Study.objects.exists()


def test_commands_write_and_read_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_study()
    for name in ("s.zip", "s.toml"):
        call_command("dump_study", "whole", "--out", str(tmp_path / name))
        Study.objects.all().delete()
        call_command("load_study", str(tmp_path / name))
        assert Study.objects.get().slug == "whole"
    with pytest.raises(CommandError, match=r"ends in \.zip or \.toml"):
        call_command("dump_study", "whole", "--out", str(tmp_path / "s.txt"))
    assert "study whole" in capsys.readouterr().out


def test_toml_reads_back_as_it_was_written() -> None:
    values: dict[str, Any] = {
        "text": 'x\ny"""""z\\n\t',
        "end": 'q"\n"',
        "a key": [1, -2.5, 1e20, True, "a\nb\x7f\x01"],
        "carriage": "a\r\nb",
        "rows": [{"x": {"y": {"z": [{}, {"q": "é"}]}}}, {}],
        "parts": {"one": {"text": "a\n\nb\n", "settings": {"on": True}}, "two": {}},
        "table": {"a": 1, "b": {"c": 2}},
        "empty": {},
    }
    assert tomllib.loads(toml_text({**values, "nothing": None})) == values
