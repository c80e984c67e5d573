"""Define the page of the test world Tunnel, for tests without a browser."""

from __future__ import annotations

from kitchen.contract.page import Page, Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command


class TunnelPage(Page):
    """A page without panels."""

    layout = "worlds/tunnel/layout.jinja"
    guide = "worlds/tunnel/guide.jinja"

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Return no panels."""
        return ()

    def phrase(self, command: Command) -> str:
        """Return the text of a command unchanged."""
        return " ".join(command)


PAGE = TunnelPage()
