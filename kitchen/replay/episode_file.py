"""Export an episode as one JSON file, and read such a file.

The file has everything needed to replay the episode (`FIELDS`). It has no participant codes, no costs, and no
keys that give access to a player's page. Its field `hash` covers the rest of the file, so that any change is
detected.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Model

from kitchen.contract.data_files import TooDeepError, read_json
from kitchen.contract.world import Json, canonical_hash
from kitchen.contract.world_errors import WorldError
from kitchen.play.models import Decision, Episode, Message, Mind, ModelCall, Seat, SeatCommand, Step
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.replay.episode_record import CallRecord, EpisodeRecord
from kitchen.replay.episode_timeline import event_steps, timeline_chart
from kitchen.replay.step_replay import replay_faults, report_step, seat_page_after

KIND, FORMAT = "brigade episode", 1
GZIP = b"\x1f\x8b"
"""The first bytes of gzip data."""
MAX_FILE_BYTES = 32 * 2**20
"""Maximum size of an unpacked episode file, in bytes."""
FIELDS: dict[type[Model], str] = {
    Episode: "key world world_version settings seed label synthetic hints until shown asks_first "
    "shows_intents passes_by knowing organisation messages offers_plans absence gone status ended_because "
    "step state_hash score decision_seconds step_seconds tick_ms turn_opened_at ended_at",
    Seat: "number name acts mind_id",
    Mind: "id number kind settings",
    Step: "number commands events state_hash score opened_at taken_at chain",
    SeatCommand: "step seat command chosen_by fallback received_at to_follow planned_in",
    Decision: "id mind_id step memory note played_by fallback error milliseconds number seen_step because "
    "dropped",
    ModelCall: "decision_id number provider model_asked model_named sampling parameters reply reply_call "
    "stop error error_text reasoning seconds",
    Message: "number step sender to kind text data decision_id sent_at",
}
NO_JSON = "it is not JSON"
TOO_LARGE = "it has more than {most} MiB"
NOT_OURS = "it is not an exported episode"
OTHER_FORMAT = "it is of format {format}; this version reads format {known}"
CHANGED = "it was changed after the export: its hash is different"
LACKS = "something is missing or has the wrong form: {what}"
NO_REPLAY = "its replay gives another result: {fault}"
OTHER_SCORED_EVENTS = "its scored events differ from those of the replay"


READ_ERRORS: tuple[type[Exception], ...] = (
    *(LookupError, TypeError, AttributeError, ValueError),
    *(ValidationError, ArithmeticError, StopIteration, WorldError),
)
"""Errors raised by values that no episode has."""


class EpisodeFileError(ValueError):
    """The file contains no episode that can be replayed here. The message is one line."""


Row = TypeVar("Row", bound=Model)


def export_episode(record: EpisodeRecord) -> bytes:
    """Return the episode as the bytes of a JSON file. The same episode always gives the same bytes."""
    known: dict[str, str] = {}
    content = {
        "kind": KIND,
        "format": FORMAT,
        "episode": _values(record.episode),
        "seats": [_values(row) for row in record.seats],
        "minds": [_values(row) for row in record.minds],
        "steps": [_values(row) for row in record.steps],
        "commands": [_values(row) for row in record.commands],
        "decisions": [_values(row) for row in record.decisions],
        "calls": [_call(each, known) for each in record.calls],
        "messages": [_values(row) for row in record.messages],
        "texts": {key: text for text, key in known.items()},
    }
    if record.episode.goal:
        content["goal"] = record.episode.goal
    if record.scored_events:
        content["scored_events"] = _scored_events(record)
    plain = json.loads(json.dumps(content, default=_plain))
    whole = {**plain, "hash": canonical_hash(plain)}
    return (json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _scored_events(record: EpisodeRecord) -> list[dict[str, Json]]:
    """Return the scored events in an exported episode file. Files of older versions contain none."""
    return [
        {"step": event.step, "messages": list(event.messages), "values": dict(event.values)}
        for event in record.scored_events
    ]


def read_episode_file(data: bytes) -> EpisodeRecord:
    """Read an episode from the bytes of a file, and check it by a replay. Raises EpisodeFileError with the
    reason if it is invalid."""
    content = _content(data)
    with untrusted_file_errors():
        record = _record(content)
        if fault := next(replay_faults(record), ""):
            raise EpisodeFileError(NO_REPLAY.format(fault=fault))
        if content.get("scored_events", scored := _scored_events(record)) != scored:
            raise EpisodeFileError(NO_REPLAY.format(fault=OTHER_SCORED_EVENTS))
        event_steps(record)
        timeline_chart(record)
        for step in range(1, record.episode.step + 2):
            report_step(record, step)
        with suppress(WorldError, UnknownNameError):  # an unknown world has no pages
            for seat in record.seats:
                for steps in {0, record.episode.step}:
                    seat_page_after(record, seat.number, steps)
    return record


@contextmanager
def untrusted_file_errors() -> Iterator[None]:
    """Context manager: convert errors that invalid values in a file cause to EpisodeFileError."""
    try:
        yield
    except EpisodeFileError:
        raise
    except READ_ERRORS as error:
        raise EpisodeFileError(LACKS.format(what=str(error) or type(error).__name__)) from error


def gunzip_limited(data: bytes) -> bytes:
    """Decompress gzip data. Other data are returned unchanged. Raises EpisodeFileError if the result is
    larger than `MAX_FILE_BYTES`."""
    if not data.startswith(GZIP):
        return data
    try:
        found = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS).decompress(data, MAX_FILE_BYTES + 1)
    except zlib.error as error:
        raise EpisodeFileError(NO_JSON) from error
    if len(found) > MAX_FILE_BYTES:
        raise EpisodeFileError(TOO_LARGE.format(most=MAX_FILE_BYTES // 2**20))
    return found


def gzip_bytes(data: bytes) -> bytes:
    """Compress data with gzip. The same data always give the same bytes."""
    return gzip.compress(data, 9, mtime=0)


def _content(data: bytes) -> dict[str, Any]:
    plain = gunzip_limited(data)
    try:
        content = read_json(plain.decode())
    except TooDeepError as error:
        raise EpisodeFileError(f"it {error}") from error
    except ValueError as error:
        raise EpisodeFileError(NO_JSON) from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise EpisodeFileError(NOT_OURS)
    if content.get("format") != FORMAT:
        raise EpisodeFileError(OTHER_FORMAT.format(format=content.get("format"), known=FORMAT))
    if content.pop("hash", None) != canonical_hash(content):
        raise EpisodeFileError(CHANGED)
    return content


def _plain(value: object) -> str:
    """Encode a value for JSON. Times keep microseconds, so that a value read again has the same hash."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written")


