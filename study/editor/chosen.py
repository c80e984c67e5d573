"""Pages on which a world or co-player is chosen and set: the fields of what is chosen, and no others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from django.http import QueryDict

from kitchen.contract.world import Json, Setting
from kitchen.registry.worlds import known_worlds
from study.design.offered import COPLAYER, WORLD, ChoosableKind, kind_choices
from study.design.plan import teammates_needed
from study.editor.model_forms import SHOW
from study.editor.team_form import APART

TEAMMATES = "teammates"

Usual = Callable[[ChoosableKind, Setting], Json]
"""What a setting of a kind is while nobody has said anything."""


def default(kind: ChoosableKind, setting: Setting) -> Json:
    """As it is declared."""
    return setting.default


def with_usual(sent: QueryDict, kinds: Iterable[ChoosableKind], usual: Usual = default) -> QueryDict:
    """What was sent, and the usual settings of a world or co-player whose settings were not on the page:
    `_shown` names those that were."""
    filled, shown = sent.copy(), sent.getlist("_shown")
    for kind in kinds:
        if sent.get(kind.part) != kind.name or f"{kind.part}__{kind.name}" in shown:
            continue
        for name, setting in kind.named_settings():
            if name not in filled and usual(kind, setting) is not False:
                filled[name] = str(usual(kind, setting))
    return filled


def with_needed(sent: QueryDict) -> QueryDict:
    """What was sent; where another world is shown that needs just so many teammates, and nobody has given a
    number, that many."""
    world = sent.get(WORLD, "")
    if SHOW not in sent or world not in known_worlds() or sent.get(TEAMMATES) not in {"", "0"}:
        return sent
    filled, needed = sent.copy(), teammates_needed(world, apart=bool(sent.get(APART)))
    if needed is not None:
        filled[TEAMMATES] = str(needed)
    return filled


def chosen_fields(
    form: Any, kinds: Iterable[ChoosableKind], chosen: Mapping[str, str], shown: Collection[str] = ()
) -> dict[str, Any]:
    """The plain fields, and those of every kind in a group of its own, the chosen ones marked, and those that
    were `shown` before: what was typed there stays. Co-players are offered as far as they play the chosen
    world."""
    if COPLAYER in form.fields:
        offered = kind_choices(COPLAYER, str(form[COPLAYER].value() or ""), chosen[WORLD])
        form.fields[COPLAYER].widget.choices = offered
    named = [(kind, [name for name, _ in kind.named_settings()]) for kind in kinds]
    own = {name for _, names in named for name in names}
    return {
        "plain": [field for field in form if field.name not in own],
        "groups": [
            (kind, [form[name] for name in names], kind.name == chosen[kind.part])
            for kind, names in named
            if names and (kind.name == chosen[kind.part] or f"{kind.part}__{kind.name}" in shown)
        ],
    }
