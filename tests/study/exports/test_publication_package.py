"""The package to publish: by the rules of Psych-DS, with hashes for Croissant, and de-identified."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from study.design.models import OwnPage, Study, Version
from study.design.preregistration import bundle_of, bundle_problem
from study.design.questions.item_fields import DOES_NOT_APPLY
from study.exports.deidentify import CopyOptions, merge_rare
from study.exports.export_registry import get_table
from study.exports.export_table import EVERYBODY, Column, ExportTable
from study.exports.publication_package import LEFT_OUT, PackageOptions, package_options, package_pieces
from study.exports.row_groups import RowGroup
from study.participants.models import Answer, PageVisit, Participant
from study.pilot.previews import study_preview
from tests.conftest import Once
from tests.study.exports.test_complete_exports import item, walk, whole_study
from tests.study.exports.test_exports import downloaded

pytestmark = pytest.mark.django_db

PSYCH_DS_PATH = re.compile(r"data/[a-z]+-[A-Za-z0-9]+(_[a-z]+-[A-Za-z0-9]+)*_data\.csv")
"""What Psych-DS takes as the path of a data file."""


Files = Mapping[str, bytes]
"""The files of a package, by path."""


@pytest.fixture(scope="module")
def walked(once: Once) -> tuple[int, Files]:
    """A study that two people have walked through, and its de-identified copy; its pk and the files."""
    with once():
        found = whole_study(conditions=1)
        item(found, "remark", place="final", kind="text", required=False)
        for key in ("fit", "calm"):
            more = {"scale": "Fitness", "required": False, "may_not_apply": True}
            item(found, key, place="about", **more)
        nobody = {"rules": [{"what": "answer:age", "compares": "is", "value": "0"}]}
        OwnPage.objects.create(study=found, key="rest", before="end", title="Rest", show_if=nobody)
        item(found, "tired", place="own-rest", required=False)
        for entry, fit, tired in (("one", DOES_NOT_APPLY, 1), ("two", 4, 5)):
            person = walk(found, entry)
            for key, value in (("fit", fit), ("calm", 2), ("tired", tired)):
                Answer.objects.create(participant=person, item=found.items.get(key=key), value=value)
        version = Version.objects.get()
        bundle = bundle_of(version.blueprint, at="2026-01-01T00:00:00+00:00", by="staff", version=1)
        Version.objects.update(frozen_at=timezone.now(), bundle=bundle)
        Participant.objects.filter(number=1).update(label="5f8a0c1e2d3b4a5968778695", language="es")
        return found.pk, package(found, PackageOptions(CopyOptions(k=2), "cc0"))


@pytest.fixture
def study(walked: tuple[int, Files]) -> Study:
    return Study.objects.get(pk=walked[0])


@pytest.fixture
def copied(walked: tuple[int, Files], study: Study) -> Files:
    """The files of the de-identified copy for two people."""
    return walked[1]


@pytest.fixture
def two_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages have the tables of people and episodes only."""
    some = [get_table("participants"), get_table("episodes")]
    monkeypatch.setattr("study.exports.publication_package.tables", lambda: some)


def package(study: Study, options: PackageOptions) -> dict[str, bytes]:
    written = b"".join(package_pieces(study, EVERYBODY, options))
    with zipfile.ZipFile(io.BytesIO(written)) as archive:
        return {name.removeprefix("small/"): archive.read(name) for name in archive.namelist()}


def rows(files: Files, table: str) -> list[dict[str, str]]:
    text = files[f"data/study-small_description-{table}_data.csv"].decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def seeds_and_hashes(document: Any) -> Iterator[Any]:
    """Every value of a field that is a seed, or a hash of something with the seed."""
    if isinstance(document, dict):
        hashes = {"seed", "digest", "bundle_digest", "design_sha256", "content_sha256", "sha256"}
        yield from (document[name] for name in hashes & document.keys() if document[name])
    for part in document.values() if isinstance(document, dict) else document:
        if isinstance(part, dict | list):
            yield from seeds_and_hashes(part)


