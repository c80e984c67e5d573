"""The panels that every world's page has: step, phase, clock, hints, end, and what the server has to say; and
what follows, where plans are offered."""

from __future__ import annotations

import json
from typing import NamedTuple

from kitchen.contract.agent import PLAN_BROKEN
from kitchen.contract.organisation import ANSWER, END
from kitchen.contract.page import Page, Panel, SeatView
from kitchen.contract.plans import ILLEGAL
from kitchen.contract.talk import ONLY_JOBS, Said
from kitchen.contract.world import Command
from kitchen.play.roster import jobs_panel, roster_panel
from kitchen.words.speech import gettext, marked

SHELL = ("notice", "bar", "phase", "clock", "hint", "over")
"""Their ids; their templates are `kitchen/play/<id>.jinja`. Where members write to one another, `talk` is
one more, where they have one partner at a time `partner`, where one may be given jobs `jobs`, and for who
leads `roster`; no layout of a world holds these."""


class Bar(NamedTuple):
    """Where the episode is."""

    step: int
    length: int | None
    phase: str


class Phase(NamedTuple):
    """Who is waited for: this seat, and once it has chosen others by name, or nobody."""

    phase: str
    waiting_for: tuple[str, ...]
    passed_by: bool = False
    """This seat has nothing to choose."""
    may_act: bool = False
    """It need not choose, but may."""


class Clock(NamedTuple):
    """The time for a step, in seconds as text."""

    whole: str
    left: str
    choosing: bool
    step: int
    """Of a clock that runs: it begins anew with each."""


class Hint(NamedTuple):
    """What would be good to do."""

    hints: tuple[str, ...]
    command: str
    """The one that the last is about, as the menu has it; empty if there is none."""


class Plan(NamedTuple):
    """What this seat does next without being asked, or what it can choose to follow."""

    step: int
    choosing: bool
    left: tuple[str, ...]
    offered: tuple[tuple[str, str], ...]
    """Commands as the menu has them, and in words."""
    broken: str = ""
    """What could not be done after the last step, so that the rest was dropped; in words."""


class Plans(NamedTuple):
    """What the others do without being asked, as far as it is shown: by name, step by step."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]


class Over(NamedTuple):
    """How it ended; nothing while it has not."""

    over: bool
    step: int = 0
    achieved: tuple[tuple[str, str], ...] = ()
    ended_by_staff: bool = False
    abandoned_because: str = ""
    goal: str = ""
    """What is said of its goal, where it had one and ended by itself."""
    seconds: int | None = None
    """How long it was played, where a clock takes the steps."""


class Gone(NamedTuple):
    """Who is gone, in sentences."""

    said: tuple[str, ...]


class Notice(NamedTuple):
    """What the server has to say; nothing most of the time."""

    text: str = ""
    tone: str = "info"
    again: bool = False
    """Whether the page is to send again what could not be stored."""


def shell(page: Page, view: SeatView) -> tuple[Panel, ...]:
    """All but the notice, for which no view is needed."""
    waited = set(view.waiting_for) - {view.seat}
    names = tuple(player.name for player in view.players if player.seat in waited)
    phase = "choose" if view.may_act else view.phase
    return (
        _panel("bar", Bar(view.step, view.length, phase)),
        _panel("phase", Phase(phase, () if phase == "over" else names, view.passed_by, view.may_act)),
        _panel("clock", _clock(view)),
        *([_panel("hint", Hint(view.hints, _as_value(view.hinted)))] if view.acts else []),
        _panel("over", _over(page, view)),
        *([_panel("gone", _gone(view, steps=TOLD_STEPS))] if view.taken_over is not None else []),
        *([_panel("replaced", _gone(view))] if view.taken_over is not None else []),
        *([talk_panel(view)] if view.member is not None else []),
        *([_panel("partner", _partner(view))] if view.one_partner else []),
        *([_panel("plan", _plan(page, view))] if view.offers_plans else []),
        *([_panel("plans", _plans(page, view))] if view.shows_intents else []),
        *([roster_panel(page, view)] if view.leads else []),
        *([jobs_panel(page, view)] if view.led else []),
    )


class Talk(NamedTuple):
    """What was said; each message is a part."""

    mine: int
    """The number of the last message that this person has said."""


class Line(NamedTuple):
    """One message."""

    step: int
    sender: str
    """As they are called; empty for who reads."""
    to: tuple[str, ...]
    """Likewise, those it went to beside who reads."""
    to_you: bool
    text: str
    is_ours: bool = False
    """The text is the page's own, in its language."""


class Partner(NamedTuple):
    """With whom this person talks now."""

    name: str
    """Empty for nobody."""


HOUSE = {
    "busy": marked("%(name)s is talking with somebody else, and did not get that."),
    "gone": marked("The person who played %(name)s is gone: that conversation is over."),
}
"""What the house says, by its code (`kitchen.contract.mailbox.PLATFORM_WORDS`)."""
OWN_WORDS = {
    ONLY_JOBS: marked("I do not read messages. I do the jobs that are picked for me from the list."),
}
"""What co-players answer without a model, by its code."""
ENDED = marked("That was the end of the conversation.")


