"""Play an episode, and record everything that was shown, each confirmed command, and each wait."""

from __future__ import annotations

import asyncio
import html
import json
from typing import Any

from tests.live.player import Player


class Witness(Player):
    """A player that records the shown steps, what the seat saw (from JSON), accepted commands, and when each
    step was expected.

    Like a browser page, it sends pings and leaves a silent server.
    """

    def __init__(self, url: str, key: str, **more: Any) -> None:
        super().__init__(url, [key], **more)
        self.key = key
        self.steps: set[int] = set()
        self.views: dict[str, tuple[int, Any, Any]] = {}
        self.taken: dict[int, Any] = {}
        """By step, the command that the page reported as accepted."""
        self.wanted: dict[int, float] = {}
        """By step, when the person wanted to choose."""
        self.got: dict[int, float] = {}
        """By step, when the page showed its result."""
        self._confirmed: set[int] = set()
        """The steps whose command was reported as accepted before the step ran."""
        self._last_taken = self._seen = 0
        self._listening: asyncio.Task[None] | None = None

    def begin(self, first: float = 0.0) -> None:
        """Play from now on."""
        self.wanted.setdefault(self.step + 1, self.loop.time() + first)
        self._listening = self._listening or self.loop.create_task(self._listen())
        super().begin(first)

    def stop(self) -> None:
        """Close the page."""
        super().stop()
        if self._listening:
            self._listening.cancel()

    async def _listen(self) -> None:
        while not self.stopped:
            await asyncio.sleep(1)
            self.listen()

    def told(self) -> None:
        """Handle a notice. A command that seemed accepted may have been overtaken by the end of the step's
        time."""
        super().told()
        self.taken.pop(self._last_taken, None)

    def showed(self, text: bytes) -> None:
        """Record a shown state. A repeated state is recorded once, a differing one is recorded too."""
        self._note_taken()
        for step in range(self._seen + 1, self.step + 1):
            self.got[step] = self.loop.time()
        self._seen = max(self._seen, self.step)
        self.steps.add(self.step)
        if not self.as_html:
            sent = json.loads(text)
            view = (sent["step"], sent["observation"], sent["score"])
            self.views[json.dumps(view, sort_keys=True)] = view

    def _note_taken(self) -> None:
        """Record the command as accepted if the step ran, or waits for others, and no notice refused it."""
        step = self.waits_for
        if step is not None and not self.refused and (self.step >= step or self.phase != "choose"):
            given = json.loads(html.unescape(self.option.decode())) if self.as_html else self.option
            self.taken[step], self._last_taken = given, step
            if self.step < step:
                self._confirmed.add(step)

    def _see(self, now: float) -> None:
        self.due = max(self.due, now) if self.every else self.due
        super()._see(now)
        if self.playing and self.keys and self.phase != "over":
            self.wanted.setdefault(self.step + 1, max(self.loop.time(), self.due))

    @property
    def shown(self) -> dict[str, Any]:
        """Return the record in the form that `checking.faults_in` reads."""
        views = list(self.views.values())
        taken = [(step, given, step not in self._confirmed) for step, given in sorted(self.taken.items())]
        return {"key": self.key, "steps": sorted(self.steps), "views": views, "taken": taken}