def test_a_package_keeps_the_rules_of_psych_ds_and_croissant(copied: Files) -> None:
    files = copied
    data = {path: content for path, content in files.items() if path.startswith("data/")}
    assert len(data) > 10 and all(map(PSYCH_DS_PATH.fullmatch, data))
    description = json.loads(files["dataset_description.json"])
    assert description["@type"] == "Dataset" and description["name"] and description["description"]
    columns = {path: next(csv.reader(io.StringIO(text.decode()))) for path, text in data.items()}
    assert {one["name"] for one in description["variableMeasured"]} == set().union(*columns.values())
    croissant = json.loads(files["croissant.json"])
    assert {one["contentUrl"]: one["sha256"] for one in croissant["distribution"]} == {
        path: hashlib.sha256(content).hexdigest() for path, content in data.items()
    }
    fields = {
        (one["source"]["fileObject"]["@id"], one["source"]["extract"]["column"])
        for records in croissant["recordSet"]
        for one in records["field"]
    }
    assert fields == {(path, name) for path, names in columns.items() for name in names}
    book = csv.DictReader(io.StringIO(files["documentation/codebook.csv"].decode()))
    assert {(row["file"], row["column"]) for row in book} == fields
    assert json.loads(files["preregistration/version-1.json"])["frozen"]["version"] == 1
    assert b"publicdomain/zero" in files["LICENSE.txt"]
    compile(files["analysis/read_data.py"], "read_data.py", "exec")


def test_a_copy_says_nothing_that_leads_to_a_person(copied: Files) -> None:
    files = copied
    everything = b"".join(files.values()).decode()
    for person in Participant.objects.all():
        for secret in (person.code, person.label, person.completion_code, person.key):
            assert not secret or secret not in everything
        assert person.entered_at.isoformat()[:16] not in everything
        for one in person.rounds.all():
            assert one.episode and str(one.episode.key) not in everything
            assert str(one.episode.seed) not in everything
    for told in ("documentation/design.json", "preregistration/version-1.json"):
        assert not {str(value) for value in seeds_and_hashes(json.loads(files[told]))} - {LEFT_OUT}
        assert b'"by": "staff"' not in files[told] and b'"by": "left out' in files[told]
    assert Version.objects.get().digest not in everything
    people = rows(files, "participants")
    assert [row["participant"] for row in people] == ["p1", "p2"]
    assert {row["entered_at_minutes"] for row in people} == {"0"}
    assert {row["language"] for row in people} == {"other"}
    assert {row["about.age"] for row in people} == {"33"}, "both gave it"
    assert not {"number", "label", "final.remark", "completion_code"} & people[0].keys()
    assert {row["episode"] for row in rows(files, "steps")} == {
        row["episode"] for row in rows(files, "episodes")
    }
    told = files["documentation/left_out.md"].decode()
    for name in ("participants.label", "participants.final.remark", "episodes.seed", "Table `prompts`"):
        assert name in told
    assert "- `participants.language`: 2 cells" in told


@pytest.mark.usefixtures("two_tables")
def test_a_copy_for_replays_has_seeds_and_the_data_as_they_are_have_everything(study: Study) -> None:
    kept = package(study, PackageOptions(CopyOptions(2, replays=True), "cc0"))
    assert rows(kept, "episodes")[0]["seed"]
    assert bundle_problem(json.loads(kept["preregistration/version-1.json"])) == ""
    files = package(study, PackageOptions(None, "cc0"))
    assert {row["participant"] for row in rows(files, "participants")} == set(
        Participant.objects.values_list("code", flat=True)
    )
    assert "documentation/left_out.md" not in files
    assert PackageOptions(None, "cc0").saved_as(study) == "small_publication_identified.zip"


