"""Check single aspects of an installation, such as the database, disk, backup, Redis, workers, and budgets.

Each check returns a line of text for the operator. Redis is asked once for all checks.
"""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.utils import timezone

from kitchen.infra.append_only import unguarded_tables
from kitchen.infra.db_errors import missing_migrations
from kitchen.infra.file_writing import last_backup_at
from kitchen.infra.task_broker import (
    QueueStatus,
    WorkerHealth,
    ask_worker_health,
    cached_worker_health,
    queue_statuses,
    redis_connection,
)
from kitchen.llm.call_costs import format_dollars
from kitchen.llm.circuit_breaker import paused_models
from kitchen.money.budget_ledger import budgets_nearly_spent, total_booked
from kitchen.play.episode.play_monitoring import (
    PlayPace,
    RecentFaults,
    count_late_turns,
    recent_faults,
    recent_pace,
    running_episode_counts,
)
from kitchen.realtime.realtime_episode import LATE_SECONDS
from kitchen.realtime.realtime_storage import clock_totals
from kitchen.uptime.outage_queries import recent_outages
from kitchen.words.english_text import counted_noun

WELL, LOOK, BROKEN = "well", "look", "broken"
"""States of a check: all is well; somebody should look; it does not work."""
ORDER = (WELL, LOOK, BROKEN)


@dataclass(frozen=True, slots=True)
class StatusLine:
    """The result of one check: the state, what it means, and what the operator should do (empty if
    nothing)."""

    state: str
    means: str
    do: str = ""
    name: str = ""


def worst_state(lines: Iterable[StatusLine]) -> str:
    """Return the worst state of these lines. Return the good state if there are no lines."""
    return max((line.state for line in lines), key=ORDER.index, default=WELL)


def status_summary(lines: Iterable[StatusLine]) -> str:
    """Return a short text that summarises all lines."""
    lines = list(lines)
    broken = [line.name for line in lines if line.state == BROKEN]
    look = [line.name for line in lines if line.state == LOOK]
    if broken:
        more = f" Look at these, too: {', '.join(look)}." if look else ""
        return f"Something is broken: {', '.join(broken)}.{more}"
    return f"Nothing is broken. Look at: {', '.join(look)}." if look else "Everything is well."


