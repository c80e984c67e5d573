"""How play goes: steps, what is stuck, fallbacks, money."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from kitchen.llm.money import dollars
from kitchen.money.ledger import budgets_nearly_spent, money_booked
from kitchen.play.standing import Faults, Pace, episodes_live, faults_lately, pace_lately, turns_late
from kitchen.ticking.pace import LATE
from kitchen.ticking.standing import clocks_stand
from kitchen.uptime.selectors import outages_lately
from kitchen.words.counting import counted
from study.operation.lines import BROKEN, LOOK, WELL, Line, seconds_said

SLOW_SECONDS = 1.0
"""A step that waits for nobody takes some milliseconds; so long is felt."""
RECENT = timedelta(hours=1)
"""What was away in this time is worth a look."""
MANY_LATE = 0.02
"""A share of late steps that people notice."""
FEW, SOME, MANY = 3, 0.05, 0.5
"""Fewer fallbacks or failures say nothing yet; shares to be looked at, and that are too much."""


def steps() -> Line:
    """How many, and how quick."""
    live, pace = sum(episodes_live().values()), pace_lately()
    number = f"{pace.steps}{' or more' if pace.capped else ''}"
    means = f"{counted(live, 'episode')} being played; {number} steps in the last minute.{_how_quick(pace)}"
    if pace.most is None or pace.most < SLOW_SECONDS:
        return Line("Steps", WELL, means)
    do = "Look at the load of the machine, and at what else uses the database (Limits, How many people)."
    return Line("Steps", LOOK, means, do)


def _how_quick(pace: Pace) -> str:
    if pace.half is None or pace.most is None:
        return " All of them waited for somebody else than us." if pace.steps else ""
    return (
        f" Stored after the last command within {seconds_said(pace.half)} for half of those that wait for no "
        f"model, within {seconds_said(pace.most)} for 95 of 100."
    )


def stuck() -> Line:
    """Who waits longer than they may."""
    late = turns_late()
    if not late:
        return Line("Waiting", WELL, "No episode waits for its co-players longer than it may.")
    verb = "waits" if late == 1 else "wait"
    return Line(
        "Waiting",
        BROKEN,
        f"{counted(late, 'episode')} {verb} longer than allowed for co-players, or for a turn to be closed.",
        "Workers take these up within seconds: see to workers and Redis above, then to worker-1.log. Live, "
        "in each study, says whose episodes they are.",
    )


def clocks() -> Line:
    """Games in real time: whether somebody takes their steps, and in time."""
    stand, name = clocks_stand(), "Real time"
    if stand.still:
        verb = "stands" if stand.still == 1 else "stand"
        means = f"{counted(stand.still, 'clock')} {verb} still: nobody takes the steps."
        return Line(
            name, BROKEN, means, "Start brigade-ticker, or see why it ended: ticker.log, or the journal."
        )
    if not stand.running:
        return Line(name, WELL, "No game is played in real time.")
    means = (
        f"{counted(stand.running, 'game')} in real time; {counted(stand.late, 'step')} of {stand.steps} came "
        f"more than {round(LATE * 1000)} ms late."
    )
    if stand.late <= MANY_LATE * stand.steps:
        return Line(name, WELL, means)
    return Line(name, LOOK, means, "The machine has too much to do: more cores, or fewer people at once.")


def outages() -> Line:
    """What was away: now, in the last hour, and lately."""
    lately, name = outages_lately(), "Outages"
    if now := [one.what for one in lately if one.until is None]:
        means = f"Away now: {', '.join(now)}."
        return Line(name, BROKEN, means, "Start what is away. People get back the time that it costs them.")
    if not lately:
        return Line(name, WELL, "None in the last seven days.")
    last = max(one.until for one in lately if one.until)
    means = (
        f"{counted(len(lately), 'outage')} in the last seven days, the last one over at {_hour(last)} UTC."
    )
    if timezone.now() - last > RECENT:
        return Line(name, WELL, means)
    return Line(name, LOOK, means, "Live, in each study, lists them. See the logs of that time for why.")


def _hour(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%d %B, %H:%M}"


def coplayers() -> Line:
    """Fallbacks and failures of models in the last quarter of an hour."""
    faults = faults_lately()
    means = (
        f"In the last 15 minutes {faults.fallbacks} of {counted(faults.decisions, 'decision')} were made by "
        f"a fallback, and {faults.failures} of {counted(faults.calls, 'call')} of models got no answer."
    )
    state = _state(faults)
    do = "See Live for which study, and worker-1.log for why: a key, a limit of the provider, its server."
    return Line("Co-players and models", state, means, do if state != WELL else "")


def _state(faults: Faults) -> str:
    shares = [
        part / whole
        for part, whole in ((faults.fallbacks, faults.decisions), (faults.failures, faults.calls))
        if part >= FEW
    ]
    worst = max(shares, default=0.0)
    return BROKEN if worst > MANY else LOOK if worst > SOME else WELL


def money() -> Line:
    """What models cost today."""
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    booked, near = money_booked(today), budgets_nearly_spent()
    means = f"Models cost {dollars(booked.spent)} today (UTC)"
    means += f", and {dollars(booked.set_aside)} are set aside." if booked.set_aside else "."
    if not near:
        return Line("Money", WELL, means)
    means += f" {counted(near, 'budget')} {'is' if near == 1 else 'are'} spent by nine tenths or more."
    return Line(
        "Money",
        LOOK,
        means,
        "At its limit a study calls no model any more, and fallbacks play. Its page shows the forecast; the "
        "limit is set in its design.",
    )
