"""A player who remembers all that was shown."""

from __future__ import annotations

import json
from typing import Any

from tests.live.player import Player


class Witness(Player):
    """Notes the steps that were shown, and, from JSON, what the seat saw then."""

    def __init__(self, url: str, key: str, **more: Any) -> None:
        super().__init__(url, [key], **more)
        self.key = key
        self.steps: set[int] = set()
        self.views: dict[str, tuple[int, Any, Any]] = {}

    def showed(self, text: bytes) -> None:
        """One more state; what is shown twice is noted once, what differs is noted, too."""
        self.steps.add(self.step)
        if not self.as_html:
            sent = json.loads(text)
            view = (sent["step"], sent["observation"], sent["score"])
            self.views[json.dumps(view, sort_keys=True)] = view

    @property
    def shown(self) -> dict[str, Any]:
        """For `checking.faults_in`."""
        return {"key": self.key, "steps": sorted(self.steps), "views": list(self.views.values())}
