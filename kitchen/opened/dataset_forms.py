"""Write pieces of a dataset in the forms that other programs read: Minari, a table of steps, Overcooked-AI.

A dataset is written in pieces of some episodes. Each piece is a set of files of its own (in Minari, a folder
for each episode), so that an export that was interrupted goes on with the next piece. A form holds one piece
in memory. Writing a piece twice leaves the same files.
"""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from kitchen.contract.canonical_json import canonical_json
from kitchen.contract.recorded_trial import TrialLabels
from kitchen.contract.world import Json
from kitchen.infra.file_writing import atomic_writer
from kitchen.opened.dataset_episode import (
    NOBODY,
    DatasetEpisode,
    EncodedEpisode,
    encode_episode,
    episode_facts,
    in_groups,
)
from kitchen.registry.world_registry import trial_formats

INSTALL = "it needs packages that are not installed; the command make open installs them"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Starts of texts that a spreadsheet would run. They get an apostrophe in front."""


class FormError(Exception):
    """Raised if a form cannot be written here, or cannot hold an episode. The message is one line."""


@dataclass(slots=True)
class Progress:
    """What a form remembers from one piece to the next: JSON, stored with the state of the export."""

    facts: dict[str, Any] = field(default_factory=dict)


class DatasetForm(ABC):
    """One form of datasets."""

    name: ClassVar[str]
    meaning: ClassVar[str]
    """The purpose of the form, as pages show it."""

    def why_not(self) -> str:
        """Return why this form cannot be written here; empty if it can."""
        return ""

    def unfit(self, world: str) -> str:
        """Return why episodes of this world do not fit into the form; empty if they do."""
        return ""

    @abstractmethod
    def write(
        self, folder: Path, name: str, piece: int, episodes: Sequence[DatasetEpisode], progress: Progress
    ) -> dict[int, str]:
        """Write one piece, and return why episodes were left out, by their numbers. `name` is the dataset's
        name; `piece` is its number from 0."""

    def finish(self, folder: Path, name: str, progress: Progress) -> None:
        """Complete the dataset after its last piece. By default there is nothing to do."""
        return

    def notes(self) -> Sequence[str]:
        """Return lines for readers of the dataset: how to open it."""
        return ()


def _encoded(episodes: Sequence[DatasetEpisode]) -> tuple[list[EncodedEpisode], dict[int, str]]:
    from kitchen.contract.encoding import EncodingError
    from kitchen.contract.world_errors import WorldError

    found, left_out = [], dict[int, str]()
    for each in episodes:
        try:
            found.append(encode_episode(each))
        except (EncodingError, WorldError) as error:
            left_out[each.number] = f"episode {each.number}: {error}"
    return found, left_out


class MinariForm(DatasetForm):
    """Datasets of Minari, the standard of the Farama Foundation: a dataset for each world, encoding and
    shape. Minari has no agents, so observations and actions are tables over seats."""

    name: ClassVar[str] = "minari"
    meaning: ClassVar[str] = "Minari (Arrow), for offline learning in Python"

    def why_not(self) -> str:
        """Return why Minari is not there; empty if it is."""
        return "" if find_spec("minari") and find_spec("gymnasium") else INSTALL

    def write(
        self, folder: Path, name: str, piece: int, episodes: Sequence[DatasetEpisode], progress: Progress
    ) -> dict[int, str]:
        """Add the episodes to their datasets, `brigade/<world>/<name>-v<n>` under `folder`."""
        encoded, left_out = _encoded(episodes)
        known = progress.facts.setdefault("datasets", [])
        for group, some in in_groups(encoded):
            key = canonical_json(group)
            entry = next((each for each in known if each["group"] == key), None)
            if entry is None:
                number = sum(each["world"] == group[0] for each in known)
                entry = {"group": key, "world": group[0], "number": number, "episodes": 0, "steps": 0}
                known.append(entry)
            _write_minari(folder, f"brigade/{group[0]}/{name}-v{entry['number']}", some, entry)
            entry["episodes"] += len(some)
            entry["steps"] += sum(each.steps for each in some)
        return left_out

    def finish(self, folder: Path, name: str, progress: Progress) -> None:
        """Store each dataset's size, which is counted only once."""
        from minari.dataset.minari_storage import MinariStorage

        for entry in progress.facts.get("datasets", ()):
            storage = MinariStorage.read(_minari_folder(folder, name, entry))
            storage.update_metadata({"dataset_size": float(storage.get_size())})

    def notes(self) -> Sequence[str]:
        """Return how to load the datasets."""
        return (
            "Set `MINARI_DATASETS_PATH` to this folder, and open a dataset with "
            "`minari.load_dataset('brigade/<world>/<name>-v0')`. There is one for each world, encoding and "
            "shape. Observations and actions are tables over `seat_0`, `seat_1` and so on.",
        )


def _minari_folder(folder: Path, name: str, entry: Mapping[str, Any]) -> Path:
    return folder.joinpath("brigade", str(entry["world"]), f"{name}-v{entry['number']}", "data")


