"""The no-feedback ablation shows its effect with a stand-in that errs.

THIS IS HOW THE STAND-IN IS BUILT AND NO FINDING: it repeats a refused command unless feedback speaks of it
(`kitchen.llm.providers.stand_in`). What is shown is that the switch reaches the prompt, and that what the
prompt says reaches the score; nothing can be learnt from the size of the difference.
"""

from __future__ import annotations

from typing import Any

from kitchen.experiments.arguments import read_setup
from kitchen.experiments.plan import jobs_of
from kitchen.experiments.play import play
from kitchen.experiments.rows import Row

GIVEN: dict[str, Any] = dict.fromkeys(("co_player", "demo", "no_feedback", "no_hints"))
GIVEN |= {"preset": "table7", "model": "stand-in", "levels": "3", "agents": "2", "alphas": "1.0"}
GIVEN |= {"episodes": "3", "seed": "1"}
ERRING = {**GIVEN, "set": ["stand_in_errors=0.3"]}


def played(variant: str) -> list[Row]:
    """Three episodes of one row of Table 7, the same seeds for every variant."""
    setup = read_setup(ERRING)
    jobs = [job for job in jobs_of(setup) if job.column.variant.name == variant]
    return [play(job, setup.coplayer, setup.settings_of(job.column.variant)) for job in jobs]


def test_without_feedback_an_erring_stand_in_serves_fewer_orders() -> None:
    told, untold = played("full"), played("no_feedback")
    assert [row.seed for row in told] == [row.seed for row in untold]
    assert {row.played_by for row in (*told, *untold)} == {"stand-in x60"}
    assert sum(row.completed for row in untold) < sum(row.completed for row in told)
