"""A worker whose broker dies connects again, and the log has one line for the loss and one for the return."""

from __future__ import annotations

import asyncio
import io
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import kombu
import kombu.common
import pytest
from celery.signals import worker_init
from django.core.cache import caches
from django.utils.module_loading import import_string
from redis.exceptions import ConnectionError as RedisConnectionError

from brigade import broker_loss_log
from brigade.broker_loss_log import BrokerLossFilter, broker_error
from brigade.celery import app
from brigade.log_formatters import LineFormatter
from brigade.paths import broker_url
from kitchen.infra.redis_channel_layer import RedisChannelLayer
from kitchen.infra.task_broker import send_task
from kitchen.play.turn import page_broadcast
from kitchen.realtime.page_messages import PageMessages
from tests.servers import Valkey, kill, wait_until

library: Any = kombu
"""Has no types."""


def test_a_connection_can_be_closed_whose_broker_died_while_a_message_was_open(
    caplog: pytest.LogCaptureFixture,
) -> None:
    worker_init.send(sender=app)
    with Valkey() as broker:
        connection = library.Connection(broker_url(broker.url))
        errors = connection.connection_errors
        message = take_and_wait_for_more(connection)
        kill(broker.child)
        close_as_a_worker_does(connection)
        assert not connection.connected
        message.ack_log_error(logging.getLogger("celery.worker.request"), errors)  # its task ends later
        (refusal,) = (record for record in caplog.records if "Couldn't ack" in record.getMessage())
        assert broker_error(refusal) is not None, "it is counted, without its traceback"


def take_and_wait_for_more(connection: Any) -> Any:
    """Have a message that is not done with, and be listening for the next one, on two channels. Return the
    message."""
    taken: list[Any] = []
    errands, orders = (library.Queue(name, routing_key=name) for name in ("errands", "orders"))
    take = [lambda _, message: taken.append(message)]
    library.Consumer(connection.default_channel, [errands], callbacks=take).consume()
    library.Consumer(connection.channel(), [orders]).consume()
    with connection.channel() as other:
        connection.Producer(other).publish("an errand", routing_key="errands")
    while not taken:
        connection.drain_events(timeout=60)
    with suppress(TimeoutError):
        while True:
            connection.drain_events(timeout=0.2)
    (message,) = taken
    assert message.payload == "an errand"
    return message


def close_as_a_worker_does(connection: Any) -> None:
    """What Celery does when a connection is lost; kombu 5.7 alone raises an AttributeError here."""
    with suppress(Exception):
        connection.collect(socket_timeout=1.0)
    library.common.ignore_errors(connection, connection.close)


def test_a_worker_connects_again_within_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    from brigade.broker_reconnect import ReconnectingConsumer  # as workers import it: late

    assert app.conf.worker_consumer == "brigade.broker_reconnect:ReconnectingConsumer"
    assert app.conf.broker_connection_max_retries is None, "as long as it takes"
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 4:
            broker.start()

    monkeypatch.setattr("kombu.utils.functional.sleep", wait)
    consumer: Any = object.__new__(ReconnectingConsumer)
    vars(consumer).update(app=app, broker_connection_retry_attempt=0, first_connection_attempt=False)
    with Valkey() as broker:
        kill(broker.child)
        connection = consumer.ensure_connected(library.Connection(broker_url(broker.url)))
        assert connection.connected
        connection.release()
    assert len(waited) == 4
    assert sum(waited) <= 1


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[io.StringIO]:
    """Return the output of the configured log handler with its configured filters. A loss ends after a short
    time."""
    monkeypatch.setattr(broker_loss_log, "CALM_SECONDS", 0.3)
    monkeypatch.setattr(broker_loss_log, "LOOK_SECONDS", 0.05)
    configured = settings.LOGGING
    made = [
        import_string(configured["filters"][name]["()"])
        for name in configured["handlers"]["stderr"]["filters"]
    ]
    (handler,) = (one for one in logging.getLogger().handlers if isinstance(one.formatter, LineFormatter))
    assert isinstance(handler, logging.StreamHandler) and made == [BrokerLossFilter]
    monkeypatch.setattr(handler, "filters", [each() for each in made])
    before = handler.setStream(io.StringIO())
    yield handler.stream
    handler.setStream(before)


