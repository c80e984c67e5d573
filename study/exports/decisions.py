"""decisions.csv and prompts.csv: what co-players decided, and what models were asked for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from kitchen.models import Decision, ModelCall, Prompt
from study.exports.base import FALLBACK_LEVELS, MODEL_ERRORS, WHERE, Column, Table, in_chunks
from study.exports.episodes import begun_rounds, where
from study.exports.steps import CHUNK, STEP
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
    Column("cost", "text", "Cost by the price list; blank where no price is known.", unit="US dollars"),
)

PROMPT_COLUMNS = (
    Column("prompt", "text", "SHA-256 of the text; decisions.csv refers to it."),
    Column("text", "json", "The text as it was sent, as a JSON string."),
)


def rows(study: Study) -> Iterator[Sequence[Any]]:
    """One row per call of a model, and one per decision that took none."""
    for chunk in in_chunks(begun_rounds(study).iterator(chunk_size=200), CHUNK):
        decisions = _decisions({one.episode_id for one in chunk})
        for one in chunk:
            for decision in decisions[one.episode_id]:
                for call in list(decision.calls.all()) or [None]:
                    yield (*where(one), *_decision_cells(decision), *_call_cells(call))


def _decisions(episode_ids: set[int]) -> dict[int, list[Decision]]:
    """The decisions of these episodes with their calls, by episode and step."""
    found = Decision.objects.filter(mind__episode__in=episode_ids).select_related("mind")
    by_episode: dict[int, list[Decision]] = defaultdict(list)
    for decision in found.prefetch_related("calls__messages").order_by("step", "mind__number"):
        by_episode[decision.mind.episode_id].append(decision)
    return by_episode


def _decision_cells(decision: Decision) -> tuple[Any, ...]:
    return (
        decision.step,
        decision.mind.number,
        decision.mind.kind,
        decision.played_by,
        decision.fallback or None,
        decision.error or None,
        decision.milliseconds,
        decision.note,
    )


def _call_cells(call: ModelCall | None) -> tuple[Any, ...]:
    if call is None:
        return (None,) * (len(COLUMNS) - len(WHERE) - 8)
    return (
        call.number,
        call.provider,
        call.model_asked,
        call.model_named or None,
        call.sampling,
        " ".join(message.prompt_id for message in call.messages.all()),
        call.reply,
        call.reply_call,
        call.stop or None,
        call.error or None,
        call.attempts,
        call.seconds,
        call.tokens_input,
        call.tokens_output,
        call.tokens_cache_read,
        call.tokens_cache_write,
        call.cost,
    )


def prompt_rows(study: Study) -> Iterator[Sequence[Any]]:
    """One row per different text that models were sent in this study."""
    found = Prompt.objects.filter(uses__call__decision__mind__episode__rounds__participant__study=study)
    for prompt in found.distinct().order_by("hash").iterator(chunk_size=200):
        yield prompt.hash, prompt.text


DECISIONS = Table(
    "decisions", "Every decision of a co-player, with the calls of models it took.", COLUMNS, rows
)
PROMPTS = Table("prompts", "Every text that models were sent, once.", PROMPT_COLUMNS, prompt_rows)