def _write_minari(
    folder: Path, dataset_id: str, episodes: Sequence[EncodedEpisode], entry: Mapping[str, Any]
) -> None:
    from minari import __version__
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import METADATA_FILE_NAME, MinariStorage

    data, first = folder / dataset_id / "data", episodes[0]
    data.mkdir(parents=True, exist_ok=True)
    if (data / METADATA_FILE_NAME).exists():
        storage = MinariStorage.read(data)
    else:
        storage = MinariStorage.new(
            data, *_minari_spaces(first), data_format="arrow", jpeg_encoding=False
        )  # images would be stored as JPEG, which changes them
        storage.update_metadata(
            {
                "dataset_id": dataset_id,
                "minari_version": __version__,
                "description": f"Games of {entry['world']}, encoded as {first.encoding.name}.",
                "brigade_encoding": first.encoding.name,
                "brigade_world": first.episode.trial.world,
            }
        )
    storage.update_metadata({"total_episodes": entry["episodes"], "total_steps": entry["steps"]})
    size = storage.get_size
    storage.get_size = lambda: 0.0  # it reads every file for every episode
    for number, each in enumerate(episodes, entry["episodes"]):
        ends = [False] * (each.steps - 1) + [True]
        none = [False] * each.steps
        infos = {f"reward_seat_{seat}": _padded(row) for seat, row in each.seat_rewards.items()}
        buffer = EpisodeBuffer(
            id=number,
            seed=each.episode.trial.seed,
            observations={f"seat_{seat}": rows for seat, rows in each.observations.items()},
            actions={f"seat_{seat}": row for seat, row in each.actions.items()},
            rewards=list(map(float, each.rewards)),
            terminations=none if each.is_truncated else ends,
            truncations=ends if each.is_truncated else none,
            infos=infos,
        )
        storage.update_episodes([buffer])
        facts = episode_facts(each.episode)
        facts |= {"settings": canonical_json(facts["settings"]), "score": canonical_json(facts["score"])}
        storage.update_episode_metadata([facts], [number])
    storage.get_size = size


def _padded(row: Any) -> Any:
    import numpy

    return numpy.concatenate([row, [0.0]])


def _minari_spaces(episode: EncodedEpisode) -> tuple[Any, Any]:
    from gymnasium import spaces

    seats = [f"seat_{seat}" for seat in episode.observations]
    dtype: Any = episode.observations[0].dtype.type
    box: dict[str, spaces.Space[Any]] = {
        seat: spaces.Box(0, episode.encoding.largest, episode.shape, dtype) for seat in seats
    }
    return spaces.Dict(box), spaces.Dict({seat: spaces.Discrete(episode.actions_possible) for seat in seats})


class StepsForm(DatasetForm):
    """A table with a row for each step (Parquet), like RLDS, without TensorFlow."""

    name: ClassVar[str] = "steps"
    meaning: ClassVar[str] = "A row for each step (Parquet), for pandas, polars or R"

    def write(
        self, folder: Path, name: str, piece: int, episodes: Sequence[DatasetEpisode], progress: Progress
    ) -> dict[int, str]:
        """Write one table for each world, encoding and shape of the piece."""
        import pyarrow.parquet as pq

        encoded, left_out = _encoded(episodes)
        for (world, encoding, shape, seats), some in in_groups(encoded):
            kind = f"{world}-{encoding.replace('/', '_v')}-{'x'.join(map(str, shape))}-{seats}"
            path = folder / "steps" / kind / f"{name}-{piece:05d}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_writer(path) as out:
                pq.write_table(_steps_table(some), out, compression="zstd")
        return left_out

    def notes(self) -> Sequence[str]:
        """Return how to read observations."""
        return (
            "Each folder in `steps/` is one table in pieces. An episode with T steps has T + 1 rows; the "
            "last one has no action. Observations are bytes: `numpy.frombuffer(cell, dtype).reshape(shape)`, "
            "with `observation_dtype` and `observation_shape` of the schema's metadata. Its `episodes` has "
            "the settings and seeds.",
        )


def _steps_table(episodes: Sequence[EncodedEpisode]) -> Any:
    import pyarrow as pa

    seats = list(episodes[0].observations)
    rows: dict[str, list[Any]] = {}
    for each in episodes:
        for name, values in _columns(each, seats).items():
            rows.setdefault(name, []).extend(values)
    types: dict[str, Any] = {
        "episode": pa.int64(),
        "step": pa.int32(),
        **dict.fromkeys(("is_first", "is_last", "is_terminal", "synthetic"), pa.bool_()),
        **dict.fromkeys(("reward", "discount"), pa.float64()),
        **{name: pa.binary() for name in rows if name.startswith("observation_")},
        **{name: pa.int32() for name in rows if name.startswith("action_")},
    }
    first = episodes[0]
    about = {
        "observation_dtype": str(first.encoding.dtype),
        "observation_shape": json.dumps(list(first.shape)),
        "encoding": first.encoding.name,
        "world": first.episode.trial.world,
        "actions": str(first.actions_possible),
        "episodes": json.dumps([episode_facts(each.episode) for each in episodes], sort_keys=True),
    }
    fields = [pa.field(name, types.get(name, pa.string())) for name in rows]
    return pa.table(rows, schema=pa.schema(fields, metadata=about))


