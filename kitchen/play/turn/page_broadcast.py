"""Notify open play pages, and staff who watch, that an episode has changed.

A notification to a page has no content: the page then reads what it may see. News for staff are gathered
for a moment and sent together, because every step has some. All functions return immediately. A lost
notification does no harm, because pages also check for changes every few seconds.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import threading
from concurrent.futures import Future
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from channels.layers import get_channel_layer

from kitchen.contract.world_errors import SettingsError
from kitchen.play.turn.audience_news import AudienceNews
from kitchen.play.turn.websocket_messages import EpisodeChanged, TurnStamp

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

log = logging.getLogger(__name__)

_AUDIENCE = re.compile(r"[A-Za-z0-9._-]{1,80}")
_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}

GATHER_SECONDS = 0.1
"""Seconds for which news for one audience are gathered before they are sent."""
_gathering = threading.Lock()
_gathered: dict[str, list[DataclassInstance]] = {}
"""The news that are not sent yet, by audience."""


def episode_group(episode_id: int) -> str:
    """Return the name of the channel-layer group of all open pages of this episode."""
    return f"episode.{episode_id}"


def audience_group(audience: str) -> str:
    """Return the name of the channel-layer group of the staff who watch the episodes with this audience name.

    Raises SettingsError if `audience` is not a valid name.
    """
    if audience and not _AUDIENCE.fullmatch(audience):
        raise SettingsError(f"audience: {audience!r} is not 1 to 80 letters, digits and any of . _ -")
    return f"audience.{audience}"


def nudge_pages(episode_id: int, stamp: TurnStamp | None = None) -> None:
    """Notify all open pages of the episode to check for changes. Pages that already show the version `stamp`
    need not check.

    Returns at once. Errors are only logged.
    """
    _send_to_group(episode_group(episode_id), EpisodeChanged(stamp))


def notify_audience(audience: str, news: DataclassInstance) -> None:
    """Send `news` to the staff who watch the episodes with this audience name, together with other news of
    the same moment. Returns at once; errors in sending are only logged.

    `news.type` names the consumer's handler (see `audience_news.EpisodeNews`). All news arrive in one
    `audience_news.AudienceNews`.
    """
    with _gathering:
        waiting = _gathered.setdefault(audience, [])
        is_first = not waiting
        waiting.append(news)
    if not is_first:
        return
    try:
        loop = _loop()
        loop.call_soon_threadsafe(loop.call_later, GATHER_SECONDS, _send_gathered, audience)
    except RuntimeError:
        lost = _take_gathered(audience)
        log.exception("%s news for %s were not sent", len(lost), audience_group(audience))


def _take_gathered(audience: str) -> list[DataclassInstance]:
    with _gathering:
        return _gathered.pop(audience, [])


def _send_gathered(audience: str) -> None:
    content = [
        {slot.name: getattr(each, slot.name) for slot in fields(each)} for each in _take_gathered(audience)
    ]
    _send_to_group(audience_group(audience), AudienceNews(content))


def _send_to_group(group: str, message: DataclassInstance) -> None:
    try:
        sent = asyncio.run_coroutine_threadsafe(_send(group, asdict(message)), _loop())
        sent.add_done_callback(_report)
    except RuntimeError:
        log.exception("%s was not told", group)


async def _send(group: str, message: dict[str, Any]) -> None:
    layer: Any = get_channel_layer()
    await asyncio.wait_for(layer.group_send(group, message), timeout=5)


def _report(sent: Future[None]) -> None:
    if not sent.cancelled() and (error := sent.exception()):
        log.warning("a nudge was lost: %s: %s", type(error).__name__, error)


def _forget_gathered() -> None:
    """Forget the news of the parent process in a forked process. The parent sends them."""
    global _gathering
    _gathering = threading.Lock()
    _gathered.clear()


os.register_at_fork(after_in_child=_forget_gathered)


def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of this process. A forked worker gets its own."""
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="stream", daemon=True).start()
            _loops[os.getpid()] = loop
        return loop
