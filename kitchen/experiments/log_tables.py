"""Write episode logs as CSV tables (RFC 4180, UTF-8).

The tables list steps, decisions, prompts, predictions and messages. Columns have the same names as in the
exports of studies with participants. Texts from models are written as JSON strings, so that each value stays
on one line. New columns are only added at the end.
"""

from __future__ import annotations

import csv
import io
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from kitchen.agents.agent_team import DecisionMade
from kitchen.contract.agent_skills import spell_skill
from kitchen.contract.assigned_jobs import ACCEPTED, DONE
from kitchen.contract.decision_notes import predictions_in
from kitchen.contract.episode_log import EpisodeLog
from kitchen.contract.language_model import Call, Reply, Request
from kitchen.contract.line_up import line_up_kinds
from kitchen.contract.mailbox import WRITTEN_KEY
from kitchen.contract.team_measures import (
    MEASURE_COLUMNS,
    job_courses,
    plannings_of,
    reassigned_jobs,
    team_measures,
)
from kitchen.contract.world import Json
from kitchen.experiments.experiment_setup import ExperimentSetup
from kitchen.experiments.log_entries import StepEntry, UntakenStep, text_key
from kitchen.experiments.log_files import LogError, PlayedLog
from kitchen.experiments.play_episodes import RunningEpisode
from kitchen.infra.file_writing import atomic_writer
from kitchen.llm.cache_misses import CachedCall, CacheWatch, cache_prices
from kitchen.llm.recorded_calls import request_texts
from kitchen.play.live.job_panels import failure_reason
from kitchen.registry.world_metrics import event_columns, failed_checks, lists_failed_checks, scored_events
from kitchen.registry.world_registry import get_kit, get_page, get_world
from kitchen.words.gettext_without_django import in_english

logger = logging.getLogger(__name__)

Cells = tuple[Any, ...]

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

KEY_COLUMNS = ("variant", "level", "agents", "alpha", "episode", "step")
STEP_COLUMNS = (*KEY_COLUMNS, "commands", "played_by", "fallback", "events", "state_hash")
DECISION_COLUMNS = (
    *KEY_COLUMNS,
    *("taken", "coplayer", "played_by", "fallback", "milliseconds", "note"),
    *("call", "provider", "model_asked", "model_named", "sampling", "prompts"),
    *("reply", "reply_call", "stop", "model_error", "model_error_text", "attempts", "seconds"),
    *("tokens_input", "tokens_output", "tokens_cache_read", "tokens_cache_write", "cost"),
    *("reasoning", "parameters", "tokens_thinking", "cache_miss"),
)
PROMPT_COLUMNS = ("prompt", "text")
PREDICTION_COLUMNS = (*KEY_COLUMNS, "seat", "of_seat", "foreseen", "done", "done_step", "right")
NO_CALL = (None,) * (len(DECISION_COLUMNS) - DECISION_COLUMNS.index("call"))


TEAM_COLUMNS = ("member", "because")
"""Additional columns of decisions.csv where members of an organisation decide."""
EVENT_COLUMNS = (*KEY_COLUMNS, "event", "result", "messages")
JOB_COLUMNS = (
    *KEY_COLUMNS,
    *("job", "giver", "worker", "text", "aim", "state", "why"),
    *("steps_to_accepted", "steps_to_done", "given_again", "cycle"),
)
PLANNING_COLUMNS = (
    *KEY_COLUMNS,
    *("member", "due", "took_effect", "stale", "because", "played_by", "fallback", "milliseconds"),
    *("calls", "usd"),
)
MESSAGE_COLUMNS = (*KEY_COLUMNS, "number", "sender", "to", "kind", "text", "written", "data")
MESSAGE_DATA_CELL = MESSAGE_COLUMNS.index("data")
REQUESTS_COLUMN = "requests"
"""Additional column of messages.csv in worlds in which messages request commands, as in a study's export."""