def format_seconds(seconds: float) -> str:
    """Return a duration as text, such as `12 ms`, `3.4 s` or `2 minutes`."""
    if seconds < 0.001:
        return "1 ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def format_size(number: float) -> str:
    """Return a size in bytes as text, such as `12 MB` or `3.4 GB`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB"


SLOW_DATABASE_SECONDS = 0.25
LITTLE, HARDLY = 0.1, 0.02
"""Free shares of a disk below which somebody should look, or the check is broken."""
LITTLE_BYTES, HARDLY_BYTES = 2e9, 2e8
MUCH_LOG, MUCH_WAL = 1e9, 5e8
CLOCK_OFF, CLOCK_WRONG = 1.0, 30.0
"""Seconds between two clocks from which somebody should look, or the check is broken."""
OLD_BACKUP = timedelta(days=7)
"""Age from which a backup is too old."""


def database() -> StatusLine:
    """Check whether the database answers, and how long it takes."""
    began = time.perf_counter()
    _value("SELECT 1")
    took = time.perf_counter() - began
    means = f"{connection.display_name} answers within {format_seconds(took)}."
    if took < SLOW_DATABASE_SECONDS:
        return StatusLine(WELL, means)
    return StatusLine(LOOK, means, "Look for what else it is doing, and at the disk it is on.")


def migrations() -> StatusLine:
    """Check whether all migrations are applied, and whether the database refuses changes of log rows."""
    if missing := missing_migrations():
        more = " …" if len(missing) > 1 else ""
        means = f"{counted_noun(len(missing), 'migration')} not applied: {missing[0]}{more}."
        return StatusLine(BROKEN, means, "Run manage.py migrate (Update).")
    if open_tables := unguarded_tables():
        means = f"All are applied, but the log can be changed: {', '.join(open_tables)}."
        return StatusLine(BROKEN, means, "Run manage.py verify_log, and read about guards in CONTRIBUTING.")
    return StatusLine(WELL, "All are applied, and the database refuses to change rows of the log.")


def disk() -> StatusLine:
    """Check the free disk space in the folders to which the app writes."""
    left = min((shutil.disk_usage(folder) for folder in _folders()), key=lambda usage: usage.free)
    share = left.free / left.total
    means = f"{format_size(left.free)} of {format_size(left.total)} are free where the app writes."
    if share > LITTLE and left.free > LITTLE_BYTES:
        return StatusLine(WELL, means)
    state = BROKEN if share < HARDLY or left.free < HARDLY_BYTES else LOOK
    return StatusLine(state, means, "Make room: a full disk stores nothing. Begin with the logs.")


def _folders() -> list[Path]:
    """Return the folders to which the app writes on this machine."""
    file = _sqlite_file()
    return [settings.VAR_DIR, *([file.parent] if file else [])]


def _sqlite_file() -> Path | None:
    file = Path(str(connection.settings_dict["NAME"]))
    return file if connection.vendor == "sqlite" and file.is_file() else None


def sizes() -> StatusLine:
    """Check how much disk space the database and the logs take."""
    wal = _bytes([file.with_name(f"{file.name}-wal")]) if (file := _sqlite_file()) else 0
    logs = _bytes(settings.LOG_DIR.glob("*"))
    means = f"The database takes {format_size(_database_bytes() + wal)}, logs take {format_size(logs)}."
    if wal > MUCH_WAL:
        do = "A program keeps reading, so SQLite cannot shorten its write-ahead log. Restart the app."
        return StatusLine(LOOK, f"{means} SQLite's write-ahead log is {format_size(wal)} of it.", do)
    if logs > MUCH_LOG:
        return StatusLine(LOOK, means, "Move logs away, for example with logrotate (Logs).")
    return StatusLine(WELL, means)


def _database_bytes() -> int:
    if connection.vendor != "postgresql":
        return _bytes(filter(None, [_sqlite_file()]))
    return int(_value("SELECT pg_database_size(current_database())"))


def _value(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def _bytes(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.is_file())


def clock() -> StatusLine:
    """Check whether the clocks of the app and of the database server agree."""
    if connection.vendor != "postgresql":
        return StatusLine(WELL, f"App and database share one clock: {timezone.now():%Y-%m-%d %H:%M} UTC.")
    connection.ensure_connection()
    began = time.time()
    apart = abs(float(_value("SELECT extract(epoch FROM clock_timestamp())")) - (began + time.time()) / 2)
    means = f"The clocks of app and database are {format_seconds(apart)} apart."
    if apart < CLOCK_OFF:
        return StatusLine(WELL, means)
    state = BROKEN if apart > CLOCK_WRONG else LOOK
    do = "Set both with NTP: step timers, tokens and second factors depend on the clock."
    return StatusLine(state, means, do)


def backup() -> StatusLine:
    """Check the age of the last known backup."""
    last = last_backup_at(settings.VAR_DIR)
    if last is None:
        means = "No backup is known. Backups that other programs made cannot be seen from here."
        return StatusLine(LOOK, means, "Make one, and schedule one for every day (Backup and restore).")
    age = datetime.now(UTC) - last
    means = f"The last one was made on {last.astimezone(UTC):%Y-%m-%d at %H:%M} UTC."
    if age < OLD_BACKUP:
        return StatusLine(WELL, means)
    return StatusLine(LOOK, means, "Make one, and find out why none was made (Backup and restore).")


def versions() -> StatusLine:
    """Report the versions of the app, Python, Django and the database."""
    here = f"Python {platform.python_version()}, Django {django.get_version()}"
    return StatusLine(WELL, f"Brigade {settings.VERSION}, {here}, {_database_version()}.")


def _database_version() -> str:
    if connection.vendor == "postgresql":
        return f"PostgreSQL {_value('SHOW server_version')}"
    return f"SQLite {_value('SELECT sqlite_version()')}"


SLOW_BROKER_SECONDS = 0.1
WAITED, TOO_LONG = 5.0, 30.0
"""Seconds that the first task of people's queue has waited, for the states look and broken."""
NOT_KNOWN = "Unknown while Redis does not answer."


@dataclass(frozen=True, slots=True)
class BrokerState:
    """The state of Redis and of the workers. `seconds` is how long Redis took to answer; None if it did
    not answer."""

    seconds: float | None = None
    why: str = ""
    queues: dict[str, QueueStatus] = field(default_factory=dict)
    health: WorkerHealth = field(default_factory=WorkerHealth)


