"""How Redis and the workers are. Redis is asked once for all of them: while it is away, nothing waits for it
twice."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from kitchen.machine.health import Health, health_asked, health_known
from kitchen.machine.queues import Queue, asked_redis, queues_standing
from kitchen.words.counting import counted
from study.operation.lines import BROKEN, LOOK, WELL, Line, seconds_said

SLOW_SECONDS = 0.1
WAITED, TOO_LONG = 5.0, 30.0
"""Seconds that the first task of people's queue has waited: somebody should look; it does not work."""
NOT_KNOWN = "Not known while Redis does not answer."


@dataclass(frozen=True, slots=True)
class Broker:
    """What Redis said, and who answered over it; `seconds` is None where it did not answer."""

    seconds: float | None = None
    why: str = ""
    queues: dict[str, Queue] = field(default_factory=dict)
    health: Health = field(default_factory=Health)


def broker_asked() -> Broker:
    """Ask Redis and, over it, the workers; about a second, never fails."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        with asked_redis() as client:
            began = time.perf_counter()
            client.ping()
            seconds = time.perf_counter() - began
            queues = queues_standing(client)
        return Broker(seconds, "", queues, _health())
    except (RedisError, OSError) as error:
        return Broker(why=type(error).__name__)


def _health() -> Health:
    """What is known, or else what is found now."""
    known = health_known()
    fresh = known.workers is not None and known.experimenters is not None
    return known if fresh else health_asked()


def redis(broker: Broker) -> Line:
    """Whether it answers."""
    if broker.seconds is None:
        means = f"It does not answer ({broker.why}). Pages go on, and look for themselves every two seconds."
        return Line("Redis", BROKEN, means, "Start it: co-players that think, and analyses, wait for it.")
    means = f"It answers within {seconds_said(broker.seconds)}."
    if broker.seconds < SLOW_SECONDS:
        return Line("Redis", WELL, means)
    return Line("Redis", LOOK, means, "Look for what else uses it, and at the network between.")


def people_workers(broker: Broker) -> Line:
    """Who decides for people's co-players."""
    name, number = "Workers of people's co-players", broker.health.workers
    if broker.seconds is None or number is None:
        return Line(name, LOOK, NOT_KNOWN)
    if number:
        return Line(name, WELL, f"{counted(number, 'worker')} {_answer(number)}.")
    means = "None answers. Co-players that think are replaced by their fallbacks, and nobody is timed out."
    return Line(
        name, BROKEN, means, "Start brigade-people, or see why it ended: worker-1.log, or the journal."
    )


def experiment_workers(broker: Broker) -> Line:
    """Who plays experiments; an installation may have none."""
    name, number = "Workers of experiments", broker.health.experimenters
    if broker.seconds is None or number is None:
        return Line(name, LOOK, NOT_KNOWN)
    waiting = broker.queues["experiments"].tasks
    if number:
        means = f"{counted(number, 'worker')} {_answer(number)}; {counted(waiting, 'task')} waiting."
        return Line(name, WELL, means)
    means = f"None answers; {counted(waiting, 'task')} waiting. Nobody who plays needs one."
    return Line(name, LOOK, means, "Start brigade-experiments if there are experiments or dry runs.")


def queue(broker: Broker) -> Line:
    """How long people's co-players wait for a worker."""
    if broker.seconds is None:
        return Line("Queue", LOOK, NOT_KNOWN)
    people = broker.queues["people"]
    means = f"{counted(people.tasks, 'task')} waiting for a worker"
    means += f", the first for {seconds_said(people.seconds)}." if people.tasks else "."
    if people.seconds < WAITED:
        return Line("Queue", WELL, means)
    state = BROKEN if people.seconds > TOO_LONG else LOOK
    do = "Start more workers of people's co-players, or give the one there is more threads (--concurrency)."
    return Line("Queue", state, means, do)


def _answer(number: int) -> str:
    return "answers" if number == 1 else "answer"
