"""decisions.csv and prompts.csv: what co-players decided, and what models were asked for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Q

from kitchen.models import CallMessage, Decision, ModelCall, Prompt
from study.exports.base import FALLBACK_LEVELS, MARKS, MODEL_ERRORS, WHERE, Column, Table
from study.exports.chosen import Chosen
from study.exports.csv_text import JsonText
from study.exports.raw import as_text
from study.exports.sittings import episodes_once, in_pieces
from study.exports.steps import STEP
from study.models import Study

COLUMNS = (
    *WHERE,
    STEP,
    Column("mind", "integer", "Number of the co-player; one may command several seats.", levels="0 = first"),
    Column("coplayer", "text", "Kind of co-player that was asked."),
    Column("played_by", "text", "Kind that really chose: another one is a stand-in or a fallback."),
    Column("fallback", "text", "Why a fallback stepped in; blank if none did.", levels=FALLBACK_LEVELS),
    Column("error", "text", "What went wrong, in words."),
    Column("milliseconds", "number", "Time for the decision, models included.", unit="ms"),
    Column("note", "json", "What was understood and refused, and what the co-player wants logged."),
    Column(
        "call", "integer", "Number of the model call; blank where no model was asked.", levels="1 = first"
    ),
    Column("provider", "text", "Who was asked; `stand-in` is a program that writes like a model."),
    Column("model_asked", "text", "Model as the condition names it."),
    Column("model_named", "text", "Model and version as the API named it."),
    Column("sampling", "json", "Temperature, longest answer, effort, tool."),
    Column(
        "prompts",
        "text",
        "Hashes of the messages in prompts.csv, in order, with spaces between; the last is the tool's "
        "description and schema where one was asked for.",
    ),
    Column("reply", "json", "The raw answer, as a JSON string; what came, where it could not be read."),
    Column("reply_call", "json", "The structured answer, where a tool was asked for."),
    Column("stop", "text", "Why the model stopped, as the API named it."),
    Column(
        "model_error",
        "text",
        "Code of the call's end without an answer; blank if it was answered.",
        levels=MODEL_ERRORS,
    ),
    Column("attempts", "json", "Every try with its outcome, seconds and wait."),
    Column("seconds", "number", "Time of the call, waits included.", unit="s"),
    Column(
        "tokens_input",
        "integer",
        "Tokens read, without the cached ones; 0 where the server told no count.",
        unit="tokens",
    ),
    Column("tokens_output", "integer", "Tokens written.", unit="tokens"),
    Column("tokens_cache_read", "integer", "Tokens read from the cache.", unit="tokens"),
    Column("tokens_cache_write", "integer", "Tokens written to the cache.", unit="tokens"),
    Column("cost", "number", "Cost by the price list; blank where no price is known.", unit="US dollars"),
    *MARKS,
)

PROMPT_COLUMNS = (
    Column("prompt", "text", "SHA-256 of the text; decisions.csv refers to it."),
    Column("text", "json", "The text as it was sent, as a JSON string."),
)


DECISION_FIELDS = (
    "step",
    "mind__number",
    "mind__kind",
    "played_by",
    "fallback",
    "error",
    "milliseconds",
    "note_text",
)
CALL_FIELDS = (
    "number",
    "provider",
    "model_asked",
    "model_named",
    "sampling_text",
    "pk",
    "reply",
    "reply_call",
    "stop",
    "error",
    "attempts_text",
    "seconds",
    "tokens_input",
    "tokens_output",
    "tokens_cache_read",
    "tokens_cache_write",
    "cost",
)
NO_CALL = (None,) * len(CALL_FIELDS)


def rows(study: Study, chosen: Chosen) -> Iterator[Sequence[Any]]:
    """One row per call of a model, and one per decision that took none."""
    for piece in in_pieces(episodes_once(study, chosen)):
        pks = [sitting.episode for sitting in piece]
        decisions, calls = _decisions(pks), _calls(pks)
        for sitting in piece:
            where, marks = sitting.where, sitting.marks
            for pk, cells in decisions.get(sitting.episode, ()):
                for call in calls.get(pk, (NO_CALL,)):
                    yield (*where, *cells, *call, *marks)


def _decisions(pks: Sequence[int]) -> dict[int, list[tuple[int, tuple[Any, ...]]]]:
    """By episode: the decisions as (primary key, cells), by step and mind."""
    found = Decision.objects.filter(mind__episode__in=pks).annotate(note_text=as_text("note"))
    by_episode: dict[int, list[tuple[int, tuple[Any, ...]]]] = defaultdict(list)
    for episode, pk, *cells in found.order_by("step", "mind__number").values_list(
        "mind__episode_id", "pk", *DECISION_FIELDS
    ):
        by_episode[episode].append((pk, _decision_cells(*cells)))
    return by_episode


def _decision_cells(*cells: Any) -> tuple[Any, ...]:
    *before, fallback, error, milliseconds, note = cells
    return (*before, fallback or None, error or None, milliseconds, _json(note))


def _json(text: str | None) -> JsonText | None:
    return None if text is None or text == "null" else JsonText(text)


def _calls(pks: Sequence[int]) -> dict[int, list[tuple[Any, ...]]]:
    """By decision: the cells of every call, in order."""
    found = ModelCall.objects.filter(decision__mind__episode__in=pks).annotate(
        sampling_text=as_text("sampling"), attempts_text=as_text("attempts")
    )
    prompts = _prompts(pks)
    by_decision: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for pk, *cells in found.order_by("number").values_list("decision_id", *CALL_FIELDS):
        by_decision[pk].append(_call_cells(dict(zip(CALL_FIELDS, cells, strict=True)), prompts))
    return by_decision


def _prompts(pks: Sequence[int]) -> dict[int, list[str]]:
    """By call: hashes of its messages, in order."""
    found = CallMessage.objects.filter(call__decision__mind__episode__in=pks).order_by("position")
    by_call: dict[int, list[str]] = defaultdict(list)
    for call, prompt in found.values_list("call_id", "prompt_id"):
        by_call[call].append(prompt)
    return by_call


def _call_cells(cells: dict[str, Any], prompts: dict[int, list[str]]) -> tuple[Any, ...]:
    return tuple(
        {
            **cells,
            "model_named": cells["model_named"] or None,
            "sampling_text": _json(cells["sampling_text"]),
            "pk": " ".join(prompts.get(cells["pk"], ())),
            "stop": cells["stop"] or None,
            "error": cells["error"] or None,
            "attempts_text": _json(cells["attempts_text"]),
        }.values()
    )


def prompt_rows(study: Study, chosen: Chosen) -> Iterator[Sequence[Any]]:
    """One row per different text that models were sent in these participants' episodes."""
    theirs = chosen.participants(study).order_by().values("pk")
    episode = "uses__call__decision__mind__episode"
    found = Prompt.objects.filter(
        Q(**{f"{episode}__rounds__participant__in": theirs}) | Q(**{f"{episode}__practised_by__in": theirs})
    )
    for prompt in found.distinct().order_by("hash").iterator(chunk_size=200):
        yield prompt.hash, prompt.text


DECISIONS = Table(
    "decisions", "Every decision of a co-player, with the calls of models it took.", COLUMNS, rows
)
PROMPTS = Table("prompts", "Every text that models were sent, once.", PROMPT_COLUMNS, prompt_rows)
