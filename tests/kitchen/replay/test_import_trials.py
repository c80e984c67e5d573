"""Games from files become episodes without participants, which replay like others."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from kitchen.contract.recorded_trial import TrialOptions, recording_from_text
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Episode, ImportedEpisode
from kitchen.replay.episode_file import export_episode
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.import_trials import import_file, trial_of_record
from kitchen.replay.step_replay import replay_faults
from tests.kitchen.opened.test_trial_files import written
from tests.kitchen.worlds.overcooked.test_released_trials import final_state, played, table

pytestmark = pytest.mark.django_db


def imported(path: Path, *more: str) -> str:
    out = io.StringIO()
    call_command("import_episodes", path, *more, stdout=out)
    return out.getvalue().splitlines()[-1]


def test_an_imported_game_has_a_whole_log_and_no_participant(tmp_path: Path) -> None:
    trial = played()
    path = written(tmp_path / "games.csv", table(trial))
    assert imported(path) == "1 game imported, 0 known before, 0 refused"
    assert imported(path) == "0 games imported, 1 known before, 0 refused"
    episode = Episode.objects.get()
    assert (episode.imported.trial, episode.imported.people) == ("t1", [True, False])
    assert not episode.rounds.exists()
    (record,) = read_episode_records(Episode.objects.all())
    assert list(replay_faults(record)) == []
    (verdict,) = verify_episode_logs(Episode.objects.all())
    assert verdict.holds and verdict.is_sealed
    assert final_state(trial_of_record(record)) == final_state(trial)
    assert {each.chosen_by for each in record.commands} == {"person", "program"}
    for wrong in (["--forget", "ab"], []):
        with pytest.raises(CommandError) as caught:
            call_command("import_episodes", *wrong)
        assert caught.value.returncode == 2
    out = io.StringIO()
    call_command("import_episodes", "--forget", episode.imported.file_hash[:12], stdout=out)
    assert (out.getvalue(), Episode.objects.count()) == ("1 game erased\n", 0)


def test_an_episode_file_of_this_program_is_imported(tmp_path: Path) -> None:
    list(import_file(written(tmp_path / "games.csv", table(played())), TrialOptions()))
    (record,) = read_episode_records(Episode.objects.all())
    (tmp_path / "episode.json").write_bytes(export_episode(record))
    assert imported(tmp_path / "episode.json") == "1 game imported, 0 known before, 0 refused"
    first, second = ImportedEpisode.objects.order_by("episode").select_related("episode")
    assert first.episode.state_hash == second.episode.state_hash
    assert second.trial == second.file_hash[:12] != first.trial, "not the key of the study's episode"


def test_nothing_of_a_refused_game_is_stored(tmp_path: Path) -> None:
    rows = table(played())
    rows[-1]["state"] = rows[0]["state"]
    with pytest.raises(CommandError, match="0 games imported, 0 known before, 1 refused") as caught:
        imported(written(tmp_path / "games.csv", rows))
    assert caught.value.returncode == 1
    assert not Episode.objects.exists()


@pytest.mark.parametrize("more", [["--preset", "2018"], []])
def test_a_file_that_cannot_be_read_is_named(more: list[str], tmp_path: Path) -> None:
    path = tmp_path / ("games.csv" if more else "missing.csv")
    if more:
        written(path, table(played()))
    with pytest.raises(CommandError) as caught:
        imported(path, *more)
    assert caught.value.returncode == 2


def test_a_recording_of_an_episode_is_printed(tmp_path: Path) -> None:
    list(import_file(written(tmp_path / "games.csv", table(played())), TrialOptions()))
    out = io.StringIO()
    call_command("recording", str(Episode.objects.get().key), stdout=out)
    assert final_state(recording_from_text(out.getvalue())) == final_state(played())
    for key in ("nonsense", "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(CommandError, match="there is no finished episode"):
            call_command("recording", key)
