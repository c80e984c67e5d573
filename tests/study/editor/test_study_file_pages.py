"""A whole study leaves and enters the console as one file, after it was compared."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from study.design.media_storage import store_media
from study.design.models import Study, StudyMedia
from study.design.study_archive import LIMITS
from study.design.study_file_writer import study_as_zip
from study.design.study_versions import current_version
from study.editor.study_file_services import OUTSIDE
from study.pilot.previews import study_preview
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture(autouse=True)
def owner(study: Study, client: Client) -> User:
    user = User.objects.create_user("researcher", is_staff=True)
    study.memberships.create(user=user, role="owner")
    client.force_login(user)
    return user


def at(study: Study, name: str) -> str:
    return reverse(f"study:staff-design-{name}", args=[study.slug])


def sent(data: bytes, **more: Any) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("study.zip", data), **more}


def told(answer: Any) -> str:
    return " ".join(re.sub("<[^>]+>", " ", answer.content.decode()).split())


def changed(study: Study) -> bytes:
    """Return the file of the study with another title and one condition more, named in words."""
    with zipfile.ZipFile(io.BytesIO(study_as_zip(study))) as archive:
        text = archive.read("small/study.toml").decode()
    text = text.replace("A small study", "Another title").replace('name = "Condition 1"', 'name = "Slow"')
    return text.encode()


def take(client: Client, study: Study, data: bytes) -> str:
    """Compare a file and take it. Return the words of the comparison."""
    compared = client.post(at(study, "file"), sent(data), headers={"hx-request": "true"})
    seen = re.search(rb'name="seen" value="(\w+)"', compared.content)
    assert seen, told(compared)
    assert client.post(at(study, "file-take"), sent(data, seen=seen[1].decode())).status_code == 302
    return told(compared)


def test_the_file_is_downloaded_and_makes_a_new_study_of_ones_own(client: Client, study: Study) -> None:
    answer = client.get(at(study, "file-zip"))
    assert answer["Content-Disposition"] == 'attachment; filename="small.zip"'
    page = reverse("study:staff-new-file")
    assert "Name in the link: Another study has “small” in its link. Give another name." in told(
        client.post(page, sent(answer.content))
    )
    assert "hyphens and underscores only" in told(client.post(page, sent(answer.content, slug="a b")))
    assert Study.objects.count() == 1
    compared = client.post(page, sent(answer.content, against="small", compare="1", slug="fresh"))
    assert "No difference" in told(compared)
    assert Study.objects.count() == 1
    client.post(page, sent(answer.content, slug="fresh"))
    made = Study.objects.get(slug="fresh")
    assert (made.conditions.count(), made.status) == (2, "closed")
    assert made.memberships.get().role == "owner"


def test_a_study_with_too_many_media_says_so_instead_of_the_download(client: Client, study: Study) -> None:
    media = StudyMedia.objects.create(study=study, name="a.mp4", size=LIMITS.bytes + 1, data=b"")
    words = "The media of this study have 49 MiB, and a ZIP may hold 48 MiB."
    assert words in told(client.get(at(study, "file-zip"), follow=True))
    page = told(client.get(at(study, "file")))
    assert words in page
    assert "Download small.zip" not in page
    StudyMedia.objects.filter(pk=media.pk).update(size=LIMITS.bytes)
    assert "Download small.zip" in told(client.get(at(study, "file")))


def test_a_translation_that_did_not_change_with_its_text_is_named(client: Client, study: Study) -> None:
    Study.objects.update(languages="en es", texts={"es": {study.title: "Un estudio"}})
    data = changed(Study.objects.get()) + b'\n[texts.es]\ntitle = "Un estudio"\n'
    words = "1 text changed, and the translation did not. Check: Title (es)."
    assert words in told(client.post(at(study, "file"), sent(data)))
    same = study_as_zip(Study.objects.get())
    assert "the translation did not" not in told(client.post(at(study, "file"), sent(same)))


def test_a_file_is_compared_line_by_line_before_it_is_taken(client: Client, study: Study) -> None:
    data = changed(study)
    Study.objects.update(status="closed")
    study.outcomes.create(kind="complete", code="KEEP")
    study_preview(study_id=study.pk)
    data = changed(study)
    refused = client.post(at(study, "file-take"), sent(data))
    assert "not the file that you compared" in told(refused)
    part = client.post(at(study, "file"), sent(data), headers={"hx-request": "true"})
    assert b"<html" not in part.content
    assert "2 differences" in told(part)
    assert "A small study Another title" in told(part)
    assert "Condition “Slow” Name, for you and the figures Condition 1 Slow" in told(part)
    seen = re.search(rb'name="seen" value="(\w+)"', part.content)
    assert seen
    study.refresh_from_db()
    assert study.title == "A small study", "comparing changes nothing"
    client.post(at(study, "file-take"), sent(data, seen=seen[1].decode()))
    study.refresh_from_db()
    assert study.title == "Another title"
    assert study.conditions.get(key="c1").name == "Slow"
    assert study.outcomes.get().code == "KEEP"
    assert not study.participants.exists(), "previews of the old design are erased"


def test_codes_and_addresses_stay_when_a_file_with_others_is_taken(client: Client, study: Study) -> None:
    data = changed(study)
    Study.objects.update(status="closed")
    study.outcomes.create(kind="complete", code="KEEP", url="https://own.example")
    study.outcomes.create(kind="timed_out", url="https://own.example/late", text="Too late.")
    ends = (
        ("complete", 'url = "https://other.example/{code}"\ntext = "Thanks."'),
        ("no_consent", 'code = "OTHER"'),
    )
    others = "".join(f'\n[[outcomes]]\nkind = "{kind}"\n{rest}\n' for kind, rest in ends)
    take(client, study, data + others.encode())
    assert set(study.outcomes.values_list("kind", "code", "url", "text")) == {
        ("complete", "KEEP", "https://own.example", "Thanks."),
        ("timed_out", "", "https://own.example/late", ""),
    }


def test_a_comparison_lists_what_no_version_has_and_files_that_go(client: Client, study: Study) -> None:
    data = changed(study)
    Study.objects.update(status="closed", recruitment="label", max_participants=5, pauses_when_spent=True)
    study.refresh_from_db()
    study.items.create(key="off", measure="Off", text="Off?", points=7, enabled=False)
    for name in ("unused.txt", "shown.txt"):
        store_media(study, name, name.encode())
    study.own_pages.create(key="a", before="rounds", title="A", text="[Read it](media:shown.txt)")
    assert current_version(study_id=study.pk).document["media"]
    words = take(client, study, data)
    for line in (
        "Participants come from a label: the link ends in ?label=… anonymous: anybody with the link",
        "Most participants 5 no limit",
        "Question “Off”, switched off Removed",
        "File “unused.txt”, shown nowhere Removed",
        "File “shown.txt” Removed",
    ):
        assert line in words
    row = study.media.get()
    assert row.name == "shown.txt" and row.replaced_at, "kept only for the version that shows it"
    assert {"recruitment", "max_participants", "figure_texts", "pauses_when_spent"} <= {*OUTSIDE}


def test_the_seed_that_a_file_does_not_have_stays_and_is_no_difference(client: Client, study: Study) -> None:
    Study.objects.update(status="closed", seed=77)
    words = take(client, study, re.sub(rb"seed = .*\n", b"", changed(study)))
    assert "2 differences" in words
    study.refresh_from_db()
    assert study.seed == 77


@pytest.mark.parametrize("concealed", [True, False])
def test_a_collaborator_with_a_file_neither_conceals_conditions_nor_shows_them(
    client: Client, study: Study, concealed: bool
) -> None:
    Study.objects.update(status="closed", conceals_allocation=concealed)
    study.memberships.update(role="collaborator")
    data = changed(study).replace(b"conceals_allocation = true\n", b"")
    if not concealed:
        data = data.replace(b"title =", b"conceals_allocation = true\ntitle =", 1)
    take(client, study, data)
    study.refresh_from_db()
    assert (study.title, study.conceals_allocation) == ("Another title", concealed)


def test_a_design_with_data_or_an_invalid_file_changes_nothing(client: Client, study: Study) -> None:
    data, before = changed(study), study_as_zip(study)
    for wrong, words in ((b"PK\x03\x04", "not a ZIP archive"), (b"slug = 3", "slug: must be a text, not 3")):
        answer = client.post(at(study, "file"), sent(wrong))
        assert answer.status_code == 422
        assert words in told(answer)
        part = client.post(at(study, "file"), sent(wrong), headers={"hx-request": "true"})
        assert b'role="alert"' in part.content
        assert b"aria-live" not in part.content, "an alert in a live region is said twice"
    page = client.post(at(study, "file"), sent(data)).content
    seen = re.search(rb'name="seen" value="(\w+)"', page)
    assert seen
    enter(study)
    for status, words in (("open", "The study is open"), ("closed", "People or programs took part")):
        Study.objects.update(status=status)
        assert words in told(client.post(at(study, "file-take"), sent(data, seen=seen[1].decode())))
    study.refresh_from_db()
    assert study_as_zip(study) == before


def test_a_study_is_compared_with_its_versions_and_with_other_studies(client: Client, study: Study) -> None:
    current_version(study_id=study.pk)
    study.conditions.filter(key="c0").delete()
    page = client.get(at(study, "file"), {"with": "version:1"})
    assert "1 difference " in told(page)
    assert "Condition “Condition 0” Removed" in told(page)
    assert "Version 1" in told(page)
    other = make_study("other", items=3)
    assert "no longer there" in told(client.get(at(study, "file"), {"with": "study:other"}))
    Study.objects.filter(pk=other.pk).update(shared=True)
    page = client.get(at(study, "file"), {"with": "study:other"})
    assert "Question “Measure 2” Removed" in told(page)
