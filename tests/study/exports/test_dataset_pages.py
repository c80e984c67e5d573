"""A dataset is ordered on a page, written by a worker with its progress shown, and downloaded as a ZIP."""

from __future__ import annotations

import io
import os
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from study import tasks
from study.design.models import Study
from study.exports import dataset_pages
from study.participants.stored_datasets import (
    SILENT_SECONDS,
    StoredDataset,
    datasets_of,
    forget_datasets,
    order_dataset,
)
from tests.study.exports.test_exports import downloaded
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db
ORDER = {"form": "steps", "licence": "CC0"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> list[tuple[int, str]]:
    """What workers were asked to write."""
    settings.VAR_DIR = tmp_path
    found: list[tuple[int, str]] = []

    def ask(*task: Any) -> bool:
        found.append(task)
        return True

    monkeypatch.setattr(dataset_pages, "ask_dataset", ask)
    return found


def page(study: Study) -> str:
    return reverse("study:staff-datasets", args=[study.slug])


def test_an_ordered_dataset_is_written_by_a_worker_and_downloaded(
    admin_client: Client, asked: list[tuple[int, str]]
) -> None:
    study = make_study()
    assert admin_client.post(page(study), {"form": "steps"}).status_code == 422
    assert admin_client.post(page(study), ORDER).status_code == 302
    ((_, key),) = asked
    assert "waits for a worker" in admin_client.get(f"{page(study)}?list").content.decode()
    address = reverse("study:dataset-file", args=[study.slug, key])
    assert admin_client.get(address).status_code == 404
    tasks.dataset(study.pk, key)
    tasks.dataset(study.pk, key)
    assert "0 games, 0 steps." in admin_client.get(page(study)).content.decode()
    with zipfile.ZipFile(io.BytesIO(downloaded(admin_client.get(address)))) as archive:
        assert sorted(archive.namelist()) == ["small/LICENCE", "small/README.md"]
    forget_datasets(study.pk)
    assert admin_client.get(address).status_code == 404


def test_a_dataset_whose_worker_died_is_asked_for_again(
    admin_client: Client, asked: list[tuple[int, str]]
) -> None:
    study = make_study()
    made = order_dataset(study.pk, **ORDER, synthetic=False)
    made.note(asked_at=time.time() - 600)
    mark = made.folder / "running"
    for age in (0.0, SILENT_SECONDS + 9):
        mark.touch()
        os.utime(mark, (time.time() - age, time.time() - age))
        with made.claimed() as is_mine:
            assert is_mine == bool(age)
        if not age:
            admin_client.get(f"{page(study)}?list")
        assert len(asked) == 0
    mark.unlink(missing_ok=True)
    for _ in range(2):
        admin_client.get(f"{page(study)}?list")
    assert asked == [(study.pk, made.key)]


def test_only_the_newest_datasets_stay(asked: list[tuple[int, str]]) -> None:
    made = [order_dataset(1, number=number) for number in range(7)]
    for number, each in enumerate(made):
        each.note(asked_at=float(number))
    order_dataset(1, number=7).note(asked_at=7.0)
    assert len(datasets_of(1)) == 5
    assert StoredDataset(1, "nonsense").read() == {}
