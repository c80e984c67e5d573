"""Export an episode as one JSON file, and read such a file.

The file has everything needed to replay the episode (`FIELDS`). It has no participant codes, no costs, and no
keys that give access to a player's page. Its field `hash` covers the rest of the file, so that any change is
detected.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Model

from kitchen.contract.data_limits import DataLimitError, read_foreign, replay_foreign
from kitchen.contract.world import Json
from kitchen.contract.world_errors import WorldError
from kitchen.infra.calls_with_django import call_with_django
from kitchen.play.models import (
    Decision,
    Episode,
    Message,
    Mind,
    ModelCall,
    ProbeAnswer,
    Seat,
    SeatCommand,
    SliderRating,
    Step,
)
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.replay.episode_content import (
    FORMAT,
    KIND,
    EpisodeFileError,
    episode_bytes,
    episode_content,
)
from kitchen.replay.episode_record import CallRecord, EpisodeRecord
from kitchen.replay.episode_timeline import event_steps, timeline_chart
from kitchen.replay.step_replay import replay_faults, report_step, seat_page_after

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
    ProbeAnswer: "step seat probe answers missing asked_at answered_at",
    SliderRating: "step seat value rated_at",
}
LACKS = "something is missing or has the wrong form: {what}"
NO_REPLAY = "its replay gives another result: {fault}"
OTHER_SCORED_EVENTS = "its scored events differ from those of the replay"
TOO_SLOW = "its replay takes longer than {seconds:g} s"
CHECK = "kitchen.replay.episode_file.check_content"
"""Path of the function that replays the content of a file."""
CHECK_SECONDS = 20.0
"""Time limit of the replay that checks a file. The longest episodes need a few seconds."""

READ_ERRORS: tuple[type[Exception], ...] = (
    *(LookupError, TypeError, AttributeError, ValueError),
    *(ValidationError, ArithmeticError, StopIteration, WorldError),
)
"""Errors raised by values that no episode has."""


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
    if record.episode.hides_dots:
        content["hides_dots"] = True
    if record.episode.order_choices:
        content["order_choices"] = True
    if record.episode.star_targets:
        content["star_targets"] = record.episode.star_targets
    content |= _probes(record)
    if record.scored_events:
        content["scored_events"] = _scored_events(record)
    return episode_bytes(json.loads(json.dumps(content, default=_plain)))


def _probes(record: EpisodeRecord) -> dict[str, Json]:
    """Return what an exported file has of the questions during the game. Files of episodes without any, and
    of older versions, contain none of it."""
    content = {
        "probes": record.episode.probes,
        "rating_slider": record.episode.rating_slider,
        "probe_answers": [_values(row) for row in record.probe_answers],
        "ratings": [_values(row) for row in record.ratings],
    }
    return {name: value for name, value in content.items() if value}


def _scored_events(record: EpisodeRecord) -> list[dict[str, Json]]:
    """Return the scored events in an exported episode file. Files of older versions contain none."""
    return [
        {"step": event.step, "messages": list(event.messages), "values": dict(event.values)}
        for event in record.scored_events
    ]


def read_episode_file(data: bytes, seconds: float = CHECK_SECONDS) -> EpisodeRecord:
    """Read an episode from the bytes of a file, and check it by a replay of at most `seconds` seconds. Raises
    EpisodeFileError with the reason if it is invalid."""
    content = read_content(data)
    replay_content(CHECK, content, seconds)
    return episode_of_content(content)


def read_content(data: bytes) -> dict[str, Any]:
    """Return the content of an episode file, which is not checked by a replay. For pages of staff, a child
    process parses it, so that nobody else waits. Raises EpisodeFileError."""
    try:
        content: dict[str, Any] = read_foreign(episode_content, data)
    except DataLimitError as error:
        raise EpisodeFileError(f"it {error}") from None
    return content


def replay_content(path: str, content: Mapping[str, Any], *arguments: Any) -> Any:
    """Return the result of the function with this dotted path, called with the content of an episode file and
    `arguments`. For pages of staff, it runs in a child process. Raises EpisodeFileError."""
    try:
        return replay_foreign(call_with_django, path, content, *arguments)
    except DataLimitError as error:
        raise EpisodeFileError(f"it {error}") from None


def check_content(content: Mapping[str, Any], seconds: float = CHECK_SECONDS) -> None:
    """Replay the episode with this content, and compute everything that its replay page shows. Raises
    EpisodeFileError if something is invalid, or if it takes longer than `seconds`."""
    check_time = _timer(seconds)
    with untrusted_file_errors():
        record = _record(content)
        if fault := next(replay_faults(record, before_step=check_time), ""):
            raise EpisodeFileError(NO_REPLAY.format(fault=fault))
        if content.get("scored_events", scored := _scored_events(record)) != scored:
            raise EpisodeFileError(NO_REPLAY.format(fault=OTHER_SCORED_EVENTS))
        event_steps(record)
        timeline_chart(record)
        for step in range(1, record.episode.step + 2):
            check_time()
            report_step(record, step)
        with suppress(WorldError, UnknownNameError):  # an unknown world has no pages
            for seat in record.seats:
                for steps in {0, record.episode.step}:
                    seat_page_after(record, seat.number, steps)


def _timer(seconds: float) -> Callable[[], None]:
    """Return a function that raises EpisodeFileError if it is called after this number of seconds."""
    end = time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() > end:
            raise EpisodeFileError(TOO_SLOW.format(seconds=seconds))

    return check


@contextmanager
def untrusted_file_errors() -> Iterator[None]:
    """Context manager: convert errors that invalid values in a file cause to EpisodeFileError."""
    try:
        yield
    except EpisodeFileError:
        raise
    except READ_ERRORS as error:
        raise EpisodeFileError(LACKS.format(what=str(error) or type(error).__name__)) from error


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


def episode_of_content(content: Mapping[str, Any]) -> EpisodeRecord:
    """Return the episode with this content of a file. Raises EpisodeFileError if something is missing."""
    with untrusted_file_errors():
        return _record(content)


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
    record.episode.hides_dots = content.get("hides_dots") is True
    record.episode.order_choices = content.get("order_choices") is True
    record.episode.star_targets = content.get("star_targets") or {}
    record.episode.probes = list(content.get("probes") or ())
    record.episode.rating_slider = dict(content.get("rating_slider") or {})
    record.probe_answers = [_read(ProbeAnswer, row) for row in content.get("probe_answers", ())]
    record.ratings = [_read(SliderRating, row) for row in content.get("ratings", ())]
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
