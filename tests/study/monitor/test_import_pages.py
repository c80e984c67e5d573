"""Games are imported on a page, refused ones are told, and imported ones replay there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from kitchen.contract.recorded_trial import TrialOptions, recording_from_text
from kitchen.play.models import Episode
from kitchen.replay.episode_content import EpisodeFileError
from kitchen.replay.import_trials import import_file
from study.design.models import Condition
from study.editor.recording_choice import CHOSEN
from study.monitor import import_pages, replay_page
from tests.kitchen.opened.test_trial_files import written
from tests.kitchen.worlds.overcooked.test_released_trials import final_state, played, table
from tests.study.editor.test_condition_and_item_forms import change, save
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process."""
    from contextlib import nullcontext

    from brigade import middleware

    monkeypatch.setattr(middleware, "reading_in_pool", nullcontext)


def send(client: Client, path: Path, **more: str) -> Any:
    with path.open("rb") as file:
        return client.post(reverse("study:imports"), {"file": file, **more})


def test_a_file_is_imported_and_its_game_is_replayed(admin_client: Client, tmp_path: Path) -> None:
    rows = table(played())
    wrong = [{**row, "trial_id": "<b>", "reward": "9"} for row in rows]
    answer = send(admin_client, written(tmp_path / "games.csv", [*rows, *wrong]))
    text = answer.content.decode()
    assert "&lt;b&gt;:</strong> row 0: the reward is 9 in the file, and 0 here" in text
    episode = Episode.objects.get()
    page = admin_client.get(reverse("study:imported-replay", args=[episode.key]), {"step": "45"})
    assert "Imported from games.csv, game t1" in page.content.decode()
    assert "45 of 45" in page.content.decode()
    assert "(a person)" not in page.content.decode(), "a program may have played"


def test_an_imported_game_is_replayed_and_drawn_within_limits_in_another_process(
    admin_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here all of that is made to fail in this process; then the other one is out of time."""
    list(import_file(written(tmp_path / "games.csv", table(played())), TrialOptions()))
    asked: list[tuple[object, ...]] = []

    def replay(*call: object) -> None:
        asked.append((call[0], call[2]))
        raise EpisodeFileError("it takes longer than 1 s")

    for name in ("replay_context", "frame_after", "frame_of_file_after"):
        monkeypatch.setattr(replay_page, name, None)
    monkeypatch.setattr(import_pages, "replay_content", replay)
    address = reverse("study:imported-replay", args=[Episode.objects.get().key])
    page = admin_client.get(address, {"step": "45"})
    assert asked == [(replay_page.IMPORTED_CONTEXT, {"step": "45"})] and page.status_code == 422
    assert "This game was not replayed: it takes longer than 1 s." in page.content.decode()


def test_a_file_of_another_form_is_refused_in_words(admin_client: Client, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n")
    answer = send(admin_client, tmp_path / "a.csv")
    assert answer.status_code == 422
    assert "This file was not read: it has no column state." in answer.content.decode()
    assert send(admin_client, tmp_path / "a.csv", value="much").context["form"].errors.keys() == {"value"}


def test_a_condition_stores_the_imported_game_that_was_chosen(admin_client: Client, tmp_path: Path) -> None:
    trial = played()
    list(import_file(written(tmp_path / "games.csv", table(trial)), TrialOptions()))
    row = make_study(conditions=1).conditions.get()
    world = {"layout": "cramped_room", "cooking": "auto", "ticks": 400}
    Condition.objects.filter(pk=row.pk).update(
        world="overcooked", settings=world, coplayer="recorded", teammates=1
    )
    name, key = "coplayer__recorded__recording", Episode.objects.get().pk
    assert "games.csv, t1: 45 steps" in admin_client.get(change(row)).content.decode()
    assert save(admin_client, change(row), **{CHOSEN.format(name=name): str(key)}).status_code == 302
    row.refresh_from_db()
    assert final_state(recording_from_text(row.coplayer_settings["recording"])) == final_state(trial)


def test_only_superusers_delete_the_games_of_a_file_and_only_with_the_box_ticked(
    admin_client: Client, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        rows = [{**row, "trial_id": name} for row in table(played())]
        list(import_file(written(tmp_path / f"{name}.csv", rows), TrialOptions()))
    first, other = (each.imported for each in Episode.objects.order_by("pk"))
    page, asked = reverse("study:imports"), {"delete": first.file_hash}
    colleague = Client()
    colleague.force_login(User.objects.create_user("ben", is_staff=True))
    assert colleague.post(page, {**asked, "sure": "on"}).status_code == 403
    assert "Delete" not in colleague.get(page).content.decode()
    for wrong in (asked, {"delete": "", "sure": "on"}, {"delete": first.file_hash[:12], "sure": "on"}):
        admin_client.post(page, wrong)
    assert Episode.objects.count() == 2
    admin_client.post(page, {**asked, "sure": "on"})
    assert [each.imported for each in Episode.objects.all()] == [other]
