"""A worker whose broker dies connects again."""

from __future__ import annotations

from contextlib import suppress

from celery.signals import worker_init
from kombu import Connection, Consumer, Queue
from kombu.common import ignore_errors

from brigade.celery import app
from brigade.places import broker_url
from tests.servers import Valkey, kill

ERRANDS, ORDERS = Queue("errands", routing_key="errands"), Queue("orders", routing_key="orders")


def test_a_connection_can_be_closed_whose_broker_died_while_a_message_was_open() -> None:
    worker_init.send(sender=app)
    with Valkey() as broker:
        connection = Connection(broker_url(broker.url))
        take_and_wait_for_more(connection)
        kill(broker.child)
        close_as_a_worker_does(connection)
        assert not connection.connected


def take_and_wait_for_more(connection: Connection) -> None:
    """Have a message that is not done with, and be listening for the next one, on two channels."""
    taken: list[str] = []
    channel = connection.default_channel
    Consumer(channel, [ERRANDS], callbacks=[lambda body, _: taken.append(body)]).consume()
    Consumer(connection.channel(), [ORDERS]).consume()
    with connection.channel() as other:
        connection.Producer(other).publish("an errand", routing_key="errands")
    with suppress(TimeoutError):
        while True:
            connection.drain_events(timeout=0.2)
    assert taken == ["an errand"]


def close_as_a_worker_does(connection: Connection) -> None:
    """What Celery does when a connection is lost; kombu 5.7 alone raises an AttributeError here."""
    with suppress(Exception):
        connection.collect(socket_timeout=1.0)
    ignore_errors(connection, connection.close)