def _step_rows(log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    for entry in log.entries:
        commands = _json([[seat, *command] for seat, command in entry.commands.items()])
        events = _json([event.to_json() for event in entry.events])
        chose = (entry.played_by, entry.fallback)
        yield *log.head.key, entry.step, commands, *chose, events, entry.state_hash


def _decision_rows(log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    prices = cache_prices()
    watches: defaultdict[Cells, CacheWatch] = defaultdict(lambda: CacheWatch(prices))
    for each in log.decided:
        for which, calls, more in _decisions(log, each):
            missed = (watches[more[:1]].reason(_cached_call(call)) for call in calls)
            made = [
                (number, *_call(call), why)
                for number, (call, why) in enumerate(zip(calls, missed, strict=True), start=1)
            ]
            yield from ((*log.head.key, each.step, *which, *cells, *more) for cells in made or [NO_CALL])


def _decisions(
    log: PlayedLog, each: StepEntry | UntakenStep
) -> Iterator[tuple[Cells, Sequence[Call], Cells]]:
    """Yield (cells, model calls, team cells) for each decision in a step. The team cells are those of
    TEAM_COLUMNS."""
    if log.head.organisation is None or isinstance(each, UntakenStep):
        of_team = () if log.head.organisation is None else (None, None)
        yield _decided(each, log.head.coplayer), each.calls, of_team
        return
    kinds = dict(zip(_members(log), line_up_kinds(log.head.coplayer), strict=True))
    for made in each.decisions:
        yield _decided(made, kinds[made.member]), made.calls, (made.member, made.because)


def _members(log: PlayedLog) -> list[int]:
    return [member["number"] for member in log.head.organisation["members"]]


def _message_rows(log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    for message in (message for entry in log.entries for message in entry.messages):
        data = {name: value for name, value in message.data.items() if name != WRITTEN_KEY}
        written = _json(message.data[WRITTEN_KEY]) if WRITTEN_KEY in message.data else None
        to = " ".join(map(str, message.to))
        cells = (message.number, message.sender, to, message.kind, _json(message.text), written, _json(data))
        yield *log.head.key, message.step, *cells


def _message_rows_with_requests(world: str, log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    """Yield the table rows of messages. The last cell of each row has the requests in the message as
    English text."""
    page, data = get_page(world), MESSAGE_DATA_CELL
    with in_english():
        for cells in _message_rows(log, known):
            yield *cells, page.requests_in_words(json.loads(cells[data])) or None


def _job_rows(log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    courses = job_courses(message for entry in log.entries for message in entry.messages)
    again = reassigned_jobs(courses)
    for each in courses:
        job = each.job
        asked = job.number, job.giver, job.worker, _json(job.text), _json(job.aim)
        said = *asked, job.state, _json(failure_reason(job))
        steps = each.steps_to(ACCEPTED), each.steps_to(DONE)
        yield *log.head.key, job.step, *said, *steps, int((job.number, job.worker) in again), job.cycle


def _planning_rows(log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    episode = _replayed(log, "planning iterations")
    for each in plannings_of(episode) if episode else ():
        made, effect = each.decision, (each.due, int(each.due <= len(log.entries)), each.stale)
        who = made.because, made.played_by, made.fallback, made.milliseconds
        yield *log.head.key, made.asked_in, made.member, *effect, *who, made.calls, made.cost


def _team_rows(log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    episode = _replayed(log, "team measures")
    for row in team_measures(episode, get_world(episode.world)) if episode else ():
        cells = (_json(value) if isinstance(value, dict) else value for value in row.values())
        yield *log.head.key, *(int(value) if isinstance(value, bool) else value for value in cells)


def _replayed(log: PlayedLog, what: str) -> EpisodeLog | None:
    """Return the log of an episode, from a replay that is cached for all tables. Return None if the present
    version of the world plays the episode differently: `what` then cannot be computed."""
    if log.replayed is None:
        episode = RunningEpisode(log.head)
        try:
            episode.catch_up(log)
        except LogError as error:
            logger.error("the %s of %s cannot be computed: it %s", what, log.head, error)
            return None
        log.replayed = episode.log()
    return log.replayed


def _prompt_rows(log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    for key, text in log.texts.items():
        if key not in known:
            yield key, _json(text)
    known.update(log.texts)


def _prediction_rows(log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    for one in predictions_in(each.note for entry in log.entries for each in entry.decisions or (entry,)):
        done = spell_skill(one.done) if one.done else None
        right = None if one.right is None else int(one.right)
        yield *log.head.key, one.step, one.by, one.of, spell_skill(one.predicted), done, one.done_in, right


def _decided(each: StepEntry | UntakenStep | DecisionMade, coplayer: str) -> Cells:
    if isinstance(each, UntakenStep):
        return 0, coplayer, None, None, None, None
    return 1, coplayer, each.played_by, each.fallback, round(each.milliseconds, 3), _json(each.note)


def _call(call: Call) -> Cells:
    reply = call.reply or Reply(call.raw)
    usage = call.usage
    return (
        call.provider,
        call.request.model,
        reply.model,
        _json(_sampling(call.request)),
        " ".join(text_key(text) for _, text in request_texts(call.request)),
        _json(reply.text),
        None if reply.call is None else _json(reply.call),
        reply.stop,
        call.error,
        call.error_text,
        _json([asdict(attempt) for attempt in call.attempts]),
        round(call.seconds, 3),
        *(usage.input, usage.output, usage.cache_read, usage.cache_write),
        call.cost,
        _json(reply.reasoning) if reply.reasoning else None,
        _json(dict(call.parameters)),
        usage.thinking,
    )


def _cached_call(call: Call) -> CachedCall:
    return CachedCall(
        call.provider,
        call.request.model,
        [text_key(text) for _, text in request_texts(call.request)],
        call.request.tool is not None,
        call.parameters,
        [asdict(attempt) for attempt in call.attempts],
        *(call.usage.input, call.usage.cache_read, call.usage.cache_write),
    )


def _sampling(request: Request) -> dict[str, Json]:
    """Return the parameters of a request except model and messages, with the name of the tool."""
    sampling = asdict(request)
    del sampling["model"], sampling["messages"]
    return {**sampling, "tool": request.tool.name if request.tool else None}


def _json(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


TableRows = tuple[tuple[str, ...], Callable[[PlayedLog, set[str]], Iterator[Cells]]]
TABLES: dict[str, TableRows] = {
    "steps.csv": (STEP_COLUMNS, _step_rows),
    "decisions.csv": (DECISION_COLUMNS, _decision_rows),
    "prompts.csv": (PROMPT_COLUMNS, _prompt_rows),
    "predictions.csv": (PREDICTION_COLUMNS, _prediction_rows),
}
"""File name → its columns, and the function that makes the rows of one log.

The second argument of that function holds the hashes of texts that earlier logs have already written.
"""
MESSAGES_FILE = "messages.csv"
TEAM_TABLES = {
    **TABLES,
    "decisions.csv": ((*DECISION_COLUMNS, *TEAM_COLUMNS), _decision_rows),
    MESSAGES_FILE: (MESSAGE_COLUMNS, _message_rows),
    "jobs.csv": (JOB_COLUMNS, _job_rows),
    "plannings.csv": (PLANNING_COLUMNS, _planning_rows),
    "team_measures.csv": ((*KEY_COLUMNS[:-1], *MEASURE_COLUMNS), _team_rows),
}
"""The tables of experiments with organisations. Rows of line-ups without one have empty cells."""


EVENTS_FILE, CHECKS_FILE = "scored_events.csv", "failed_checks.csv"
CHECK_COLUMNS = (*KEY_COLUMNS, "seat", "code", "checked")


def log_table_files(setup: ExperimentSetup) -> Mapping[str, TableRows]:
    """Return the tables that are made from the logs of an experiment."""
    tables = dict(TEAM_TABLES if setup.organisations else TABLES)
    if MESSAGES_FILE in tables and get_kit(setup.world).requests_actions:
        rows = partial(_message_rows_with_requests, setup.world)
        tables[MESSAGES_FILE] = ((*MESSAGE_COLUMNS, REQUESTS_COLUMN), rows)
    if names := tuple(column.name for column in event_columns([setup.world])):
        tables[EVENTS_FILE] = ((*EVENT_COLUMNS, *names), partial(_scored_event_rows, names))
    if lists_failed_checks(setup.world):
        tables[CHECKS_FILE] = (CHECK_COLUMNS, _failed_check_rows)
    return tables


def _scored_event_rows(names: Sequence[str], log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    """Yield a table row for each event that the world's metrics score. Yield nothing if today's version of
    the world plays the episode differently."""
    episode = _replayed(log, "scored events")
    for number, event in enumerate(scored_events(episode) if episode else (), start=1):
        values = (event.values.get(name) for name in names)
        cells = (int(value) if isinstance(value, bool) else value for value in values)
        yield *log.head.key, event.step, number, event.result, _json(event.messages), *cells


def _failed_check_rows(log: PlayedLog, known: set[str]) -> Iterator[Cells]:
    """Yield a table row for each check of the world that failed. Yield nothing if today's version of the
    world plays the episode differently."""
    episode = _replayed(log, "failed checks")
    for check in failed_checks(episode) if episode else ():
        yield *log.head.key, *check


def table_pieces(
    name: str, logs: Iterable[PlayedLog], tables: Mapping[str, TableRows] = TABLES
) -> Iterator[bytes]:
    """Yield the bytes of one table in pieces: the header line, then the rows of each log."""
    table = TableWriter(name, tables)
    yield table.head
    for log in logs:
        yield table.piece(log)


def write_tables(folder: Path, logs: Iterable[PlayedLog], tables: Mapping[str, TableRows] = TABLES) -> None:
    """Write all tables into the folder. Each file is written completely or not at all. Raises OSError if
    one cannot be written."""
    with ExitStack() as drafts:
        outs = [
            (TableWriter(name, tables), drafts.enter_context(atomic_writer(folder / name))) for name in tables
        ]
        for table, out in outs:
            out.write(table.head)
        for log in logs:
            for table, out in outs:
                out.write(table.piece(log))


class TableWriter:
    """Write one table as CSV bytes: the header line, then the rows of one log after another."""

    def __init__(self, name: str, tables: Mapping[str, TableRows] = TABLES) -> None:
        self.columns, self.rows = tables[name]
        self.known = set[str]()

    @property
    def head(self) -> bytes:
        """Return the header line of the table."""
        return _lines([self.columns])

    def piece(self, log: PlayedLog) -> bytes:
        """Return the rows of one more log."""
        short = (cells + (None,) * (len(self.columns) - len(cells)) for cells in self.rows(log, self.known))
        return _lines(short)


def _lines(rows: Iterable[Cells]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows([_cell(value) for value in cells] for cells in rows)
    return out.getvalue().encode()


def _cell(value: Any) -> Any:
    """Return "" for None, and prefix text that a spreadsheet would execute with an apostrophe."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value
