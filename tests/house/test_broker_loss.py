"""A worker whose broker dies connects again."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import kombu
import kombu.common
import pytest
from celery.signals import worker_init

from brigade.celery import app
from brigade.paths import broker_url
from tests.servers import Valkey, kill

library: Any = kombu
"""Has no types."""


def test_a_connection_can_be_closed_whose_broker_died_while_a_message_was_open() -> None:
    worker_init.send(sender=app)
    with Valkey() as broker:
        connection = library.Connection(broker_url(broker.url))
        take_and_wait_for_more(connection)
        kill(broker.child)
        close_as_a_worker_does(connection)
        assert not connection.connected


def take_and_wait_for_more(connection: Any) -> None:
    """Have a message that is not done with, and be listening for the next one, on two channels."""
    taken: list[str] = []
    errands, orders = (library.Queue(name, routing_key=name) for name in ("errands", "orders"))
    take = [lambda body, _: taken.append(body)]
    library.Consumer(connection.default_channel, [errands], callbacks=take).consume()
    library.Consumer(connection.channel(), [orders]).consume()
    with connection.channel() as other:
        connection.Producer(other).publish("an errand", routing_key="errands")
    while not taken:
        connection.drain_events(timeout=60)
    with suppress(TimeoutError):
        while True:
            connection.drain_events(timeout=0.2)
    assert taken == ["an errand"]


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
