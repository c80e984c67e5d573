"""A process goes on receiving messages after the machine of Redis vanished and came back."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterator
from typing import Any

import pytest
from redis.asyncio.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import ConnectionError as RedisConnectionError

from kitchen.infra.redis_channel_layer import RedisChannelLayer, connection_options
from tests.servers import Valkey

pytestmark = pytest.mark.servers

LOST = TimeoutError(errno.ETIMEDOUT, "Connection timed out")
"""The error of a connection whose machine confirms nothing any more."""


@pytest.fixture
def broker() -> Iterator[Valkey]:
    with Valkey() as broker:
        yield broker


def test_messages_arrive_again_after_the_system_gave_up_a_silent_connection(broker: Valkey) -> None:
    asyncio.run(asyncio.wait_for(lose_and_receive(broker.url), 20))


async def lose_and_receive(url: str) -> None:
    """Subscribe, lose the connection as if Redis's machine had vanished, and receive a message."""
    layer: Any = RedisChannelLayer(hosts=[{"address": url}])
    channel = await layer.new_channel()
    await layer.group_add("cooks", channel)
    received = asyncio.create_task(layer.receive(channel))
    (shard,) = layer._get_layer()._shards
    await lose_connection(shard._redis.connection_pool.make_connection())
    shard._pubsub.connection._reader.set_exception(LOST)
    while not received.done():
        await asyncio.sleep(0.2)
        await layer.group_send("cooks", {"type": "hello"})
    assert (await received)["type"] == "hello"
    await layer.group_discard("cooks", channel)
    await layer.flush()


async def lose_connection(connection: Any) -> None:
    """Check that reading from a lost connection is an error. Otherwise the layer's receiver never pauses."""
    await connection.connect()
    assert await connection.read_response(timeout=0.01) is None, "no message has come"
    connection._reader.set_exception(LOST)
    with pytest.raises(RedisConnectionError, match="timed out"):
        await connection.read_response(timeout=0.01)


@pytest.mark.parametrize(
    ("scheme", "base"),
    [("redis", Connection), ("rediss", SSLConnection), ("unix", UnixDomainSocketConnection)],
)
def test_every_kind_of_address_keeps_its_kind_of_connection(scheme: str, base: type) -> None:
    found = connection_options(address=f"{scheme}://:word@/place", socket_timeout=None)
    assert issubclass(found["connection_class"], base)
    assert (found["password"], found["socket_timeout"]) == ("word", None)
