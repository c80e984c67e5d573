"""Define the export tables about agents: decisions.csv, prompts.csv, and predictions.csv.

- decisions.csv: the agents' decisions, with the calls of language models.
- prompts.csv: the texts that were sent to language models.
- predictions.csv: what agents predicted that other players would do.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q

from kitchen.contract.agent_skills import spell_skill
from kitchen.contract.decision_notes import reading_from_note
from kitchen.contract.language_model import error_codes
from kitchen.infra.database_writes import batches_of
from kitchen.llm.cache_misses import CACHE_MISSES, CachedCall, CacheWatch, cache_prices
from kitchen.play.models import CallMessage, Decision, ModelCall, Prompt
from kitchen.play.turn.decision_records import predictions_by_episode, seat_counts_of_minds
from kitchen.play.turn.last_predictions import ByMind
from study.design.models import Study
from study.exports.csv_encoding import JsonText, json_as_text
from study.exports.export_table import (
    EPISODE_COLUMNS,
    EPISODE_MARKS,
    FALLBACK_LEVELS,
    KINDS,
    OUTAGE_MARKS,
    Column,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import (
    episodes_once,
    in_pieces,
    played_by_not_withdrawn,
    touched_steps,
)
from study.participants.episode_owners_and_outages import downtime_since_creation

LATER = (
    *file_columns("decisions_later"),
    *file_columns("invalid_commands"),
    *file_columns("thinking_tokens"),
    *file_columns("cache_misses", cache_miss=CACHE_MISSES),
)
"""Columns that were added later and therefore come at the end."""

DECISION_COLUMNS = (
    *EPISODE_COLUMNS,
    *file_columns("step"),
    *file_columns("decisions", fallback=FALLBACK_LEVELS, model_error=error_codes()),
    *EPISODE_MARKS,
    *OUTAGE_MARKS,
    *LATER,
)

STEPS = 500
"""Number of steps of the episodes that are read at once; a decision may have texts of kilobytes."""
PROMPTS_AT_ONCE = 100
"""Number of prompts that are read at once."""

PROMPT_COLUMNS = (
    *file_columns("prompts"),
    *(
        Column(f"used_by_{kind}", "integer", f"In whose episodes it was sent: {words}.", "participants")
        for kind, words in KINDS.items()
    ),
)


DECISION_FIELDS = (
    *("step", "mind__number", "mind__kind", "played_by", "fallback", "error", "milliseconds", "note_text"),
    *("number", "seen_step", "because", "dropped"),
)
NOT_READ = (None,) * 5
"""Cells of a decision for which no model reply was read."""
CALL_FIELDS = (
    *("number", "provider", "model_asked", "model_named", "sampling_text", "pk", "reply", "reply_call"),
    *("stop", "error", "attempts_text", "seconds", "tokens_input", "tokens_output", "tokens_cache_read"),
    *("tokens_cache_write", "cost", "reasoning", "parameters_text", "tokens_thinking"),
)
"""The last one is near the end of its row, before `cache_miss`."""
NO_CALL = (None,) * len(CALL_FIELDS)
MIND_CELL = DECISION_FIELDS.index("mind__number")


def decision_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per model call of a decision, and one row per decision without a call."""
    downtime, prices = downtime_since_creation(study), cache_prices()
    for piece in in_pieces(episodes_once(study, chosen, downtime), STEPS):
        pks = [played.episode for played in piece]
        decisions, calls, touched = _decisions(pks), _calls(pks), touched_steps(piece, downtime)
        for played in played_by_not_withdrawn(piece):
            theirs = decisions.get(played.episode, ())
            watches: defaultdict[int, CacheWatch] = defaultdict(lambda: CacheWatch(prices))
            made = [
                (*cells, *call[:-1], *more, call[-1], _missed(watches[cells[MIND_CELL]], call))
                for pk, cells, more in theirs
                for call in calls.get(pk, (NO_CALL,))
            ]
            yield from played.row_groups(made, touched, chosen, len(LATER))


def _decisions(pks: Sequence[int]) -> dict[int, list[tuple[int, tuple[Any, ...], tuple[Any, ...]]]]:
    """Return the decisions in these episodes, by episode id, sorted by step, co-player and number. Each is
    (primary key, first cells of the row, last cells of the row)."""
    decisions = Decision.objects.filter(mind__episode__in=pks).annotate(note_text=json_as_text("note"))
    seats = seat_counts_of_minds(pks)
    by_episode: dict[int, list[tuple[int, tuple[Any, ...], tuple[Any, ...]]]] = defaultdict(list)
    for episode, mind, pk, *row in decisions.order_by("step", "mind__number", "number").values_list(
        "mind__episode_id", "mind_id", "pk", *DECISION_FIELDS
    ):
        *before, fallback, error, milliseconds, note, number, seen, because, dropped = row
        cells = (*before, fallback or None, error or None, milliseconds, _json(note))
        more = (number, seen, because or None, dropped or None, *_read_cells(note, seats.get(mind, 0)))
        by_episode[episode].append((pk, cells, more))
    return by_episode


def _missed(watch: CacheWatch, cells: tuple[Any, ...]) -> str | None:
    """Return why a call read nothing from the provider's cache; None if it did, and without a call."""
    call = dict(zip(CALL_FIELDS, cells, strict=True))
    if call["provider"] is None:
        return None
    told = {
        name: json.loads(call[f"{name}_text"] or "null") for name in ("sampling", "attempts", "parameters")
    }
    has_tool, prompts = bool(told["sampling"].get("tool")), call["pk"].split()
    named = call["provider"], call["model_asked"], prompts, has_tool
    counted = (call[f"tokens_{name}"] for name in ("input", "cache_read", "cache_write"))
    return watch.reason(CachedCall(*named, told["parameters"] or {}, told["attempts"], *counted)) or None


