"""Large exports are made by workers, stored, and sent again while the data are the same."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.test import Client
from django.utils import timezone

from kitchen.infra.append_only import erasure_allowed
from kitchen.play.models import Episode, ProbeAnswer, SliderRating
from study import tasks
from study.design.models import Study
from study.exports import exports_by_worker
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.exports.export_table import EVERYBODY, ExportSelection
from study.exports.exports_by_worker import ExportLostError, export_key, export_pieces
from study.participants import stored_exports
from study.participants.annotations import Annotation, AnnotationCode, EpisodeRating, Rater
from study.participants.end_and_erase_participation import erase_names, participant_withdraw
from study.participants.models import Answer, Participant
from study.participants.sound_recordings import SoundTake
from study.participants.stored_exports import StoredExport, folder, forget_exports, remove_old_exports
from study.participation.page_progress import finish_page
from tests.conftest import Once
from tests.study.exports.test_exports import downloaded
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def played(once: Once) -> int:
    with once():
        study = make_study()
        complete(study, "one")
        complete(study, "two", synthetic=True)
    return study.pk


class Worker:
    """The worker of exports: what it was asked, and what it does then."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.begins = self.is_there = True

    def ask(self, study_id: int, name: str, left_out: str, key: str, expires: float) -> bool:
        """Take the task in place of the broker, and do it at once."""
        self.asked.append(name)
        if self.is_there and self.begins:
            tasks.export(study_id, name, left_out, key)
        return self.is_there


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Worker:
    settings.VAR_DIR = tmp_path
    found = Worker()
    monkeypatch.setattr(exports_by_worker, "ask_export", found.ask)
    monkeypatch.setattr(exports_by_worker, "HEAVY_STEPS", 1)
    monkeypatch.setattr(exports_by_worker, "BEGIN_SECONDS", 0.02)
    monkeypatch.setattr(exports_by_worker, "LOOK_SECONDS", 0.01)
    return found


@pytest.fixture
def study(played: int) -> Study:
    return Study.objects.get(pk=played)


def stored(study: Study) -> list[Path]:
    return sorted(path for path in folder(study.pk).glob("*"))


