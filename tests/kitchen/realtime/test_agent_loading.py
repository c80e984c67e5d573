"""A new real-time episode waits until this process has loaded its agents, for a limited time."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from kitchen.realtime import agent_loading
from kitchen.realtime.agent_loading import MAX_LOADING_SECONDS, AgentLoading
from kitchen.realtime.realtime_storage import ClockEpisode


def episode(pk: int) -> ClockEpisode:
    return ClockEpisode(pk, "", None, "")


async def test_an_episode_begins_when_its_agents_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: dict[int, list[Future[object]]] = {1: [], 2: [Future(), Future()]}
    began = list[int]()

    async def load(_: object, pk: int) -> list[Future[object]]:
        began.append(pk)
        return loads[pk]

    monkeypatch.setattr(agent_loading, "run_in_db_thread", load)
    loading, both = AgentLoading(), [episode(1), episode(2)]
    assert await loading.ready(both, 0) == both[:1], "one has nothing to load"
    loads[2][0].set_result(None)
    assert await loading.ready(both[1:], 1) == []
    loads[2][1].set_exception(TimeoutError())
    assert await loading.ready(both[1:], 2) == both[1:], "a failed load keeps nobody waiting"
    loads[2][1] = Future()
    assert await loading.ready(both[1:], MAX_LOADING_SECONDS) == []
    assert await loading.ready(both[1:], MAX_LOADING_SECONDS + 1) == both[1:], "it waits no longer than this"
    assert began == [1, 2], "each is loaded once"