def _columns(each: EncodedEpisode, seats: Sequence[int]) -> dict[str, list[Any]]:
    """Return the columns of one episode: T + 1 rows. Actions and commands of the last row are empty."""
    length, episode = each.steps, each.episode
    last = [False] * length + [True]
    ends = [False] * (length + 1) if each.is_truncated else last
    turns = [dict(turn) for turn in episode.trial.turns]
    chosen = episode.chosen_by or [{} for _ in range(length)]
    columns: dict[str, list[Any]] = {
        "episode": [episode.number] * (length + 1),
        "step": list(range(length + 1)),
        "is_first": [number == 0 for number in range(length + 1)],
        "is_last": last,
        "is_terminal": ends,
        "reward": [*map(float, each.rewards), 0.0],
        "discount": [0.0 if end else 1.0 for end in ends],
        "command": [json.dumps([[seat, list(one)] for seat, one in turn.items()]) for turn in turns] + [None],
        "synthetic": [episode.synthetic] * (length + 1),
    }
    for seat in seats:
        columns[f"observation_seat_{seat}"] = [row.tobytes() for row in each.observations[seat]]
        columns[f"action_seat_{seat}"] = [*map(int, each.actions[seat]), None]
        columns[f"chosen_by_seat_{seat}"] = [*(step.get(seat, NOBODY) for step in chosen), None]
        columns[f"played_by_seat_{seat}"] = [episode.played_by[seat]] * (length + 1)
    return columns


class TrialsForm(DatasetForm):
    """The published form of a world's own games: for the grids, that of Overcooked-AI."""

    def __init__(self, name: str) -> None:
        self.called = name

    name: ClassVar[str] = "overcooked_ai"
    meaning: ClassVar[str] = "The forms of Overcooked-AI (CSV and JSON), only for its grids"

    def unfit(self, world: str) -> str:
        """Return why episodes of this world do not fit; empty if they do."""
        form = trial_formats().get(world)
        return "" if form and form.name == self.called else f"{world} has no form {self.called}"

    def write(
        self, folder: Path, name: str, piece: int, episodes: Sequence[DatasetEpisode], progress: Progress
    ) -> dict[int, str]:
        """Write the piece as one CSV file and one JSON file."""
        (folder / self.called).mkdir(parents=True, exist_ok=True)
        path = folder / self.called / f"{name}-{piece:05d}"
        formats = trial_formats()
        with atomic_writer(path.with_suffix(".csv")) as out:
            writer = csv.writer(_TextOut(out.write), lineterminator="\r\n")
            for number, each in enumerate(episodes):
                form = formats[each.trial.world]
                if not number:
                    writer.writerow(form.columns)
                for row in form.rows(each.trial, _labels(each)):
                    writer.writerow([harmless(cell) for cell in row])
        for number, some in enumerate(_some_steps(episodes)):
            lists: dict[str, list[Json]] = {}
            for each in some:
                for key, value in formats[each.trial.world].episode(each.trial, _labels(each)).items():
                    lists.setdefault(key, []).append(value)
            with atomic_writer(path.with_name(f"{path.name}-{number}.json")) as out:
                out.write(json.dumps(lists).encode())
        return {}

    def notes(self) -> Sequence[str]:
        """Return what the rows are."""
        return (
            "Row k of a CSV file has the state before joint action k. The last row of a game has its last "
            "state and no action (`[[0, 0], [0, 0]]`). Times are those of ticks, not of a clock. A JSON file "
            "is an object of lists over episodes, with a state for each action.",
        )


STEPS_IN_OBJECT = 5_000
"""Steps of the games in one JSON file, or those of one game, so that the import can read it."""


def _some_steps(episodes: Sequence[DatasetEpisode]) -> Iterator[list[DatasetEpisode]]:
    some, steps = list[DatasetEpisode](), 0
    for each in episodes:
        length = len(each.trial.turns)
        if some and steps + length > STEPS_IN_OBJECT:
            yield some
            some, steps = [], 0
        some.append(each)
        steps += length
    yield from [some] if some else []


@dataclass(slots=True)
class _TextOut:
    """A file for texts over one for bytes."""

    put: Callable[[bytes], Any]

    def write(self, text: str) -> None:
        self.put(text.encode())


def harmless(cell: Json) -> Json:
    """Return a cell of CSV. A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell


def _labels(episode: DatasetEpisode) -> TrialLabels:
    people = [chosen.startswith("p") and chosen[1:].isdecimal() for chosen in episode.played_by]
    return TrialLabels(f"e{episode.number}", list(episode.played_by), people)


FORMS: Mapping[str, DatasetForm] = {
    form.name: form for form in (MinariForm(), StepsForm(), TrialsForm("overcooked_ai"))
}
"""Every form by its name."""


def get_form(name: str) -> DatasetForm:
    """Return the form with this name. Raises FormError if it is unknown or cannot be written here."""
    form = FORMS.get(name)
    if form is None:
        raise FormError(f"{name}: no such form; there are {', '.join(FORMS)}")
    if why := form.why_not():
        raise FormError(f"{name}: {why}")
    return form