def test_a_new_column_of_texts_is_left_out_until_somebody_decides(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = (Column("said", "text", "It."), Column("kind", "text", "It.", levels="a, b"))
    table = ExportTable("new", "New.", columns, lambda *_: [RowGroup((), [["I am Ada", "a"]])])
    monkeypatch.setattr("study.exports.publication_package.tables", lambda: [table])
    files = package(study, PackageOptions(CopyOptions(), "cc0"))
    assert rows(files, "new") == [{"kind": "a"}]
    assert "- `new.said`" in files["documentation/left_out.md"].decode()


@pytest.mark.parametrize(
    ("values", "is_number", "expected"),
    [
        (["a", "a", "b", "c"], False, {"a": "a", "b": "other", "c": "other"}),
        (["a", "a", "b"], False, {"a": "other", "b": "other"}),
        (["a", "b"], False, {"a": "other", "b": "other"}),
        ([20, 30, 31, 31, 40], True, {20: "20 to 30", 30: "20 to 30", 31: "31 to 40", 40: "31 to 40"}),
        ([20], True, {20: "other"}),
        ([20, 20], True, {20: 20}),
        (["a", "a", "a", "b", "b", None], False, {"a": "a", "b": "other", None: "other"}),
        ([20, 20, 20, 30, 30, None], True, {20: 20, 30: "other", None: "other"}),
        ([20, None, None], True, {20: "other", None: "other"}),
        ([20, 20, None, None], True, {20: 20, None: None}),
    ],
)
def test_each_value_that_is_left_has_at_least_k_people(
    values: list[Any], is_number: bool, expected: dict[Any, Any]
) -> None:
    found = merge_rare(values, 2, is_number=is_number)
    assert {json.loads(key): value for key, value in found.items()} == expected


@pytest.mark.usefixtures("two_tables")
def test_programs_and_previews_do_not_hide_a_person(study: Study) -> None:
    Participant.objects.filter(number=1).update(synthetic=True)
    files = package(study, PackageOptions(CopyOptions(k=2), "cc-by"))
    assert {row["about.age"] for row in rows(files, "participants")} == {"other"}


def test_demographics_are_found_neither_by_their_scores_nor_by_a_rare_mark(copied: Files) -> None:
    people = rows(copied, "participants")
    assert {(row["about.fit"], row["about.calm"]) for row in people} == {("other", "2")}
    assert {row["own-rest.tired"] for row in people} == {"1 to 5"}, "merged, as at the place `about`"
    assert PageVisit.objects.filter(page="own-rest").exists(), "its rule compares the age"
    assert "own-rest" not in {row["page"] for row in rows(copied, "pageTimes")}
    assert "left_out_by_rules" not in people[0]
    about = {name for name in people[0] if name.startswith("about.")}
    assert about == {"about.age", "about.fit", "about.calm"}
    assert {row["place"] for name in ("answers", "asked") for row in rows(copied, name)} == {
        *("check", "survey", "final")
    }
    assert "participants.about.fit.does_not_apply" in copied["documentation/left_out.md"].decode()


@pytest.mark.parametrize("name", ["publication_k1_cc0.zip", "publication_k5_wtf.zip", "all.zip"])
def test_only_names_of_packages_are_understood(name: str) -> None:
    assert package_options(name) is None


@pytest.mark.usefixtures("two_tables")
def test_the_page_leads_to_the_package_and_the_command_writes_it(
    study: Study, admin_client: Client, tmp_path: Path
) -> None:
    study_preview(study_id=study.pk)
    page, all_kinds = (admin_client.get(f"/staff/small/data/{query}") for query in ("", "?chosen=yes"))
    assert b"Download the package" in page.content
    hidden = b'<input type="hidden" name="without" value="preview">'
    assert hidden in page.content and b"Left out: previews by staff (1)" in page.content
    assert hidden not in all_kinds.content and b"Left out" not in all_kinds.content
    given = {"k": "3", "replays": "on", "licence": "cc-by", "identified": "", "without": ["preview"]}
    answer = admin_client.get("/staff/small/data/publication/", given)
    assert answer["Location"] == "/staff/small/data/publication_k3_replays_cc-by.zip?without=preview"
    sent = admin_client.get(answer["Location"])
    assert 'filename="small_publication_deidentified.zip"' in sent["Content-Disposition"]
    assert zipfile.is_zipfile(io.BytesIO(downloaded(sent)))
    wrong = admin_client.get("/staff/small/data/publication/", {**given, "k": "0"}, follow=True)
    assert "Choose a number of people from 2 to 50" in wrong.content.decode()
    call_command("export_study", "small", "--out", str(tmp_path), "--format", "publication")
    assert zipfile.is_zipfile(tmp_path / "small_publication_deidentified.zip")
