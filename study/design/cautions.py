"""What a researcher is told about a condition before people come."""

from __future__ import annotations

import warnings

from study.design.models import Condition
from study.design.plan import condition_check


def condition_warnings(condition: Condition) -> list[str]:
    """What its world or co-player warns of, one text each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        condition_check(
            world=condition.world,
            settings=condition.settings,
            coplayer=condition.coplayer,
            coplayer_settings=condition.coplayer_settings,
            teammates=condition.teammates,
            organisation=condition.organisation,
            step_seconds=condition.step_seconds,
        )
    return list(dict.fromkeys(str(warning.message) for warning in caught))
