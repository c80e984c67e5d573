"""Finished games become datasets: arrays equal to the replay, no codes, resumed after an interruption."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
from django.core.management import CommandError, call_command

from kitchen.contract.recorded_trial import TrialOptions
from kitchen.infra.append_only import erasure_allowed
from kitchen.opened import dataset_forms
from kitchen.opened.trial_files import read_trial_file
from kitchen.play.models import Episode, ImportedEpisode, Step
from kitchen.registry.world_registry import get_encoding, get_world
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.import_trials import store_trial, trial_of_record
from study.design.models import Study
from study.exports import dataset_export
from study.exports.dataset_export import DatasetError, DatasetRequest, export_dataset
from study.participants.models import Participant, Round
from tests.conftest import Once
from tests.kitchen.worlds.overcooked.test_released_trials import final_state, played
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db
GAMES = ({"layout": "coordination_ring"}, {"layout": "cramped_room_tomato", "cooking": "interact"})


@pytest.fixture(scope="module")
def made(once: Once) -> int:
    """A study of two people and one program with a finished game each."""
    with once():
        found = make_study(conditions=1)
        for number, settings in enumerate((*GAMES, GAMES[0])):
            person = enter(found, f"entry-{number}", synthetic=number == 2)
            game = store_trial(played(**settings), name=str(number), file_hash="", file_name="")
            ImportedEpisode.objects.all().delete()
            Episode.objects.filter(pk=game.pk).update(synthetic=person.synthetic)
            Round.objects.filter(participant=person).update(episode=game)
    return found.pk


@pytest.fixture
def study(made: int) -> Study:
    return Study.objects.get(pk=made)


def exported(study: Study, folder: Path, form: str, **more: Any) -> Path:
    export_dataset(DatasetRequest(form, "CC BY 4.0", study, **more), folder)
    return folder


def replayed(episode: Episode) -> tuple[Mapping[int, Any], Sequence[float]]:
    """The arrays of an episode's replay: observations by seat, and points gained."""
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    trial, encoding = trial_of_record(record), get_encoding("overcooked")
    world = get_world("overcooked").create(seats=2, settings=trial.settings)
    world.reset(trial.seed)
    seen: dict[int, list[Any]] = {0: [], 1: []}
    points = [0]
    for turn in [*trial.turns, None]:
        for seat, arrays in seen.items():
            arrays.append(encoding.encode(world.brief(seat), world.observe(seat), seat))
        if turn:
            world.step(turn)
            points.append(world.score()["points"])
    return {seat: numpy.array(arrays) for seat, arrays in seen.items()}, list(numpy.diff(points))


def by_settings(settings: Mapping[str, Any]) -> Episode:
    return next(each for each in Episode.objects.filter(synthetic=False) if each.settings == settings)


def test_minari_datasets_hold_the_arrays_of_the_replay(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(exported(study, tmp_path / "out", "minari")))
    names = {f"brigade/overcooked/small-v{number}" for number in range(2)}
    found = [minari.load_dataset(name) for name in sorted(names)]
    assert [each.total_episodes for each in found] == [1, 1]
    both = [
        (episode, about)
        for each in found
        for episode, about in zip(
            each, each.storage.get_episode_metadata(range(each.total_episodes)), strict=True
        )
    ]
    for episode, about in both:
        seen, gained = replayed(by_settings(json.loads(about["settings"])))
        for seat in (0, 1):
            assert (episode.observations[f"seat_{seat}"] == seen[seat]).all()
            assert episode.observations[f"seat_{seat}"].dtype == seen[seat].dtype
        assert list(episode.rewards) == gained
        assert episode.truncations[-1]
        assert not episode.terminations.any()
        assert about["synthetic"] is False


def test_a_table_of_steps_has_a_row_more_than_steps_and_leads_to_nobody(study: Study, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    out = exported(study, tmp_path / "out", "steps", synthetic=True)
    tables = [pq.read_table(path) for path in sorted(out.glob("steps/*/*.parquet"))]
    assert sum(each.num_rows for each in tables) == 3 * 46
    players = {cell for each in tables for cell in each["played_by_seat_0"].to_pylist()}
    assert players == {"p1", "p2", "p3"}
    for each in tables:
        rows, about = each.to_pylist(), each.schema.metadata
        facts = {one["brigade_episode"]: one for one in json.loads(about[b"episodes"])}
        shape = json.loads(about[b"observation_shape"])
        for row in rows:
            assert (row["action_seat_0"] is None) == (row["command"] is None) == row["is_last"]
            assert row["synthetic"] == facts[row["episode"]]["synthetic"]
            one = numpy.frombuffer(row["observation_seat_1"], about[b"observation_dtype"].decode())
            assert one.reshape(shape).shape == tuple(shape)
    content = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert not [each for each in Participant.objects.all() if each.code.encode() in content]
    assert {path.name for path in out.iterdir()} == {"LICENCE", "README.md", "steps"}
    assert (out / "LICENCE").read_text() == "CC BY 4.0\n"


def test_an_interrupted_export_goes_on_and_its_games_are_imported_as_the_same(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_export, "PIECE", 1)
    request, begun, more = DatasetRequest("overcooked_ai", "CC0", study), list[int](), list[int]()

    def stop(done: int, total: int) -> None:
        begun.append(done)
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_dataset(request, tmp_path / "out", stop)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "overcooked_ai").iterdir()}
    with pytest.raises(DatasetError, match="unfinished export of something else"):
        export_dataset(DatasetRequest("steps", "CC0", study), tmp_path / "out")
    state = export_dataset(request, tmp_path / "out", lambda done, total: more.append(done))
    assert (begun, more, state.exported) == ([0, 1], [1, 2], 2)
    assert all(path.stat().st_mtime_ns == at for path, at in before.items())
    ours = [trial_of_record(each) for each in read_episode_records(Episode.objects.filter(synthetic=False))]
    for form in ("csv", "json"):
        files = sorted((tmp_path / "out").glob(f"overcooked_ai/*.{form}"))
        found = [each.found for path in files for each in read_trial_file(path, TrialOptions())]
        states = [final_state(trial) for trial in found if trial]
        assert len(states) == 2
        assert all(final_state(trial) in states for trial in ours)


def test_games_of_other_replays_and_of_people_who_left_are_left_out(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = Episode.objects.filter(synthetic=False).first()
    assert game
    with erasure_allowed():
        Step.objects.filter(episode=game, number=7).delete()
    out = io.StringIO()
    arguments = (study.slug, "--form", "steps", "--out", tmp_path / "out", "--licence", "CC0")
    call_command("export_datasets", *arguments, stdout=out, stderr=io.StringIO())
    assert out.getvalue().splitlines() == [
        "left out: 1 (its replay does not agree with its log)",
        f"1 game, 45 steps in {tmp_path / 'out'}",
    ]
    monkeypatch.setattr(dataset_export, "_there", lambda owners: len(owners) - 1)
    with pytest.raises(DatasetError, match="somebody's data were erased"):
        exported(study, tmp_path / "again", "steps")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--imported", "--licence", " "), "choose a licence"),
        (("--licence", "CC0"), "name a study, or give --imported"),
        (("--licence", "CC0", "--imported", "--form", "minari"), "minari: it needs packages .*make open"),
        (("none", "--licence", "CC0"), "there is no study"),
    ],
)
def test_a_wrong_order_is_refused(
    tmp_path: Path, more: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_forms, "find_spec", lambda name: None)
    with pytest.raises(CommandError, match=words) as caught:
        call_command("export_datasets", "--form", "steps", *more, "--out", tmp_path / "out")
    assert caught.value.returncode == 2
