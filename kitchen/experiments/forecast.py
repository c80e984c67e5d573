"""What an experiment's calls of language models will cost, before any is made.

The stand-in plays the first steps of every cell (`kitchen.coplayers.trial`); from the lengths of the prompts
follow the tokens, from the price list the money.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kitchen.coplayers import trial
from kitchen.coplayers.dispatcher.door import read_model
from kitchen.experiments.plan import Job
from kitchen.experiments.play import new_game
from kitchen.experiments.setup import MODEL, STEPS, Column, Setup
from kitchen.llm.base import Call, total
from kitchen.llm.money import dollars
from kitchen.llm.prices import Forecast, PriceList, UnknownPriceError
from kitchen.llm.registry import STAND_IN


@dataclass(frozen=True, slots=True)
class CostForecast:
    """What is ahead: calls, and US dollars; None where a price is not known."""

    models: tuple[str, ...]
    calls: int
    expected: float | None
    worst: float | None

    @property
    def is_free(self) -> bool:
        """Nothing will be paid."""
        return self.worst == 0

    def __str__(self) -> str:
        ahead = f"{self.calls} calls of {', '.join(self.models)}"
        if self.expected is None or self.worst is None:
            return f"{ahead}: what they cost is not known (kitchen/llm/prices.toml has no price)"
        money = f"about {dollars(self.expected)}, at worst {dollars(self.worst)} if no call is tried again"
        return f"{ahead}: {money}; when that much is spent it stops"


def forecast(setup: Setup, jobs: Sequence[Job], prices: PriceList) -> CostForecast:
    """What these jobs will cost; free for a co-player that calls no model, or only the stand-in."""
    paid = [column for column in setup.columns if provider_of(setup, column) not in {"", STAND_IN}]
    found = list(_parts(setup, jobs, paid, prices))
    names = tuple(dict.fromkeys(name for name, _ in found))
    parts = [part for _, part in found]
    return CostForecast(
        models=names,
        calls=sum(part.calls for part in parts),
        expected=total(None if part.worst < 0 else part.expected for part in parts),
        worst=total(None if part.worst < 0 else part.worst for part in parts),
    )


def provider_of(setup: Setup, column: Column) -> str:
    """Who would be called for a cell; empty for nobody."""
    settings = setup.settings_of(column.variant)
    return read_model(str(settings[MODEL]))[0] if MODEL in settings else ""


def _parts(
    setup: Setup, jobs: Sequence[Job], paid: Sequence[Column], prices: PriceList
) -> Iterator[tuple[str, Forecast]]:
    """Model and cost of each cell; a cost below 0 is not known."""
    for column in paid:
        mine = [job for job in jobs if job.column.key == column.key]
        provider, model = read_model(str(setup.settings_of(column.variant)[MODEL]))
        if mine:
            plan = trial.plan_of(sample(setup, mine[0]), ahead=len(mine) * STEPS, episodes=len(mine))
            try:
                yield f"{provider}/{model}", prices.forecast(provider, model, plan)
            except UnknownPriceError:
                yield f"{provider}/{model}", Forecast(plan.calls, -1.0, -1.0)


def sample(setup: Setup, job: Job) -> list[Call]:
    """The calls of the first steps of a cell, made with the stand-in."""
    game = new_game(job)
    return trial.sample(game, setup.coplayer, setup.settings_of(job.column.variant), range(game.seats))
