"""Whoever can write to our Redis can lie, and runs nothing."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import redis
from channels.layers import channel_layers
from django.core.cache import caches
from django.core.checks import run_checks

from brigade.celery import app
from kitchen.infra.redis_exposure import why_exposed
from kitchen.infra.task_broker import HEALTH_CACHE_KEY, _read


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "it went off"


@pytest.mark.servers
def test_a_pickle_in_the_cache_is_not_there(folder: Path, valkey: str, settings: Any) -> None:
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": valkey}}
    cache: Any = caches.create_connection("default")
    cache.set(HEALTH_CACHE_KEY, {"workers": 2, "problem": ""}, 60)
    assert _read(cache.get(HEALTH_CACHE_KEY)).workers == 2
    with redis.Redis.from_url(valkey) as server:
        server.set(cache.make_and_validate_key(HEALTH_CACHE_KEY), pickle.dumps(Bomb(folder)))
    assert cache.get(HEALTH_CACHE_KEY) is None
    assert _read(cache.get(HEALTH_CACHE_KEY)).workers is None
    assert not folder.exists()


@pytest.mark.servers
def test_a_pickle_on_the_queue_is_refused(folder: Path, valkey: str) -> None:
    refused: list[Exception] = []

    def refuse(message: Any, error: Exception) -> None:
        refused.append(error)
        message.ack()  # no other test's worker gets it

    with app.connection_for_write() as connection, connection.channel() as channel:
        queue = app.amqp.queues.new_missing("bombs")  # and no worker of another test consumes it
        consumer = app.amqp.TaskConsumer(channel, [queue], callbacks=[], on_decode_error=refuse)
        with consumer:
            connection.Producer(channel).publish(
                pickle.dumps(Bomb(folder)),
                routing_key="bombs",
                content_type="application/x-python-serialize",
                content_encoding="binary",
            )
            connection.drain_events(timeout=30)
    assert [type(error).__name__ for error in refused] == ["ContentDisallowed"]
    assert not folder.exists()


def test_a_pickle_on_the_channel_layer_is_no_message(folder: Path) -> None:
    layer: Any = channel_layers.make_backend("default")
    assert layer.deserialize(layer.serialize({"type": "nudge"})) == {"type": "nudge"}
    with pytest.raises(ValueError, match="data"):
        layer.deserialize(pickle.dumps(Bomb(folder)))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("unix:///srv/valkey.sock?db=0", True),
        ("redis://localhost:6379/0", True),
        ("redis://127.0.0.9:6379/0", True),
        ("redis://[::1]:6379/0", True),
        ("rediss://:word@redis.example.org:6379/0", True),
        ("redis://redis.example.org:6379/0", False),
        ("rediss://10.0.0.7:6379/0", False),
        ("redis://brigade@10.0.0.7:6379/0", False),
    ],
)
def test_a_redis_of_other_machines_wants_a_password(url: str, safe: bool, settings: Any) -> None:
    assert (why_exposed(url) == "") is safe
    settings.REDIS_URL = url
    assert ("kitchen.W001" in {found.id for found in run_checks(tags=["security"])}) is not safe
