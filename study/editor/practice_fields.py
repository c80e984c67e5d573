"""The typed fields of the practice episode: the world, its settings, the co-player."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms

from kitchen.contract.world import Json, Setting
from kitchen.forms.setting_fields import setting_field
from kitchen.registry.worlds import get_kit
from study.design.field_labels import PART_SETTINGS
from study.design.offered import COPLAYER, WORLD, ChoosableKind, KindSelect, kind_choices, world_kinds
from study.design.plan import NOBODY
from study.design.practice import practice_played

UNTIL_DONE = (
    "Otherwise practice is over as soon as somebody has done once what the game is about. "
    "Whoever has not, after all its steps, may practise once more."
)
TEAM_SIZE = "Agents beside the participant's own. 3 teammates make a team of 4 agents."


def practice_fields() -> dict[str, forms.Field]:
    """By name; those of each world's settings are named as in a condition's form."""
    return {
        "hints": forms.BooleanField(label=PART_SETTINGS["hints"], required=False),
        "all_steps": forms.BooleanField(
            label=PART_SETTINGS["all_steps"], required=False, help_text=UNTIL_DONE
        ),
        WORLD: forms.ChoiceField(label="World", choices=kind_choices(WORLD)),
        **{name: setting_field(setting) for kind in world_kinds() for name, setting in kind.named_settings()},
        COPLAYER: forms.ChoiceField(label="Co-player", choices=kind_choices(COPLAYER), widget=KindSelect),
        "teammates": forms.IntegerField(
            label="Teammates", min_value=0, max_value=63, initial=0, help_text=TEAM_SIZE
        ),
    }


def usual(kind: ChoosableKind, setting: Setting) -> Json:
    """A setting of a world while nobody has said how it is practised."""
    return get_kit(kind.name).practice.settings.get(setting.name, setting.default)


def practice_fields_of(settings: Mapping[str, Json]) -> dict[str, Json]:
    """A part's settings by the names of these fields."""
    played = practice_played(settings["kitchen"])
    values = {
        name: played["settings"].get(setting.name, setting.default)
        if kind.name == played["world"]
        else usual(kind, setting)
        for kind in world_kinds()
        for name, setting in kind.named_settings()
    }
    return {**settings, **played, **values}


def practice_settings(given: Mapping[str, Json], stored: Mapping[str, Json]) -> dict[str, Json]:
    """The part's settings by what was given; what is not asked here stays as it is."""
    played = practice_played(stored.get("kitchen", {}))
    if played["world"] != given[WORLD]:
        played = practice_played({"world": given[WORLD]})
    (world,) = (kind for kind in world_kinds() if kind.name == given[WORLD])
    own = {setting.name: given[name] for name, setting in world.named_settings()}
    same = played["coplayer"] == given["coplayer"]
    kitchen = {
        **played,
        "settings": {**played["settings"], **own},
        "coplayer": given["coplayer"],
        "coplayer_settings": played["coplayer_settings"] if same else {},
        "teammates": given["teammates"] if given["coplayer"] != NOBODY else 0,
    }
    lasting = {"all_steps": True} if given["all_steps"] else {}
    return {"hints": given["hints"], **lasting, "kitchen": kitchen}