def ask_broker() -> BrokerState:
    """Ask Redis and, through it, the workers for their state. It takes about a second and raises no error."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        with redis_connection() as client:
            began = time.perf_counter()
            client.ping()
            seconds = time.perf_counter() - began
            queues = queue_statuses(client)
        return BrokerState(seconds, "", queues, _health())
    except (RedisError, OSError) as error:
        return BrokerState(why=type(error).__name__)


def _health() -> WorkerHealth:
    """Return the health of the workers. If a cached result exists, return it; otherwise query the
    workers."""
    known = cached_worker_health()
    fresh = known.workers is not None and known.experimenters is not None
    return known if fresh else ask_worker_health()


def redis(broker: BrokerState) -> StatusLine:
    """Check whether Redis answers, and how long it takes."""
    if broker.seconds is None:
        means = f"It does not answer ({broker.why}). Pages continue, and check for changes every two seconds."
        return StatusLine(BROKEN, means, "Start it: thinking co-players and analyses wait for it.")
    means = f"It answers within {format_seconds(broker.seconds)}."
    if broker.seconds < SLOW_BROKER_SECONDS:
        return StatusLine(WELL, means)
    return StatusLine(LOOK, means, "Check which other programs use it, and check the network.")


def people_workers(broker: BrokerState) -> StatusLine:
    """Check the workers that compute the decisions of co-players who play with people."""
    number = broker.health.workers
    if broker.seconds is None or number is None:
        return StatusLine(LOOK, NOT_KNOWN)
    if number:
        return StatusLine(WELL, f"{counted_noun(number, 'worker')} {_answer(number)}.")
    means = "None answers. Fallbacks play for thinking co-players, and nobody is timed out."
    do = "Start brigade-people, or find out why it ended in worker-1.log or the journal."
    return StatusLine(BROKEN, means, do)


def experiment_workers(broker: BrokerState) -> StatusLine:
    """Check the workers that run experiments without people. An installation may have none."""
    number = broker.health.experimenters
    if broker.seconds is None or number is None:
        return StatusLine(LOOK, NOT_KNOWN)
    waiting = f"{counted_noun(broker.queues['experiments'].tasks, 'task')} waiting"
    if number:
        return StatusLine(WELL, f"{counted_noun(number, 'worker')} {_answer(number)}; {waiting}.")
    means = f"None answers; {waiting}. Play does not need one."
    return StatusLine(LOOK, means, "Start brigade-experiments if there are experiments or dry runs.")


def queue(broker: BrokerState) -> StatusLine:
    """Check how long tasks wait for a worker that decides for people's co-players."""
    if broker.seconds is None:
        return StatusLine(LOOK, NOT_KNOWN)
    people = broker.queues["people"]
    means = f"{counted_noun(people.tasks, 'task')} waiting for a worker"
    means += f", the first for {format_seconds(people.seconds)}." if people.tasks else "."
    if people.seconds < WAITED:
        return StatusLine(WELL, means)
    state = BROKEN if people.seconds > TOO_LONG else LOOK
    do = "Start more workers of people's co-players, or give the worker more threads (--concurrency)."
    return StatusLine(state, means, do)


def _answer(number: int) -> str:
    return "answers" if number == 1 else "answer"


SLOW_STEP_SECONDS = 1.0
"""Duration in seconds from which a step is slow. Most steps take milliseconds; people notice this delay."""
RECENT = timedelta(hours=1)
"""Time after an outage during which the check asks to look."""
MANY_LATE = 0.02
"""Share of late steps that people notice."""
FEW, SOME, MANY = 3, 0.05, 0.5
"""Smallest number of fallbacks or failures that counts, and their shares for the states look and broken."""


def steps() -> StatusLine:
    """Report the number of running episodes and of recent steps, and check how long steps take."""
    live, pace = counted_noun(sum(running_episode_counts().values()), "episode"), recent_pace()
    number = f"{pace.steps}{' or more' if pace.capped else ''}"
    means = f"{live} being played; {number} steps in the last minute.{_how_quick(pace)}"
    if pace.most is None or pace.most < SLOW_STEP_SECONDS:
        return StatusLine(WELL, means)
    do = "Check the load of the machine, and what else uses the database (Limits, Plan the capacity)."
    return StatusLine(LOOK, means, do)


