"""What the pages of one episode are told after each tick: what has changed of what each seat sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kitchen.contract.world import Json
from kitchen.ticking.game import Game, Sight
from kitchen.ticking.wire import difference, said


class Telling:
    """Knows what the pages of one game were told last."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._seen: dict[int, Mapping[str, Json]] = {}
        self._score: Mapping[str, Json] = {}
        self._said: dict[int, Mapping[str, Json]] = {}

    def whole(self, *, starts_in: float = 0.0, lost_ms: int = 0) -> dict[str, Any]:
        """How things are now."""
        sights = self._game.sights()
        seats = {
            str(seat): {"observation": dict(sight.observation), "key": sight.key, **_said(sight)}
            for seat, sight in sights.items()
        }
        self._know(sights)
        return said(
            "tick.whole",
            step=self._game.episode.step,
            tick_ms=self._game.episode.tick_ms,
            score=self._game.episode.score,
            seats=seats,
            starts_in_ms=max(0, round(starts_in * 1000)),
            lost_ms=lost_ms,
        )

    def tick(self, lost_ms: int = 0) -> dict[str, Any]:
        """What the last tick has changed."""
        sights, score = self._game.sights(), self._game.episode.score
        changed, _ = difference(self._score, score)
        seats = {str(seat): self._part(seat, sight) for seat, sight in sights.items()}
        self._know(sights)
        return said("tick.shown", step=self._game.episode.step, score=changed, seats=seats, lost_ms=lost_ms)

    def _part(self, seat: int, sight: Sight) -> dict[str, Any]:
        changed, gone = difference(self._seen.get(seat, {}), sight.observation)
        events = [event.to_json() for event in sight.events]
        part = {"changed": changed, "gone": gone, "events": events, "key": sight.key}
        before = self._said.get(seat, {})
        return {**part, **{name: value for name, value in _said(sight).items() if before.get(name) != value}}

    def _know(self, sights: Mapping[int, Sight]) -> None:
        self._seen = {seat: sight.observation for seat, sight in sights.items()}
        self._said = {seat: _said(sight) for seat, sight in sights.items()}
        self._score = self._game.episode.score


def _said(sight: Sight) -> dict[str, Json]:
    """What the others are about to do, by seat, and what would be good to do, where the page says it."""
    said: dict[str, Json] = {}
    if sight.intents is not None:
        said["intents"] = {str(seat): dict(intent) for seat, intent in sight.intents.items()}
    if sight.errand is not None:
        said["errand"] = dict(sight.errand)
    return said
