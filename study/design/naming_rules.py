"""Check keys and names in a study: valid characters, reserved names, and keys that must not change.

Each participant is bound to the version of the design under which they entered. While a person is active, the
keys of the conditions and items of this version must not change. The texts of the items must not change
either.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain, count
from typing import Any

from django.utils.text import slugify

from kitchen.registry.world_metrics import common_metrics
from kitchen.words.english_text import counted_noun
from study.design.analysis_plan import KEY
from study.design.play_metrics import PLAY_METRIC_LABELS, PLAY_METRICS

KEY_RULE = "Begin with a letter or a digit; then letters, digits, “_” and “-”."


def key_problem(key: str) -> str:
    """Return why the analysis cannot use this key. Return an empty string if it can."""
    if not KEY.fullmatch(key):
        return KEY_RULE
    return ""


def key_from_name(name: str, taken: Collection[str], otherwise: str) -> str:
    """Return a key made from a name: `Two planners` becomes `two_planners`. A number is added if the key is
    in `taken`. `otherwise` is used for a name without letters and digits of the Latin alphabet."""
    plain = slugify(name).replace("-", "_").strip("_")[:40].rstrip("_") or otherwise
    keys = chain([plain], (f"{plain}_{number}" for number in count(2)))
    return next(key for key in keys if key not in taken and not item_key_problem(key))


def name_problem(name: str) -> str:
    """Return why tables and figures cannot show this name. Return an empty string if they can."""
    return "" if name.isprintable() else "It has characters that do not print, such as a no-break space."


def item_key_problem(key: str) -> str:
    """Return why an item cannot have this key. Return an empty string if it can.

    The rules of `key_problem` apply. The key of a play metric is also refused.
    """
    if key in {*PLAY_METRICS, *(one.name for one in common_metrics())}:
        return f"Choose another key: “{key}” is a measure of play already."
    return key_problem(key)


def measure_name_problem(measure: str) -> str:
    """Return why an item cannot have this measure name. Return an empty string if it can.

    The rules of `name_problem` apply. The label of a play metric is also refused.
    """
    if measure in {*PLAY_METRIC_LABELS, *(one.label for one in common_metrics())}:
        return f"Choose another name: “{measure}” is a measure of play already."
    return name_problem(measure)


RESERVED_SLUGS = frozenset(
    {"account", "logins", "new", "policies", "replay", "sample-size", "security-events", "tokens", "well"}
)
"""Words that addresses of `study.urls` use in place of a study's slug, such as `new` in `/staff/new/`."""

ACTIVE = "active"
"""The value of `Participant.Status.ACTIVE`. It is repeated here because the models import this module."""


def dependent_participants(row: Any) -> int:
    """Return how many people still take part under a version of the study that has this condition or item.

    `row` is a `Condition` or `SurveyItem`. Its stored key is used, not an unsaved change.
    """
    stored = type(row).objects.filter(pk=row.pk).select_related("study").first() if row.pk else None
    if stored is None:
        return 0
    on_the_way = stored.study.participants.filter(status=ACTIVE, synthetic=False, preview=False)
    versions = stored.study.versions.filter(pk__in=on_the_way.values("version")).defer("bundle")
    naming = [one.pk for one in versions if _names(one.document, row.IN_DOCUMENT, stored.key)]
    return int(on_the_way.filter(version__in=naming).count()) if naming else 0


def _names(document: Any, rows: str, key: str) -> bool:
    return any(one["key"] == key for one in document[rows])


def describe_dependents(number: int) -> str:
    """Return a phrase for a message that refuses a change of a key: `number` active participants started
    while the key existed."""
    return f"{counted_noun(number, 'participant')} on the way entered with it"
