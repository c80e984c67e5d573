"""Researchers upload, describe, insert and delete the media files of a study."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from study.design.blueprint import blueprint_of
from study.design.models import OwnPage, StudyMedia
from study.editor.design_services import study_copy
from tests.study.factories import make_study
from tests.study.media_samples import png

MEDIA = "/staff/small/design/media/"


def test_the_library_takes_shows_and_deletes_files(admin_client: Client, admin_user: Any) -> None:
    study = make_study(conditions=1)

    def upload(name: str, data: bytes, **more: str) -> tuple[int, str]:
        sent = {"file": SimpleUploadedFile(name, data), **more}
        answer = admin_client.post(MEDIA, sent)
        return answer.status_code, answer.content.decode()

    assert upload("dot.png", png())[0] == 422, "an image needs a description"
    assert upload("dot.png", png(), alt="Grey")[0] == 302
    assert "already has" in upload("dot.png", png(3, 3), alt="Grey")[1]
    assert "SVG" in upload("dot.svg", b"<svg/>", alt="Grey")[1]
    assert "at most 5 MiB" in upload("big.png", bytes(6 * 2**20), alt="Big")[1]
    row = StudyMedia.objects.get()
    form = admin_client.get("/staff/small/design/flow/new/").content.decode()
    assert 'data-insert="![Grey](media:dot.png)"' in form
    sent = {"_preview": "1", "text": "![](media:dot.png)"}
    preview = admin_client.post("/staff/small/design/flow/new/", sent).content.decode()
    assert f'src="{MEDIA}files/{row.sha256}/dot.png" alt="Grey"' in preview
    page = OwnPage.objects.create(
        study=study, key="a", before="end", title="Hello", text="![](media:dot.png)"
    )
    assert "Used in: page “Hello”" in admin_client.get(MEDIA).content.decode()
    admin_client.post(f"{MEDIA}{row.pk}/delete/", {"sure": "on"})
    assert StudyMedia.objects.exists(), "not while a page shows it"
    copy = study_copy(study, owner=admin_user)
    assert blueprint_of(copy).media == blueprint_of(study).media
    page.delete()
    admin_client.post(f"{MEDIA}{row.pk}/delete/", {"sure": "on"})
    assert not study.media.exists()
