"""Export the finished games of a study, or imported games, as a dataset for programs that learn.

Only games whose replay agrees with their log are exported. People are `p1`, `p2` and so on, in an order that
is drawn anew for each export; there is no code and no time of day. The dataset is written in pieces, and a
state file names the pieces that are complete. So an interrupted export goes on where it was, and memory does
not grow with the number of games.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kitchen.contract.world import Json, text_hash
from kitchen.infra.database_writes import batches_of
from kitchen.infra.file_writing import write_atomically
from kitchen.opened.dataset_episode import FALLBACK, MIND, NOBODY, PERSON, DatasetEpisode
from kitchen.opened.dataset_forms import DatasetForm, FormError, Progress, get_form
from kitchen.play.models import Episode, ImportedEpisode
from kitchen.registry.agent_registry import agent_kinds
from kitchen.replay.episode_record import EpisodeRecord, read_episode_records
from kitchen.replay.import_trials import trial_of_record
from kitchen.replay.step_replay import replay_faults
from study.design.models import Study
from study.participants.models import Participant, Round

PIECE = 20
"""Number of games that are written together."""
STATE_FILE, DONE_FILE = ".export-state.json", ".export-done.json"
"""The files of an unfinished export: what is exported, written once, and how far it is, after each piece."""
LICENCE_FILE, README_FILE = "LICENCE", "README.md"
FINISHED = (Episode.Status.OVER, Episode.Status.CUT_OFF, Episode.Status.REACHED)
MAX_LICENCE = 100_000
NO_LICENCE = "choose a licence first: a dataset without one may not be used by others"
OTHER_EXPORT = "the folder has other files; choose an empty one"
OTHER_STATE = "the folder has an unfinished export of something else; delete it, or choose another folder"
ERASED = "somebody's data were erased while the dataset was written, so it was deleted; begin anew"
IMPORTED = "imported"
"""Name of the dataset of imported games."""


class DatasetError(Exception):
    """Raised if a dataset cannot be exported. The message is one line."""


@dataclass(frozen=True, slots=True)
class DatasetRequest:
    """What to export."""

    form: str
    licence: str
    """The text of the licence under which the researcher gives the data to others."""
    study: Study | None
    """The study; None for imported games."""
    synthetic: bool = False
    """True to export the games of synthetic participants, too. They are marked."""

    @property
    def name(self) -> str:
        """Return the dataset's name."""
        return self.study.slug if self.study else IMPORTED

    @property
    def digest(self) -> str:
        """Return a hash of the request, by which an unfinished export is known again."""
        return text_hash(json.dumps([self.form, self.licence, self.name, self.synthetic]))


@dataclass(slots=True)
class ExportState:
    """The state of an export: what will be exported, and how far it is."""

    digest: str
    games: list[int]
    """Ids of the episodes, in the order of the dataset."""
    people: dict[str, int]
    """The number of each person, by `episode:seat`."""
    owners: list[int] = field(default_factory=list)
    """Ids of the participants whose games are exported."""
    pieces: int = 0
    numbered: int = 0
    """How many games have a number; a few of them may not fit into the form."""
    exported: int = 0
    steps: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    """Why games were left out, with their number."""
    examples: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """What the form remembers."""

    @property
    def done(self) -> int:
        """Return the number of games that were looked at."""
        return min(self.pieces * PIECE, len(self.games))