def _read_cells(note: str | None, seats: int) -> tuple[Any, ...]:
    """Return the cells that say how well the model's replies for a decision could be parsed."""
    reading = reading_from_note(json.loads(note), seats) if note and '"faults"' in note else None
    if reading is None:
        return NOT_READ
    return reading.how, reading.commands, reading.unread, reading.invalid_before, reading.invalid


def _json(text: str | None) -> JsonText | None:
    return None if text is None or text == "null" else JsonText(text)


def _calls(pks: Sequence[int]) -> dict[int, list[tuple[Any, ...]]]:
    """Return the table cells of every model call in these episodes, by decision id. Calls are in the order in
    which they were made."""
    texts = {f"{name}_text": json_as_text(name) for name in ("sampling", "attempts", "parameters")}
    calls = ModelCall.objects.filter(decision__mind__episode__in=pks).annotate(**texts).order_by("number")
    prompts = _prompts(pks)
    by_decision: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for call in calls.values("decision_id", *CALL_FIELDS):
        call |= {name: _json(call[name]) for name in texts}
        call |= {name: call[name] or None for name in ("model_named", "stop", "error", "reasoning")}
        call["pk"] = " ".join(prompts.get(call["pk"], ()))
        by_decision[call["decision_id"]].append(tuple(map(call.get, CALL_FIELDS)))
    return by_decision


def _prompts(pks: Sequence[int]) -> dict[int, list[str]]:
    """Return the hashes of the messages in each model call, by call id and in the order of the messages."""
    messages = CallMessage.objects.filter(call__decision__mind__episode__in=pks).order_by("position")
    by_call: dict[int, list[str]] = defaultdict(list)
    for call, prompt in messages.values_list("call_id", "prompt_id"):
        by_call[call].append(prompt)
    return by_call


def prompt_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per distinct text that was sent to models in the selected participants' episodes."""
    theirs = chosen.participants(study).order_by().values("pk")
    sent = CallMessage.objects.filter(Q(**{f"{PLAYED}__in": theirs}) | Q(**{f"{PRACTISED}__in": theirs}))
    sent_prompts = Prompt.objects.filter(hash__in=sent.order_by().values("prompt")).order_by("hash")
    for prompts in batches_of(sent_prompts.iterator(PROMPTS_AT_ONCE), PROMPTS_AT_ONCE):
        used = _used_by([prompt.hash for prompt in prompts], theirs)
        counted = ((prompt, used[prompt.hash].values()) for prompt in prompts if prompt.hash in used)
        yield RowGroup(
            (),
            [(prompt.hash, prompt.text, *map(sum, zip(*people, strict=True))) for prompt, people in counted],
        )


EPISODE = "call__decision__mind__episode"
PLAYED, PRACTISED = f"{EPISODE}__rounds__participant", f"{EPISODE}__practised_by"
"""Query paths from a message to the participants in whose episodes it was sent."""


def _used_by(hashes: Sequence[str], theirs: Any) -> dict[str, dict[int, tuple[bool, ...]]]:
    """Return which participants' episodes used each prompt, as prompt hash → participant id → booleans. There
    is one boolean for each kind in `KINDS`, such as synthetic."""
    used: dict[str, dict[int, tuple[bool, ...]]] = defaultdict(dict)
    for way in (PLAYED, PRACTISED):
        messages = CallMessage.objects.filter(**{"prompt__in": hashes, f"{way}__in": theirs}).order_by()
        fields = (f"{way}__{name}" for name in ("pk", "synthetic", "preview", "excluded_at"))
        for prompt, pk, *marks in messages.values_list("prompt_id", *fields).distinct():
            used[prompt][pk] = _kinds(*marks)
    return used


def _kinds(synthetic: bool, preview: bool, excluded_at: datetime | None) -> tuple[bool, ...]:
    is_a = {
        "people": not (synthetic or preview),
        "synthetic": synthetic and not preview,
        "preview": preview,
        "excluded": excluded_at is not None,
    }
    return tuple(is_a[kind] for kind in KINDS)


DECISIONS = ExportTable(
    "decisions",
    "Every decision of a co-player, with the calls of models it took.",
    DECISION_COLUMNS,
    decision_rows,
)
PROMPTS = ExportTable("prompts", "Every text that models were sent, once.", PROMPT_COLUMNS, prompt_rows)

PREDICTION_COLUMNS = (
    *EPISODE_COLUMNS,
    *file_columns("step"),
    *file_columns("predictions"),
    *EPISODE_MARKS,
    *OUTAGE_MARKS,
)


def prediction_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per prediction of an agent, ordered by step within each episode. An episode of several
    participants is listed only with the first of them."""
    downtime = downtime_since_creation(study)
    for piece in in_pieces(episodes_once(study, chosen, downtime)):
        found = predictions_by_episode(played.episode for played in piece)
        touched = touched_steps(piece, downtime)
        for played in played_by_not_withdrawn(piece):
            yield from played.row_groups(
                list(_prediction_rows(found.get(played.episode, {}))), touched, chosen
            )


def _prediction_rows(by_mind: ByMind) -> Iterator[tuple[object, ...]]:
    found = [(one.step, mind, one) for mind, several in by_mind.items() for one in several]
    for step, mind, one in sorted(found, key=lambda each: (*each[:2], each[2].by, each[2].of)):
        done = spell_skill(one.done) if one.done else None
        yield step, mind, one.by, one.of, spell_skill(one.predicted), done, one.done_in, one.right


PREDICTIONS = ExportTable(
    "predictions",
    "What co-players foresaw that others would do, and whether they did.",
    PREDICTION_COLUMNS,
    prediction_rows,
)
