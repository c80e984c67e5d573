"""A study's pages show its media files, and only the study's participants and staff can open them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from kitchen.contract.data_files import DataError
from study.design.blueprint import Blueprint
from study.design.media_storage import media_files, store_media
from study.design.models import OwnPage, Study, StudyMedia
from study.design.readiness_checks import readiness_problems
from study.design.study_files import study_from_file
from study.design.study_versions import current_version
from tests.study.factories import enter, make_study
from tests.study.media_samples import NOTES, NOTES_HASH, PDF, mp3, png

MEDIA = "/staff/small/design/media/"
pytestmark = pytest.mark.django_db


def study_with(text: str) -> Study:
    study = make_study(conditions=1)
    OwnPage.objects.create(study=study, key="hello", before="about", title="Hello", text=text)
    return study


def test_participants_see_the_files_of_their_version_and_nobody_else_does(client: Client) -> None:
    study = study_with("![A grey square](media:dot.png)\n\n![](media:talk.mp3)\n\n![Form](media:form.pdf)")
    store_media(study, "dot.png", png(), alt="Grey")
    store_media(study, "talk.mp3", mp3(), alt="A talk", transcript="Hello <b>there</b>")
    store_media(study, "form.pdf", PDF)
    store_media(study, "other.png", png(3, 3), alt="Not on any page")
    person = enter(study)
    html = client.get(person.get_absolute_url()).content.decode()
    image, sound, file = re.findall(rf'(?:src|href)="({person.get_absolute_url()}media/[^"]+)"', html)
    assert 'alt="A grey square"' in html and 'width="2"' in html
    assert 'aria-label="A talk"' in html and "Hello &lt;b&gt;there&lt;/b&gt;" in html
    answer = client.get(image)
    assert (answer.content, answer["Content-Type"]) == (png(), "image/png")
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert (answer["X-Content-Type-Options"], answer["Cache-Control"][:7]) == ("nosniff", "private")
    assert client.get(image, headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert client.get(file)["Content-Disposition"] == 'attachment; filename="form.pdf"'
    part = client.get(sound, headers={"Range": "bytes=4-9"})
    assert (part.status_code, part.content) == (206, mp3()[4:10])
    assert part["Content-Range"] == f"bytes 4-9/{len(mp3())}"
    assert client.get(sound, headers={"Range": "bytes=-5"}).content == mp3()[-5:]
    assert client.get(sound, headers={"Range": "bytes=99999-"}).status_code == 416
    other = StudyMedia.objects.get(name="other.png")
    unseen = f"{person.get_absolute_url()}media/{other.sha256}/other.png"
    elsewhere = image.replace(person.key, enter(make_study("else"), "x").key)
    assert [client.get(url).status_code for url in (unseen, elsewhere)] == [404, 404]
    assert client.get(f"{MEDIA}files/{other.sha256}/other.png").status_code == 302, "staff log in first"


def test_a_frozen_version_keeps_the_file_that_was_replaced(client: Client) -> None:
    study = study_with("![](media:dot.png)")
    first = store_media(study, "dot.png", png(), alt="Grey")
    before, person = current_version(study_id=study.pk), enter(study)
    assert Blueprint.from_json(before.document).media[0].sha256 == first.sha256
    store_media(study, "dot.png", png(4, 4), alt="Grey", replaces=True)
    assert current_version(study_id=study.pk).digest != before.digest
    assert f"media/{first.sha256}/dot.png" in client.get(person.get_absolute_url()).content.decode()
    assert client.get(f"{person.get_absolute_url()}media/{first.sha256}/dot.png").content == png()
    assert [one.data for one in media_files(study)] == [png(4, 4)]


def test_raw_markup_shows_no_other_image(client: Client) -> None:
    study = study_with('![](media:dot.png) <img src="https://evil.example/x.png"> ![](media:gone.png)')
    store_media(study, "dot.png", png(), alt="Grey")
    html = client.get(enter(study).get_absolute_url()).content.decode()
    assert "evil.example" not in html and 'src="media:' not in html
    assert any("“gone.png” is not among the study's media" in one.words for one in readiness_problems(study))


def test_a_study_file_brings_the_files_that_are_beside_it(tmp_path: Path) -> None:
    named = f'[[media]]\nname = "notes.txt"\nsha256 = "{NOTES_HASH}"\nalt = "Notes"\n'
    file = tmp_path / "study.toml"
    file.write_text(f'slug = "brought"\ntitle = "Brought"\nstatus = "closed"\n{named}')
    with pytest.raises(DataError, match=r"media/notes.txt is not"):
        study_from_file(file)
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "notes.txt").write_bytes(b"Other notes")
    with pytest.raises(DataError, match="another content"):
        study_from_file(file)
    (tmp_path / "media" / "notes.txt").write_bytes(NOTES)
    assert [(one.name, one.data, one.alt) for one in media_files(study_from_file(file))] == [
        ("notes.txt", NOTES, "Notes")
    ]