def _partner(view: SeatView) -> Partner:
    return Partner("" if view.partner is None else view.members[view.partner])


def talk_panel(view: SeatView) -> Panel:
    """What this person has said and heard."""
    mine = max((said.number for said in view.messages if said.sender == view.member), default=0)
    lines = ((said, _line(view, said)) for said in view.messages)
    parts = tuple(
        Panel(f"said-{said.number}", "kitchen/play/said.jinja", line)
        for said, line in lines
        if line.text and not said.data.get("plain")  # the job itself says it, in the language of who reads
    )
    return Panel("talk", "kitchen/play/talk.jinja", Talk(mine), parts=parts)


def _line(view: SeatView, said: Said) -> Line:
    if said.sender is None:
        code, name = said.data["code"], view.members[said.data["member"]]
        words = gettext(HOUSE[code]) % {"name": name}
        return Line(said.step, gettext("Note"), (), True, words, is_ours=True)
    sender = "" if said.sender == view.member else view.members.get(said.sender, "")
    others = tuple(view.members[one] for one in said.to if one != view.member)
    if said.kind == ANSWER and (own := OWN_WORDS.get(said.data.get("code", ""))):
        return Line(said.step, sender, others, view.member in said.to, gettext(own), is_ours=True)
    if said.kind == END and not said.text:
        return Line(said.step, gettext("Note"), (), False, gettext(ENDED), is_ours=True)
    return Line(said.step, sender, others, view.member in said.to, said.text)


def notice_panel(notice: Notice) -> Panel:
    """What the server has to say."""
    return _panel("notice", notice)


def _panel(name: str, shows: NamedTuple) -> Panel:
    return Panel(name, f"kitchen/play/{name}.jinja", shows)


def _clock(view: SeatView) -> Clock:
    whole = "" if view.step_seconds is None else f"{view.step_seconds:g}"
    left = "" if view.seconds_left is None else f"{view.seconds_left:.2f}"
    return Clock(whole, left, view.phase == "choose", view.step if left else 0)


def _plan(page: Page, view: SeatView) -> Plan:
    left = tuple(page.worded(view, command) for command in view.plans.get(view.seat, ()))
    offered = tuple((_as_value(command), page.worded(view, command)) for command in view.plannable)
    return Plan(view.step, view.phase == "choose", left, offered, _broken(page, view))


def _broken(page: Page, view: SeatView) -> str:
    events = view.history[0].events if view.history else ()
    own = (event.data for event in events if (event.kind, event.seat) == (PLAN_BROKEN, view.seat))
    return next((page.worded(view, tuple(one["left"][0])) for one in own if one["why"] == ILLEGAL), "")


def _plans(page: Page, view: SeatView) -> Plans:
    names = {player.seat: player.name for player in view.players}
    others = (seat for seat in sorted(view.plans) if seat != view.seat)
    return Plans(
        tuple((names[seat], tuple(page.worded(view, each) for each in view.plans[seat])) for seat in others)
    )


def _over(page: Page, view: SeatView) -> Over:
    if view.phase != "over":
        return Over(over=False)
    stopped = view.ended_by_staff or view.abandoned_because
    goal = (page.reached(view) if view.reached else page.missed) if view.until and not stopped else ""
    why = gettext(view.abandoned_because) if view.abandoned_because else ""
    seconds = round(view.step * view.tick_ms / 1000) if view.tick_ms else None
    return Over(True, view.step, view.achieved, view.ended_by_staff, why, goal, seconds)


TOLD_STEPS = 2
"""So many steps long it is said over the page that a seat was taken over; below the game it stays."""


def _gone(view: SeatView, *, steps: int | None = None) -> Gone:
    """Those of whom it is told for so many steps; or for ever."""
    names = {player.seat: player.name for player in view.players}
    words = TAKEN_OVER if view.tick_ms is None else {**TAKEN_OVER, **CLOCKED}
    return Gone(
        tuple(
            gettext(words[why]).format(player=names[seat], step=step)
            for seat, step, why in view.taken_over or ()
            if steps is None or view.step < step + steps
        )
    )


def gone_said(view: SeatView) -> tuple[str, ...]:
    """Who is gone, in sentences."""
    return _gone(view).said


TAKEN_OVER = {
    "away": marked("From step {step} on, {player} goes on without its person, who is away."),
    "left": marked("From step {step} on, {player} goes on without its person, who has left."),
    "never": marked("Nobody came to play {player}: it goes on without a person."),
}
"""What the others are told of a seat that was taken over, by the reason."""
CLOCKED = {
    "away": marked("{player} goes on without its person, who is away."),
    "left": marked("{player} goes on without its person, who has left."),
}
"""The same where a clock takes the steps, which nobody counts."""


def _as_value(command: Command | None) -> str:
    return json.dumps(command, separators=(",", ":")) if command else ""