def test_a_restart_of_redis_is_two_lines(
    lines: io.StringIO, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """The real libraries log here: channels, kombu and Celery's consumer, and our tasks, nudges and cache."""
    with Valkey() as broker:
        monkeypatch.setenv("REDIS_URL", broker.url)
        layer: Any = RedisChannelLayer(hosts=[{"address": broker.url}])
        monkeypatch.setattr(page_broadcast, "get_channel_layer", lambda: layer)
        monkeypatch.setattr(app.conf, "broker_url", broker_url(broker.url))
        settings.CACHES = {
            "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": broker.url}
        }
        asyncio.run(use_a_lost_broker(layer, broker))
        wait_until(lambda: left_out(lines) >= 10, "a line about the return", 30)
    told = [line for line in lines.getvalue().splitlines() if "Redis answers again" not in line]
    assert len(told) == 1, "beside the return, and that of other tests' brokers"
    assert "WARNING brigade.broker_loss_log Redis does not answer; errors about it are left out" in told[0]


def left_out(lines: io.StringIO) -> int:
    """How many errors were left out, as the line about the return says."""
    return max(
        map(int, re.findall(r"answers again; errors left out: (\d+)", lines.getvalue())),
        default=0,
    )


async def use_a_lost_broker(layer: Any, broker: Valkey) -> None:
    """Listen on the channel layer, kill the broker, use it in every way for a second, and start it again."""
    channel = await layer.new_channel()
    listening = asyncio.ensure_future(layer.receive(channel))
    await asyncio.sleep(0.3)
    kill(broker.child)
    played: Any = SimpleNamespace(game=SimpleNamespace(episode=SimpleNamespace(pk=1)))
    clock = asyncio.create_task(PageMessages(layer).notify(played, {"type": "tick.over"}))
    for number in range(3):
        assert not send_task("kitchen.nothing", number, otherwise="nothing is done", is_frequent=True)
        page_broadcast.nudge_pages(number)
        try:
            caches["default"].get("anything")
        except RedisConnectionError:
            logging.getLogger("django.request").exception("Internal Server Error: /staff/")
        await asyncio.sleep(0.4)
    consumer = logging.getLogger("celery.worker.consumer.consumer")
    consumer.warning("%s (%r)", "consumer: Connection to broker lost.", RedisConnectionError("closed"))
    consumer.error("consumer: Cannot connect to %s: %s.\n%s\n", "redis", ConnectionRefusedError(111), "Again")
    warning = logging.getLogger("py.warnings")
    warning.warning("%s", "CPendingDeprecationWarning:\nworker_cancel_long_running_tasks_on_connection_loss")
    broker.start()
    for one in (listening, clock):
        one.cancel()
        with suppress(BaseException):
            await one


def test_other_errors_stay_in_the_log() -> None:
    def record(name: str, error: BaseException) -> logging.LogRecord:
        trace = (type(error), error, None)
        return logging.LogRecord(name, logging.ERROR, __file__, 1, "%s", ("why",), trace)

    fault = ValueError("a fault of ours")
    fault.__context__ = RedisConnectionError("closed")
    assert broker_error(record("django.request", fault)) is None
    assert broker_error(record("study.tasks", OSError("disk full"))) is None
    assert broker_error(record("channels_redis.pubsub", OSError("closed"))) is not None
    assert broker_error(record("kitchen.realtime.page_messages", TimeoutError())) is not None
    assert broker_error(record("study.tasks", RedisConnectionError("closed"))) is not None