def _names(model: type[Model]) -> list[str]:
    return FIELDS[model].split()


def _values(row: Model) -> dict[str, Json]:
    return {name: getattr(row, name) for name in _names(type(row))}


def _call(call: CallRecord, known: dict[str, str]) -> dict[str, Json]:
    """Return a model call as JSON. Texts are stored once in `known` and replaced by their numbers, because
    many calls share them."""
    sent = [[role, known.setdefault(text, str(len(known)))] for role, text in call.sent]
    return {**_values(call.row), "sent": sent}


def _record(content: Mapping[str, Any]) -> EpisodeRecord:
    texts: dict[str, str] = content["texts"]
    record = EpisodeRecord(
        _read(Episode, content["episode"]),
        seats=[_read(Seat, row) for row in content["seats"]],
        minds=[_read(Mind, row) for row in content["minds"]],
        steps=[_read(Step, row) for row in content["steps"]],
        commands=[_read(SeatCommand, row) for row in content["commands"]],
        decisions=[_read(Decision, row) for row in content["decisions"]],
        messages=[_read(Message, row) for row in content["messages"]],
    )
    record.episode.goal = content.get("goal")  # older files, and episodes without a goal, lack it
    for each in content["calls"]:
        sent = [(role, texts[key]) for role, key in each["sent"]]
        record.calls.append(CallRecord(_read(ModelCall, each), sent))
    if not record.seats:
        raise ValueError("a seat")
    if unknown := {row.mind_id for row in record.decisions} - record.mind_of.keys():
        raise ValueError(f"a mind {min(unknown)}")
    return record


def _read(model: type[Row], values: Mapping[str, Any]) -> Row:
    fields = {name: model._meta.get_field(name.removesuffix("_id")) for name in _names(model)}
    return model(**{name: _value(field, values[name]) for name, field in fields.items()})


def _value(field: Any, value: Json) -> Any:
    if value is None and not field.null:
        raise ValueError(f"{field.name} is empty")
    return field.to_python(value)