def export_dataset(
    request: DatasetRequest, folder: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> ExportState:
    """Write the dataset into the folder, or go on with an unfinished one, and return its final state.
    `progress` is called with (games done, games in all) after each piece.

    Raises DatasetError if it cannot be written. Any other error, such as an interruption, leaves the complete
    pieces for the next call.
    """
    if not request.licence.strip() or len(request.licence) > MAX_LICENCE:
        raise DatasetError(NO_LICENCE if not request.licence.strip() else "the licence is too long")
    try:
        form = get_form(request.form)
    except FormError as error:
        raise DatasetError(str(error)) from None
    state = _begun(request, folder)
    progress(state.done, len(state.games))
    for piece, ids in list(enumerate(batches_of(state.games, PIECE)))[state.pieces :]:
        _write_piece(request, form, folder, state, piece, ids)
        state.pieces = piece + 1
        _store(folder / DONE_FILE, state, WRITTEN_OFTEN)
        progress(state.done, len(state.games))
    _finish(request, form, folder, state)
    return state


def _begun(request: DatasetRequest, folder: Path) -> ExportState:
    """Return the state of the unfinished export in this folder, or that of a new one."""
    path = folder / STATE_FILE
    if path.exists():
        done = folder / DONE_FILE
        more = json.loads(done.read_text()) if done.exists() else {}
        found = ExportState(**json.loads(path.read_text()), **more)
        if found.digest != request.digest:
            raise DatasetError(OTHER_STATE)
        return found
    if folder.exists() and any(folder.iterdir()):
        raise DatasetError(OTHER_EXPORT)
    folder.mkdir(parents=True, exist_ok=True)
    state = _new_state(request)
    write_atomically(folder / LICENCE_FILE, f"{request.licence.strip()}\n".encode())
    _store(folder / STATE_FILE, state, WRITTEN_ONCE)
    return state


WRITTEN_ONCE = ("digest", "games", "people", "owners")
"""Fields of a state that do not change. They are large if there are many games."""
WRITTEN_OFTEN = tuple(name for name in ExportState.__slots__ if name not in WRITTEN_ONCE)


def _store(path: Path, state: ExportState, names: Sequence[str]) -> None:
    write_atomically(path, json.dumps({name: getattr(state, name) for name in names}).encode())


def _new_state(request: DatasetRequest) -> ExportState:
    """Return the games to export. People have numbers in a drawn order; the games of each person are in the
    order of play."""
    chance = random.SystemRandom()
    if request.study is None:
        found = list(
            ImportedEpisode.objects.order_by("file_hash", "episode").values_list("episode", "people")
        )
        humans = [
            f"{pk}:{seat}" for pk, people in found for seat, is_person in enumerate(people) if is_person
        ]
        people = {key: number for number, key in enumerate(humans, 1)}
        return ExportState(request.digest, [pk for pk, _ in found], people)
    rounds = _rounds(request).values_list("participant", "episode", "seat", "position")
    owners = sorted({row[0] for row in rounds})
    chance.shuffle(owners)
    number = {owner: place for place, owner in enumerate(owners, 1)}
    ordered = sorted(rounds, key=lambda row: (number[row[0]], row[3]))
    return ExportState(
        digest=request.digest,
        games=list(dict.fromkeys(row[1] for row in ordered)),
        people={f"{episode}:{seat}": number[owner] for owner, episode, seat, _ in rounds},
        owners=owners,
    )


def _rounds(request: DatasetRequest) -> Any:
    rounds = Round.objects.filter(
        participant__study=request.study,
        participant__preview=False,
        participant__excluded_at__isnull=True,
        episode__status__in=FINISHED,
    )
    return rounds if request.synthetic else rounds.filter(participant__synthetic=False)


def _write_piece(
    request: DatasetRequest,
    form: DatasetForm,
    folder: Path,
    state: ExportState,
    piece: int,
    ids: Sequence[int],
) -> None:
    left_out, episodes = Counter(state.left_out), list[DatasetEpisode]()
    for record in _in_order(ids):
        why = form.unfit(record.episode.world) or _fault(record)
        if why:
            left_out[why] += 1
        else:
            episodes.append(_episode(record, state, state.numbered + len(episodes)))
    memory = Progress(state.facts)
    refused = form.write(folder, request.name, piece, episodes, memory) if episodes else {}
    left_out["an observation does not fit into the encoding"] += len(refused)
    state.examples = (state.examples + list(refused.values()))[:5]
    state.left_out = {why: number for why, number in left_out.items() if number}
    state.numbered += len(episodes)
    state.exported += len(episodes) - len(refused)
    state.steps += sum(len(each.trial.turns) for each in episodes if each.number not in refused)


def _in_order(ids: Sequence[int]) -> Iterator[EpisodeRecord]:
    found = {each.episode.pk: each for each in read_episode_records(Episode.objects.filter(pk__in=ids))}
    return (found[pk] for pk in ids if pk in found)


def _fault(record: EpisodeRecord) -> str:
    return "its replay does not agree with its log" if next(replay_faults(record), "") else ""


def _episode(record: EpisodeRecord, state: ExportState, number: int) -> DatasetEpisode:
    kinds, minds = agent_kinds(), record.mind_of
    acting = [seat for seat in record.seats if seat.acts]
    played_by = []
    for seat in acting:
        person = state.people.get(f"{record.episode.pk}:{seat.number}")
        mind = minds.get(seat.mind_id or 0)
        played_by.append(_kind(mind.kind, mind.settings) if mind else f"p{person}" if person else "program")
    return DatasetEpisode(
        number=number,
        trial=trial_of_record(record),
        played_by=played_by,
        chosen_by=[
            {given["seat"]: _chosen(given, kinds) for given in step.commands} for step in record.steps
        ],
        synthetic=record.episode.synthetic,
        score=record.episode.score,
    )


def _kind(kind: str, settings: Mapping[str, Json]) -> str:
    """Return a co-player's kind, with the hash of its file if its settings name one."""
    file_hash = next((settings[name] for name in ("file_hash", "sha256", "file") if settings.get(name)), "")
    return f"{kind} {file_hash}" if file_hash else kind


def _chosen(given: Mapping[str, Any], kinds: Mapping[str, Any]) -> str:
    if given.get("fallback"):
        return FALLBACK
    by = given["chosen_by"]
    return PERSON if by == PERSON else MIND if by in kinds or by == "program" else NOBODY


def _finish(request: DatasetRequest, form: DatasetForm, folder: Path, state: ExportState) -> None:
    """Write the description, and delete the state, which has ids of participants. If somebody's data were
    erased meanwhile, delete the dataset and raise DatasetError."""
    if state.owners and _there(state.owners) < len(state.owners):
        shutil.rmtree(folder)
        raise DatasetError(ERASED)
    form.finish(folder, request.name, Progress(state.facts))
    write_atomically(folder / README_FILE, readme(request, form, state).encode())
    (folder / DONE_FILE).unlink(missing_ok=True)
    (folder / STATE_FILE).unlink()


def _there(owners: Sequence[int]) -> int:
    return sum(Participant.objects.filter(pk__in=some).count() for some in batches_of(owners, 500))


def readme(request: DatasetRequest, form: DatasetForm, state: ExportState) -> str:
    """Return the text that describes the dataset to its readers."""
    whose = f"of the study {request.name}" if request.study else "that were imported from files"
    people = len(set(state.people.values()))
    synthetic = "included and marked" if request.synthetic else "none"
    lines = [
        f"# Games {whose}",
        "",
        f"{state.exported} finished games with {state.steps} steps, in the form `{form.name}`. "
        f"{people} people are called p1, p2 and so on; the numbers are only of this export.",
        "",
        f"- Licence: see `{LICENCE_FILE}`.",
        f"- Synthetic games (played by programs in place of people): {synthetic}.",
        "- Every game was played again from its seed and commands, and agreed with its log.",
        "- The game's settings and seed are with each episode, so that everything can be played again.",
    ]
    lines += [f"- Left out: {number} ({why})." for why, number in sorted(state.left_out.items())]
    lines += [f"  - {example}" for example in state.examples]
    return "\n".join([*lines, "", *form.notes(), ""])