def test_a_download_is_made_once_by_a_worker_and_is_the_exported_file(
    study: Study, worker: Worker, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = b"".join(csv_pieces(get_table("commands"), study))
    for _ in range(2):
        response = admin_client.get("/staff/small/data/commands.csv")
        assert response["Content-Disposition"] == 'attachment; filename="small_commands.csv"'
        assert downloaded(response) == expected
    assert worker.asked == ["commands.csv"]
    monkeypatch.setattr("study.exports.export_files.tables", lambda: [get_table("steps")])
    response = admin_client.get("/staff/small/data/all_csv.zip?without=synthetic")
    assert response["Content-Disposition"] == 'attachment; filename="small_csv.zip"'
    assert downloaded(response)[:2] == b"PK"
    assert len(stored(study)) == 2 and all(path.suffix == "" for path in stored(study))
    assert admin_client.get("/staff/small/data/secrets.zip").status_code == 404


def test_a_small_study_asks_no_worker(
    study: Study, worker: Worker, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports_by_worker, "HEAVY_STEPS", 2000)
    assert downloaded(admin_client.get("/staff/small/data/steps.csv"))
    assert (worker.asked, stored(study)) == ([], [])


@pytest.mark.parametrize(("is_there", "begins"), [(False, False), (True, False)])
def test_without_a_worker_the_request_makes_the_file(
    study: Study, worker: Worker, admin_client: Client, is_there: bool, begins: bool
) -> None:
    worker.is_there, worker.begins = is_there, begins
    assert downloaded(admin_client.get("/staff/small/data/steps.csv")).count(b"\n") > 4
    assert (worker.asked, stored(study)) == (["steps.csv"], [])


def test_a_worker_that_died_is_not_waited_for(
    study: Study, worker: Worker, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = StoredExport(study.pk, "steps.csv", (), export_key(study, "steps.csv", EVERYBODY))
    folder(study.pk).mkdir(parents=True)
    wanted.part.touch()
    lives = iter([True] * 4)
    monkeypatch.setattr(StoredExport, "is_being_made", lambda _: next(lives, False))
    assert downloaded(admin_client.get("/staff/small/data/steps.csv")).count(b"\n") > 4
    assert worker.asked == []


def test_a_file_is_sent_while_it_grows(study: Study, worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no web server in front gives up. It is cut if its worker dies in the middle."""
    monkeypatch.setattr(exports_by_worker, "ask_export", lambda *_, **__: True)
    wanted = StoredExport(study.pk, "all.zip", (), export_key(study, "all.zip", EVERYBODY))
    folder(study.pk).mkdir(parents=True)

    async def sent(*, dies: bool) -> list[bytes]:
        wanted.part.write_bytes(b"one")
        pieces = aiter(await sync_to_async(export_pieces)(study, "all.zip", EVERYBODY, lambda: iter([])))
        found = [await anext(pieces)]
        with wanted.part.open("ab") as out:
            out.write(b"two")
        found.append(await anext(pieces))
        if not dies:
            wanted.part.chmod(stored_exports.COMPLETE)
        wanted.part.unlink()  # when it is old: it is read to its end
        return [*found, *[piece async for piece in pieces]]

    with pytest.raises(ExportLostError):
        async_to_sync(sent)(dies=True)
    assert async_to_sync(sent)(dies=False) == [b"one", b"two"]


def test_other_data_are_made_anew(study: Study, worker: Worker) -> None:
    def key(*without: str, name: str = "all.zip") -> str:
        return export_key(Study.objects.get(pk=study.pk), name, ExportSelection.without(without))

    keys = [key(), key("synthetic"), key(name="steps.csv")]
    assert key() == keys[0], "nothing changed"
    Participant.objects.filter(synthetic=True).update(excluded_at=timezone.now())
    keys.append(key())
    person = enter(study, "three")
    keys.append(key())
    finish_page(participant_id=person.pk, page="guide")
    keys.append(key())
    Study.objects.update(title="Another title")
    keys.append(key())
    with erasure_allowed():
        Answer.objects.filter(participant__synthetic=True).delete()
    keys.append(key())
    assert len(set(keys)) == len(keys)


def test_what_is_added_to_episodes_makes_the_files_anew(study: Study) -> None:
    person = study.participants.filter(synthetic=False)[0]
    episode, now = Episode.objects.filter(rounds__participant=person)[0], timezone.now()
    of_seat = {"episode": episode, "step": 1, "seat": 0}
    rater = Rater.objects.create(study=study, user_name="ada", number=1)
    code = AnnotationCode.objects.create(study=study, name="helps", key="h")
    rating = EpisodeRating.objects.create(rater=rater, episode=episode)
    takes = SoundTake.objects.filter(participant=person)
    changes: list[Callable[[], Any]] = [
        lambda: ProbeAnswer.objects.create(**of_seat, probe="trust", asked_at=now, answered_at=now),
        lambda: SliderRating.objects.create(**of_seat, value=3),
        lambda: takes.create(participant=person, episode=episode, key="a", number=1, kind="webm"),
        lambda: takes.update(pieces=1, size=9, milliseconds=5),
        lambda: takes.update(transcript=[[0, 1, "Now"]]),
        lambda: takes.update(transcript=[[0, 1, "Now rice"]]),
        lambda: Annotation.objects.create(rating=rating, code=code, first=1, last=1),
        lambda: Annotation.objects.update(note="quickly"),
        lambda: EpisodeRating.objects.update(done_at=now),
        lambda: Rater.objects.update(released_at=now),
    ]
    keys = [export_key(study, "all.zip", EVERYBODY)]
    for change in changes:
        change()
        keys.append(export_key(study, "all.zip", EVERYBODY))
    assert len(set(keys)) == len(keys)


def test_what_is_stored_goes_with_the_data_of_a_person(
    study: Study, worker: Worker, admin_client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    downloaded(admin_client.get("/staff/small/data/steps.csv"))
    assert stored(study)
    with django_capture_on_commit_callbacks(execute=True):
        erase_names(study.participants.values_list("pk", flat=True))
    assert not stored(study)
    downloaded(admin_client.get("/staff/small/data/steps.csv"))
    assert stored(study)
    with django_capture_on_commit_callbacks(execute=True):
        participant_withdraw(participant_id=study.participants.filter(synthetic=False)[0].pk)
    assert not stored(study)


@pytest.mark.parametrize("is_told", [True, False])
def test_a_file_with_data_that_were_erased_meanwhile_is_not_stored(
    study: Study, worker: Worker, is_told: bool
) -> None:
    """Whether the folder was deleted before or after the last piece was written."""
    wanted = StoredExport(study.pk, "all.zip", (), "key")

    def pieces() -> Any:
        yield b"all of"
        participant_withdraw(participant_id=study.participants.filter(synthetic=False)[0].pk)
        if is_told:
            forget_exports(study.pk)
        yield b"them"

    stored_exports.make_export(wanted, pieces)
    assert not stored(study)


def test_old_files_and_too_many_are_deleted(
    study: Study, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_exports, "MOST_FILES", 3)
    folder(study.pk).mkdir(parents=True)
    for number in range(5):
        (path := folder(study.pk) / str(number)).touch()
        age = 700 if number == 4 else number
        os.utime(path, (time.time() - age,) * 2)
    remove_old_exports()
    assert [path.name for path in stored(study)] == ["0", "1", "2"]
