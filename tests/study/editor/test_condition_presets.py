"""Presets fill the form of a condition for every world, and keep what was typed."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from kitchen.registry.world_registry import known_worlds
from study.design.condition_choices import all_kinds
from study.design.models import Condition
from study.editor.condition_presets import preset_condition, presets, with_preset
from study.editor.team_condition_form import ROWS, condition_form, with_rows
from study.editor.world_setting_fields import with_default_settings
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


def filled(**typed: Any) -> QueryDict:
    """Return the form as it is after a button was pressed in it."""
    sent = QueryDict(mutable=True)
    sent.update(typed)
    return with_default_settings(with_rows(with_preset(sent, ROWS)), all_kinds())


WHO = ("settings", "coplayer", "coplayer_settings", "teammates", "organisation")


def test_every_preset_of_every_world_can_be_saved_at_once() -> None:
    study, kind = make_study(), condition_form()
    refused, unlike = {}, list[tuple[str, str, str]]()
    for world in known_worlds():
        for one in presets(world):
            sent = filled(world=world, key="k", label="Blue", _show_settings=f"preset {one.name}")
            assert (sent["name"], sent["label"]) == (one.label, "Blue")
            del sent["_show_settings"]
            form = kind(sent, instance=Condition(study=study))
            if not form.is_valid():
                refused[world, one.name] = dict(form.errors)
            at_once = preset_condition(study, world, one)
            unlike += [(world, one.name, f) for f in WHO if getattr(at_once, f) != getattr(form.instance, f)]
    assert refused == {} and unlike == []


def test_a_preset_changes_who_plays_and_nothing_else() -> None:
    typed = {
        "world": "cuisine",
        "name": "Mine",
        "world__cuisine__alpha": "2",
        "team_row": "0",
        "teammates": "9",
        "team_leads": "3",
        "team_commands": "1 > 3",
    }
    sent = filled(**typed, coplayer="random", _show_settings="preset dispatcher")
    assert [sent[name] for name in ("name", "world__cuisine__alpha", "coplayer", "teammates")] == [
        "Mine",
        "2",
        "dispatcher",
        "2",
    ]
    assert not {"team_leads", "team_commands"} & sent.keys(), "the preset's team has its own leader"
    assert sent["team_talk"] == "on"


def test_a_preset_keeps_separate_coplayers_of_its_teammates_and_names_a_copy() -> None:
    rows = {"team_row_0_players": "2", "team_row_1_players": "4"}
    typed = QueryDict(mutable=True)
    typed.update({"world": "cuisine", "name": "Alone copy2", **rows, "_show_settings": "preset planners"})
    typed.setlist(ROWS, ["0", "1"])
    sent = with_preset(typed, ROWS, ["Alone"])
    assert with_preset(typed, ROWS, ["Other"])["name"] == "Alone copy2", "somebody typed it"
    assert (sent.getlist(ROWS), sent["name"]) == (["0"], presets("cuisine")[1].label)
    typed["_show_settings"] = "preset people"
    assert with_preset(typed, ROWS).getlist(ROWS) == []
