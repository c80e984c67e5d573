"""steps.csv and commands.csv: the log of every episode, a row per step and a row per command."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from kitchen.models import Step
from study.exports.base import FALLBACK_LEVELS, WHERE, Column, Table, in_chunks
from study.exports.episodes import begun_rounds, where
from study.models import Round, Study

CHUNK = 20
"""Episodes whose steps are read, and held, at once."""

STEP = Column("step", "integer", "Number of the step.", levels="1 = first")

STEP_COLUMNS = (
    *WHERE,
    STEP,
    Column("opened_at", "time", "When the step could be commanded."),
    Column("taken_at", "time", "When it ran."),
    Column("seconds", "number", "From opening to running.", unit="s"),
    Column("completed", "integer", "Orders completed so far.", unit="orders"),
    Column("failed", "integer", "Orders failed so far.", unit="orders"),
    Column("events", "json", "What happened, apart from the commands: completed, failed and new orders."),
    Column("state_hash", "text", "SHA-256 of the state after the step."),
)

COMMAND_COLUMNS = (
    *WHERE,
    STEP,
    Column("running_order", "integer", "Place among the commands of the step.", levels="1 = ran first"),
    Column("seat", "integer", "Who was commanded.", levels="0 = the participant"),
    Column(
        "chosen_by",
        "text",
        "Who chose: `person` (or the program that is one, see `synthetic`), a co-player's kind, `fallback`, "
        "or `timeout`: the time for the step was over.",
    ),
    Column("fallback", "text", "Why a fallback stood in; blank if none did.", levels=FALLBACK_LEVELS),
    Column("verb", "text", "The command's verb."),
    Column("arguments", "text", "The command's arguments, with spaces between."),
    Column("performed", "boolean", "1 if it was carried out."),
    Column("reasons", "text", "Codes of why not, with spaces between."),
    Column("received_at", "text", "When the command came in (ISO 8601, UTC)."),
)

COMMAND_EVENTS = ("performed", "refused")


def step_rows(study: Study) -> Iterator[Sequence[Any]]:
    """One row per step taken."""
    for one, step in _steps(study):
        score = step.score
        yield (
            *where(one),
            step.number,
            step.opened_at,
            step.taken_at,
            round((step.taken_at - step.opened_at).total_seconds(), 3),
            score.get("completed"),
            score.get("failed"),
            [event for event in step.events if event["kind"] not in COMMAND_EVENTS],
            step.state_hash,
        )


def command_rows(study: Study) -> Iterator[Sequence[Any]]:
    """One row per command of every step, in the order in which they ran."""
    for one, step in _steps(study):
        outcomes = {event["seat"]: event for event in step.events if event["kind"] in COMMAND_EVENTS}
        for place, given in enumerate(step.commands, start=1):
            outcome = outcomes.get(given["seat"], {})
            yield (*where(one), step.number, place, *_command_cells(given, outcome))


def _command_cells(given: dict[str, Any], outcome: dict[str, Any]) -> tuple[Any, ...]:
    verb, *arguments = given["command"]
    return (
        given["seat"],
        given["chosen_by"],
        given["fallback"] or None,
        verb,
        " ".join(arguments),
        outcome.get("kind") == "performed",
        " ".join(outcome.get("reasons", ())) or None,
        given["received_at"],
    )


def _steps(study: Study) -> Iterator[tuple[Round, Step]]:
    """Every step with its round, in the order of all files: a query per `CHUNK` episodes."""
    for chunk in in_chunks(begun_rounds(study).iterator(chunk_size=200), CHUNK):
        steps: dict[int, list[Step]] = defaultdict(list)
        for step in Step.objects.filter(episode__in={one.episode_id for one in chunk}).order_by("number"):
            steps[step.episode_id].append(step)
        for one in chunk:
            for step in steps[one.episode_id]:
                yield one, step


STEPS = Table("steps", "Every step of every episode.", STEP_COLUMNS, step_rows)
COMMANDS = Table(
    "commands", "Every command of every step, and what became of it.", COMMAND_COLUMNS, command_rows
)