def _how_quick(pace: PlayPace) -> str:
    if pace.half is None or pace.most is None:
        return " All of them waited for people or models." if pace.steps else ""
    half, most = format_seconds(pace.half), format_seconds(pace.most)
    return (
        f" Steps that wait for no model were stored within {half} of the last command (half of them) or "
        f"within {most} (95 of 100)."
    )


def stuck() -> StatusLine:
    """Check for episodes that wait longer than allowed for co-players, or for a turn to close."""
    late = count_late_turns()
    if not late:
        return StatusLine(WELL, "No episode waits longer than allowed for its co-players.")
    number = f"{counted_noun(late, 'episode')} {'waits' if late == 1 else 'wait'}"
    means = f"{number} longer than allowed for co-players, or for a turn to be closed."
    do = "Workers continue these within seconds: check workers and Redis above, then worker-1.log. "
    return StatusLine(BROKEN, means, do + "Live of each study shows whose episodes they are.")


def clocks() -> StatusLine:
    """Check whether the clocks of real-time episodes run, and without delay."""
    stand = clock_totals()
    if stand.stopped:
        verb = "has" if stand.stopped == 1 else "have"
        means = f"{counted_noun(stand.stopped, 'clock')} {verb} stopped: no process takes the steps."
        do = "Start brigade-ticker, or find out why it ended in ticker.log or the journal."
        return StatusLine(BROKEN, means, do)
    if not stand.running:
        return StatusLine(WELL, "No game is played in real time.")
    games, late = counted_noun(stand.running, "game"), counted_noun(stand.late, "step")
    means = f"{games} in real time; {late} of {stand.steps} came more than {1000 * LATE_SECONDS:.0f} ms late."
    if stand.late <= MANY_LATE * stand.steps:
        return StatusLine(WELL, means)
    return StatusLine(
        LOOK, means, "The machine is overloaded. Use more cores, or let fewer people play at once."
    )


def outages() -> StatusLine:
    """Check for outages that continue now, were in the last hour, or were in the last seven days."""
    lately = recent_outages()
    if now := [one.what for one in lately if one.until is None]:
        means = f"Away now: {', '.join(now)}."
        return StatusLine(BROKEN, means, "Start what is away. People get the lost time back.")
    if not lately:
        return StatusLine(WELL, "None in the last seven days.")
    last = max(one.until for one in lately if one.until)
    number, over = counted_noun(len(lately), "outage"), f"{last.astimezone(UTC):%d %B, %H:%M}"
    means = f"{number} in the last seven days, the last one ended on {over} UTC."
    if timezone.now() - last > RECENT:
        return StatusLine(WELL, means)
    return StatusLine(LOOK, means, "Live of each study lists them. The logs of that time show the cause.")


def coplayers() -> StatusLine:
    """Check how often co-players used fallbacks and language models failed in the last 15 minutes."""
    faults = recent_faults()
    decisions, calls = counted_noun(faults.decisions, "decision"), counted_noun(faults.calls, "call")
    means = (
        f"In the last 15 minutes {faults.fallbacks} of {decisions} were made by a fallback, "
        f"and {faults.failures} of {calls} to models got no answer."
    )
    state, paused = _state(faults), paused_models()
    if paused:
        state = BROKEN
        means += f" Not called now, because they kept failing: {', '.join(paused)}."
    do = (
        "Live shows which study; worker-1.log shows the cause: a key, a limit of the provider, or its server."
    )
    return StatusLine(state, means, do if state != WELL else "")


def _state(faults: RecentFaults) -> str:
    shares = [
        part / whole
        for part, whole in ((faults.fallbacks, faults.decisions), (faults.failures, faults.calls))
        if part >= FEW
    ]
    worst = max(shares, default=0.0)
    return BROKEN if worst > MANY else LOOK if worst > SOME else WELL


def money() -> StatusLine:
    """Report today's cost of language models, and the budgets that are nearly spent."""
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    booked, near = total_booked(today), budgets_nearly_spent()
    means = f"Models cost {format_dollars(booked.spent)} today (UTC)"
    means += f", and {format_dollars(booked.set_aside)} are set aside." if booked.set_aside else "."
    if not near:
        return StatusLine(WELL, means)
    means += f" {counted_noun(near, 'budget')} {'is' if near == 1 else 'are'} at least nine tenths spent."
    do = "A study at its limit calls no model any more, and fallbacks play. Its page shows the forecast; "
    return StatusLine(LOOK, means, do + "you set the limit in its design.")
