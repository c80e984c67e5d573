"""Create the panel with the questions that hold the game."""

from __future__ import annotations

from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import AskedProbe, SeatView
from kitchen.contract.probes import MAX_ANSWER_CHARACTERS, SLIDER_END


class ProbeQuestions(NamedTuple):
    """The questions that this person has to answer now."""

    asked: tuple[AskedProbe, ...] = ()
    """Empty if there is nothing to answer."""
    step: int = 0
    limit_seconds: int = 0
    is_shared: bool = False
    """True if others wait for this person's answer, or answer too."""
    slider_end: int = SLIDER_END
    longest: int = MAX_ANSWER_CHARACTERS


def probe_panel(view: SeatView) -> Panel:
    """Return the panel of the questions that hold the game. Empty while the game goes on."""
    probes, content = view.probes, ProbeQuestions()
    if probes and probes.asked and view.phase != "over":
        others = len(view.talk.people) > 1 or len(view.waiting_for) > 1
        content = ProbeQuestions(probes.asked, probes.step, probes.limit_seconds, others)
    return Panel("probe", "kitchen/play/probe.jinja", content)
