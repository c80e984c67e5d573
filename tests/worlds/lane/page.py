"""Lane for programs: nobody looks at it."""

from __future__ import annotations

from kitchen.contract.page import Page, Panel, SeatView
from kitchen.contract.world import Command


class LanePage(Page):
    """No panels."""

    layout = "worlds/lane/layout.jinja"
    guide = "worlds/lane/guide.jinja"

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """None."""
        return ()

    def phrase(self, command: Command) -> str:
        """As it is."""
        return " ".join(command)


PAGE = LanePage()
