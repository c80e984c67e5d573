"""Define the Prometheus metrics of live play, which docs/metrics.md lists.

Call `multiprocess_metrics.share_metrics` before you import this module. Labels are names of worlds, agents,
providers, models, statuses and codes. They never identify a person or contain a key. Imports no Django.
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import Counter, Gauge, Histogram

SHORT_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bucket limits in seconds, for the work of a machine."""
LONG_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
"""Bucket limits in seconds, for waiting times."""
OTHER = "other"
"""Label in place of values that anybody could invent."""

step_seconds = Histogram(
    "brigade_step_seconds",
    "From the last person's command to the stored step; its count is the steps.",
    ["world", "clock"],
    buckets=SHORT_BUCKETS,
)
command_seconds = Histogram(
    "brigade_command_seconds",
    "From the arrival of a command to what its page is sent.",
    buckets=SHORT_BUCKETS,
)
tick_late_seconds = Histogram(
    "brigade_tick_late_seconds", "How much later than due a tick was taken.", buckets=SHORT_BUCKETS
)
decision_seconds = Histogram(
    "brigade_decision_seconds", "Time of a co-player for a decision.", ["policy"], buckets=LONG_BUCKETS
)
fallbacks = Counter("brigade_fallbacks", "Decisions that a fallback made.", ["policy", "reason"])
turns_timed_out = Counter(
    "brigade_turns_timed_out", "Seats of people whose time for a step ran out.", ["world"]
)
model_seconds = Histogram(
    "brigade_model_call_seconds",
    "Time of a call of a language model, all tries; `outcome` is ok or an error code.",
    ["provider", "model", "outcome"],
    buckets=LONG_BUCKETS,
)
model_tokens = Counter(
    "brigade_model_tokens", "Tokens that models were sent or answered.", ["provider", "model", "kind"]
)
model_pauses = Counter(
    "brigade_model_pauses", "Times that a model was paused because it kept failing.", ["provider", "model"]
)
task_wait_seconds = Histogram(
    "brigade_task_wait_seconds", "How long a task waited for a worker.", ["queue"], buckets=LONG_BUCKETS
)
thread_wait_seconds = Histogram(
    "brigade_database_thread_wait_seconds",
    "How long a page's message waited for a thread that asks the database.",
    buckets=SHORT_BUCKETS,
)
lock_wait_seconds = Histogram(
    "brigade_database_lock_wait_seconds",
    "How long a command waited for its episode's lock, or for SQLite's.",
    buckets=SHORT_BUCKETS,
)
outages = Counter("brigade_away", "Times that something was found to be away.", ["what"])
http_answers = Counter("brigade_http_answers", "Answers to HTTP requests.", ["status"])
websocket_closes = Counter("brigade_websocket_closes", "Websockets that ended, by close code.", ["code"])
open_websockets = Gauge("brigade_websockets_open", "Open websockets.", ["page"], multiprocess_mode="livesum")
playing_pages = Gauge("brigade_pages_playing", "Pages that play a seat now.", multiprocess_mode="livesum")


def count_step(world: str, clock: str, seconds: float) -> None:
    """Count one stored step. `seconds` is the time since the last person's command. `clock` is `timed` if
    steps have a time limit, else `untimed`."""
    step_seconds.labels(world, clock).observe(max(0.0, seconds))


def count_decisions(made: Iterable[tuple[str, float, str]]) -> None:
    """Count stored decisions. Each is (kind of agent, milliseconds, reason of the fallback or an empty
    text)."""
    for policy, milliseconds, reason in made:
        decision_seconds.labels(policy).observe(milliseconds / 1000)
        if reason:
            fallbacks.labels(policy, reason).inc()


def count_model_call(provider: str, model: str, outcome: str, seconds: float) -> None:
    """Count one finished call of a language model. `outcome` is an error code, or empty if it succeeded."""
    model_seconds.labels(provider, model, outcome or "ok").observe(seconds)


def count_model_pause(provider: str, model: str) -> None:
    """Count that a model is not called for a while."""
    model_pauses.labels(provider, model).inc()


def count_tokens(provider: str, model: str, counted: Iterable[tuple[str, int]]) -> None:
    """Count the tokens of a model call. `counted` has (kind, number) pairs, as the provider reports them."""
    for kind, number in counted:
        if number:
            model_tokens.labels(provider, model, kind).inc(number)
