"""Compute and store the steps (ticks) of the real-time episodes that this clock process has claimed.

A tick is sent to the pages at once, and stored `STORE_SECONDS` later. The clock of an episode stops if
storing fails for `HOLD_SECONDS`, or while Redis is down. It never waits for an agent or a page. If another
process has claimed the episode, this process discards the ticks that it has not stored.

The ticks of different episodes are spread over time. A process whose ticks come late hands episodes to
another one (`clock_handover`), and begins no new ones (`clock_load`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from itertools import count
from typing import Any

from django.db import Error

from kitchen.contract.world import Json
from kitchen.infra import prometheus_metrics
from kitchen.infra.channel_layer_consumer import CHANNEL_ERRORS
from kitchen.infra.db_errors import database_problem
from kitchen.infra.db_retry import run_in_db_thread
from kitchen.infra.event_loop import run_to_its_end
from kitchen.infra.log_context import log_context
from kitchen.realtime.agent_loading import AgentLoading
from kitchen.realtime.clock_failures import ClockFailures, is_outage
from kitchen.realtime.clock_handover import ClockHandover, OwnedEpisode
from kitchen.realtime.clock_load import FIRST_EPISODES, LoadMeter, first_due, report_full_clocks
from kitchen.realtime.frame_sender import FrameSender
from kitchen.realtime.page_messages import PageMessages, report_discarded
from kitchen.realtime.realtime_episode import RealtimeEpisode, read_realtime_episode
from kitchen.realtime.realtime_storage import (
    ClockEpisode,
    clock_episodes,
    is_clock_unclaimed,
    new_owner_name,
    release_clock_claims,
    store_tick_groups,
    stored_hold,
    take_clock_claim,
)
from kitchen.realtime.tick_messages import keys_group, layer_message

log = logging.getLogger(__name__)

BALANCE_SECONDS = 1.0
"""Seconds between two measurements of the load."""
LOOK_SECONDS = 0.25
"""Seconds between two searches for unclaimed episodes."""
STORE_SECONDS = 0.25
"""Seconds between two writes of the ticks taken."""
HOLD_SECONDS = 0.45
"""A tick taken this many seconds ago must be stored before the next one is taken."""
HOLD_CHECK_SECONDS = 0.25
"""Seconds between two checks whether people have answered the probes that hold an episode."""
EPISODES_PER_STORE = 40
"""Number of episodes whose tick groups are stored in one transaction."""
CLAIMS_PER_LOOK = 8
"""Maximum number of new episodes that an owner claims at once, so that others get some, too."""


class ClockOwner:
    """Claims real-time episodes for this process, and computes and stores their ticks. `layer` is the
    channel layer."""

    def __init__(self, layer: Any) -> None:
        self.name = new_owner_name()
        self._epochs = count(1)
        self.played: dict[int, OwnedEpisode] = {}
        self._layer = layer
        self._channel = ""
        self.handover = ClockHandover(self.name, layer, self.played, lambda: self._room)
        self._meter = LoadMeter(time.monotonic(), time.process_time())
        self._room = FIRST_EPISODES
        """Number of new episodes that this process may begin before the next measurement."""
        self._failures = ClockFailures()
        self._loading = AgentLoading()
        self._waiting: list[int] = []
        """New episodes that this process had no room for when it looked last."""
        self._hurry = asyncio.Event()
        """Set when a task waits for ticks to be stored."""
        self._storing = asyncio.Lock()
        self._pages = PageMessages(layer)
        self._frames = FrameSender(layer)

    async def run(self) -> None:
        """Claim episodes and compute their ticks until the task is cancelled. Then store all ticks and
        release the claims."""
        self._channel = await self._layer.new_channel("ticks")
        try:
            async with asyncio.TaskGroup() as doing:
                for does in (self._look, self._store, self._listen, self._balance):
                    doing.create_task(self._repeat(does))
        finally:
            await self._leave()

    async def _repeat(self, does: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a coroutine function again and again, without end. Log its errors."""
        while True:
            try:
                await does()
            except Exception as error:
                if isinstance(error, CHANNEL_ERRORS) or (
                    isinstance(error, Error) and database_problem(error)
                ):
                    log.warning("ticks: %s: %s", type(error).__name__, error)
                else:
                    log.exception("ticks: something failed")
                await asyncio.sleep(LOOK_SECONDS)

    async def _leave(self) -> None:
        for one in self.played.values():
            if one.task:
                one.task.cancel()
        await asyncio.gather(*(one.task for one in self.played.values() if one.task), return_exceptions=True)
        ids = list(self.played)
        for one in self.played.values():
            one.game.minds.leave(one.game.episode)
        try:
            await self._store_all()
            await run_in_db_thread(release_clock_claims, self.name, ids)
        except Error as error:  # the claims expire
            log.warning("ticks could not be handed over: %s", error)

    # who plays where

    async def _look(self) -> None:
        """Stop computing episodes that are over or belong to another process. Claim episodes that belong to
        no process."""
        asked = asyncio.get_running_loop().time()
        standing = await run_in_db_thread(clock_episodes)
        ours = {one.episode_id: one for one in standing if one.owner == self.name}
        for episode_id, played in list(self.played.items()):
            if played.game.is_over or played.is_leaving:  # its own task handles the end
                continue
            if played.began >= asked:  # it was handed over after the query
                continue
            if episode_id not in ours:
                await self._drop(episode_id)
            elif played.game.given != ours[episode_id].seats_given:
                await self._begin_anew(ours[episode_id])
        self._frames.prepare(one.world for one in standing)
        await self._take(standing)
        await asyncio.sleep(LOOK_SECONDS)

    async def _take(self, standing: Sequence[ClockEpisode]) -> None:
        missing = await self.handover.missing()
        for one in standing:
            if one.owner == self.name and one.episode_id in missing and self.handover.begin(one.episode_id):
                await self._begin(one)
        free = [one for one in standing if one.episode_id not in self.played and is_clock_unclaimed(one)]
        begun = [one for one in free if one.owner]
        new = [one for one in free if not one.owner]
        room = max(0, self._room)
        self._waiting = [one.episode_id for one in new[room:]]
        new = await self._loading.ready(new[:room], asyncio.get_running_loop().time())
        new = new[:CLAIMS_PER_LOOK]
        for one in [*begun, *new]:
            # another owner may take it while earlier ones are read
            if await run_in_db_thread(take_clock_claim, self.name, one):
                await self._begin(one)

    async def _begin(self, one: ClockEpisode, *, players: Mapping[str, Json] | None = None) -> None:
        """Start to compute an episode that this process has claimed, from its stored state. `players` is what
        another process has handed over with it."""
        before, loop = self.played.get(one.episode_id), asyncio.get_running_loop()
        minds = before.game.minds if before else None
        try:
            game = await run_in_db_thread(read_realtime_episode, one, loop.time(), minds)
        except Exception as error:  # of its world: the others go on
            if is_outage(error):
                raise
            await self._failures.add(one.episode_id, error)
            await self._drop(one.episode_id)
            game = None
        if game is None:
            self.handover.kept(one.episode_id)
            return
        await self._layer.group_add(keys_group(one.episode_id), self._channel)
        kept = [*self.handover.kept(one.episode_id), *((before and before.kept) or ())]
        if players is not None:
            game.take_over(players, loop.time())
        elif before:
            game.pace.due = max(loop.time(), before.game.pace.due)
        else:
            game.pace.due = first_due(game.pace.due, game.pace.seconds, self._dues(game))
        self._room -= before is None
        owner, epoch = self.name.rpartition("#")[2], next(self._epochs)
        played = self.played[one.episode_id] = OwnedEpisode(game, owner, epoch, loop.time())
        played.task = asyncio.create_task(self._play(played))
        for message in kept:
            if not game.knows(message["seat"], message["page"], message.get("number", math.inf)):
                await self._pages.handle(played, message)

    def _dues(self, game: RealtimeEpisode) -> list[float]:
        """Return when other episodes with the same interval between ticks have one due."""
        paces = [one.game.pace for one in self.played.values() if one.game is not game]
        return [pace.due for pace in paces if pace.seconds == game.pace.seconds]

    async def _begin_anew(self, one: ClockEpisode) -> None:
        """Store an episode and read it again, because an agent has replaced a person. Agents that are
        thinking continue."""
        played = self.played[one.episode_id]
        played.kept = played.kept or []
        self._end(one.episode_id, stay=True)
        await self._store_all()
        if one.episode_id in self.played:
            await self._begin(one)

    async def _drop(self, episode_id: int) -> None:
        """Stop computing an episode. Its pages notice this without a message."""
        played = self.played.get(episode_id)
        self._end(episode_id)
        if played and played.game.unstored_since is not None:
            await report_discarded(played.game)
        try:
            await self._pages.send_to_all(episode_id, layer_message("tick.over"))
            await self._layer.group_discard(keys_group(episode_id), self._channel)
        except CHANNEL_ERRORS as error:
            log.warning("pages could not be told: %s", error)

    def _end(self, episode_id: int, *, stay: bool = False) -> None:
        played = self.played.get(episode_id) if stay else self.played.pop(episode_id, None)
        if played and played.task and played.task is not asyncio.current_task():
            played.task.cancel()
        if played and not stay:
            played.game.minds.leave(played.game.episode)

    # the clock

    async def _play(self, played: OwnedEpisode) -> None:
        """Compute every tick of one episode from now on."""
        with log_context(episode=played.game.episode.pk):
            try:
                await self._pages.notify(played, self._pages.whole(played, to_all=True))
                self._frames.draw(played)
                await self._go_on(played)
            except Exception as error:  # the next owner may succeed
                if is_outage(error):
                    log.exception("a clock stands still")
                else:
                    await self._failures.add(played.game.episode.pk, error, played.game.episode.step)
            if self.played.get(played.game.episode.pk) is played:
                await self._drop(played.game.episode.pk)

    async def _go_on(self, played: OwnedEpisode) -> None:
        game, loop = played.game, asyncio.get_running_loop()
        while not game.is_over:
            if game.turn.is_probing:
                await self._wait_for_answers(played)
            await self._due(played)
            late = max(0.0, loop.time() - game.pace.due)
            self._meter.ticked(late)
            prometheus_metrics.tick_late_seconds.observe(late)
            message = played.updates.tick(game.tick(loop.time()))
            while played.waits_for_storage:
                await self._stored(played)
            await self._pages.notify(played, message)
            self._frames.draw(played)
            if played.receiver and await self._hand_over(played):
                return

    async def _wait_for_answers(self, played: OwnedEpisode) -> None:
        """Stop the clock until people have answered the probes that hold the episode. The web processes store
        the answers, and say in the database when the game goes on."""
        game, loop = played.game, asyncio.get_running_loop()
        while game.unstored_since is not None:
            await self._stored(played)
        await self._pages.notify(played, layer_message("tick.probed"))
        holds, state = await run_in_db_thread(stored_hold, game.episode.pk)
        while holds:
            await asyncio.sleep(HOLD_CHECK_SECONDS)
            holds, state = await run_in_db_thread(stored_hold, game.episode.pk)
        game.end_hold(state, loop.time())
        await self._pages.notify(played, layer_message("tick.probed"))
        await self._pages.notify(played, self._pages.whole(played, to_all=True))

    async def _hand_over(self, played: OwnedEpisode) -> bool:
        """Store the episode's ticks, and hand it to the process that has accepted it. Return False if this
        process goes on with it: it cannot be stored now, or an agent thinks that would have to be asked
        again."""
        to, played.receiver = played.receiver, None
        if to is None or not played.can_leave:
            return False
        episode_id = played.game.episode.pk
        played.is_leaving, played.kept = True, []
        try:
            async with self._storing:
                await self._store_some([played], to.owner)
                if played.game.unstored_since is not None or self.played.get(episode_id) is not played:
                    return episode_id not in self.played
                del self.played[episode_id]
        except Error as error:
            log.warning("an episode is not handed over: %s", error)
            return False
        finally:
            played.is_leaving = False
            await self._handle_kept(played)
        await self.handover.give(played, to)
        played.game.minds.leave(played.game.episode)
        return True

    async def _handle_kept(self, played: OwnedEpisode) -> None:
        """Handle the messages that have come meanwhile, if the episode has stayed here."""
        kept, played.kept = played.kept or [], None
        for message in kept if self.played.get(played.game.episode.pk) is played else ():
            await self._pages.handle(played, message)

    async def _balance(self) -> None:
        """Measure the load of this process, and hand over episodes if it is late."""
        await asyncio.sleep(BALANCE_SECONDS)
        measured = time.monotonic(), time.process_time()
        load = self._meter.measure(self.name, self._channel, len(self.played), *measured)
        self._room = load.room
        with contextlib.suppress(*CHANNEL_ERRORS):  # clocks stand still without Redis, and say so
            if not self.handover.channel:
                await self.handover.join(self._channel)
            if not any(each.room for each in (load, *self.handover.others())):
                await asyncio.to_thread(report_full_clocks)
                for episode_id in self._waiting:
                    await self._pages.send_to_all(episode_id, layer_message("tick.waits"))
            await self.handover.balance(load)

    async def _due(self, played: OwnedEpisode) -> None:
        """Wait until the time of the next tick has come. If computed ticks are unstored for too long, they
        are stored before the next tick may be computed."""
        game, loop = played.game, asyncio.get_running_loop()
        while True:
            now = loop.time()
            if now < game.pace.due:
                await asyncio.sleep(game.pace.due - now)
            elif game.unstored_since is not None and now - game.unstored_since > HOLD_SECONDS:
                await self._stored(played)
            else:
                return

    async def _stored(self, played: OwnedEpisode) -> None:
        """Request that the computed ticks are stored now, and wait until this is done."""
        played.stored.clear()
        self._hurry.set()
        await played.stored.wait()

    # the log

    async def _store(self) -> None:
        """Store the ticks that were computed since the last call, and renew the claims on the episodes."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._hurry.clear()
        await self._store_all()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(began + STORE_SECONDS):
                await self._hurry.wait()

    async def _store_all(self) -> None:
        async with self._storing:
            ids = list(self.played)
            for first in range(0, len(ids), EPISODES_PER_STORE):
                some = [
                    self.played[pk] for pk in ids[first : first + EPISODES_PER_STORE] if pk in self.played
                ]
                await self._store_some(some)

    async def _store_some(self, some: Sequence[OwnedEpisode], receiver: str = "") -> None:
        """Store these episodes in one transaction, and give their claims to the process `receiver`, if it is
        not empty. An episode that cannot be stored is dropped."""
        written = [one.game.written() for one in some]
        try:
            stored = await run_to_its_end(run_in_db_thread(store_tick_groups, self.name, written, receiver))
        except Exception as error:
            for one, group in zip(some, written, strict=True):
                one.game.put_back(group)
            if isinstance(error, Error) and database_problem(error):
                raise
            if len(some) == 1:
                log.error("ticks could not be stored", exc_info=error)
                await self._drop(some[0].game.episode.pk)
            for one in some if len(some) > 1 else ():
                await self._store_some([one])
            return
        for one in some:
            await self._is_stored(one, stored)

    async def _is_stored(self, played: OwnedEpisode, stored: Collection[int]) -> None:
        episode_id = played.game.episode.pk
        if episode_id in stored:
            played.game.stored()
            played.stored.set()
        elif self.played.get(episode_id) is played:
            await self._drop(episode_id)

    # pages

    async def _listen(self) -> None:
        """Handle one message from a page or from another clock process."""
        message = await self._layer.receive(self._channel)
        if message["type"].startswith("clock."):
            if await self.handover.receive(message):
                self._pages.keep(self._take_over(message))
        elif self.handover.keep(message) or (played := self.played.get(message["episode"])) is None:
            return
        elif played.kept is not None:
            played.kept.append(message)
        else:
            await self._pages.handle(played, message)

    async def _take_over(self, message: dict[str, Any]) -> None:
        """Begin an episode that another process has handed over. If this fails, its claim expires."""
        one = ClockEpisode(message["episode"], self.name, None, message["seats_given"])
        try:
            await self._begin(one, players=message["players"])
        except Exception as error:
            self.handover.kept(one.episode_id)
            log.warning("episode %s could not be taken over: %s", one.episode_id, error)
