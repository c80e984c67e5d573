"""Show staff which files of the data export have rows of programs, and why the others are empty.

Design errors show here before people take part: a study of messages in which nobody may write, for example.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from kitchen.contract.organisation import Organisation
from kitchen.registry.agent_registry import get_agent
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.condition_seats import NOBODY
from study.design.models import Study
from study.design.team_organisation import is_apart
from study.exports.export_registry import tables
from study.exports.export_table import ExportSelection, ExportTable
from study.participation.round_planning import episode_settings
from study.researchers.form_and_button_pages import study_context
from study.researchers.permissions import study_page

PROGRAMS = ExportSelection(people=False, preview=False)
ALWAYS_FULL = frozenset({"codebook", "dictionary"})
"""Files that describe the others."""
NOT_SO_FAR = "No program came so far. Run a dry run with more programs, or look at what stopped them."
EMPTY_WORDS = {
    "staff_actions": "Staff did nothing to a program. It fills when you exclude, end or pay somebody.",
    "outages": "Nothing of ours was away. That is good.",
    "failed_checks": "No command failed a check. That is good.",
    "plannings": "No co-player thought while steps went on. It fills under a clock, or with a schedule.",
    "prompts": "No co-player sent a text to a language model in these episodes.",
    "predictions": "No co-player of the study says what it foresees.",
    "annotations": "No rater has released marks on the replays of programs.",
    "sound": "Programs do not speak. It fills when people think aloud.",
    "scored_events": "The worlds of the study score no single events.",
}
"""Why a file is empty, for files that do not depend on the design or that only play can fill."""


class ExportFileState(NamedTuple):
    """One file of the export: its name and meaning, and why it is empty. `why` is empty if it has rows."""

    name: str
    meaning: str
    why: str


def export_file_states(study: Study) -> list[ExportFileState]:
    """Return the state of every file that has data, for the rows of programs only."""
    design = blueprint_of(study)
    has_programs = PROGRAMS.participants(study).exists()
    return [
        ExportFileState(
            f"{table.name}.csv",
            table.meaning,
            "" if has_programs and _has_rows(table, study) else why_empty(table.name, design, has_programs),
        )
        for table in tables()
        if table.name not in ALWAYS_FULL
    ]


def _has_rows(table: ExportTable, study: Study) -> bool:
    _, batches = table.opened(study, PROGRAMS)
    return any(any(batch.lengths) for batch in batches)


def why_empty(name: str, design: Blueprint, has_programs: bool) -> str:
    """Return why the file `name` has no row of programs, as a sentence."""
    if not has_programs:
        return "No program has taken part yet."
    return _design_words(name, design) or EMPTY_WORDS.get(name, NOT_SO_FAR)


def _design_words(name: str, design: Blueprint) -> str:
    """Return what in the design keeps a file empty. Return an empty string if nothing does."""
    return next(
        (words for names, fills, words in DESIGN_WORDS if name in names and not fills(design)),
        "",
    )


def _in_any(fills: Callable[[ConditionPlan], object]) -> Callable[[Blueprint], bool]:
    return lambda design: any(fills(one) for one in design.conditions)


def _asks_model(condition: ConditionPlan) -> bool:
    return condition.coplayer != NOBODY and bool(get_agent(condition.coplayer).names_model)


def _organisations(design: Blueprint) -> list[Organisation]:
    """Return the organisations of all conditions that have one."""
    found = [episode_settings(design, one)["organisation"] for one in design.conditions]
    return [one for one in found if one is not None]


def _gives_jobs(design: Blueprint) -> bool:
    """Return whether members can give one another jobs in any condition. To write is not enough."""
    leads = any(is_apart(one.organisation) for one in design.conditions)
    return leads or any(one.commands for one in _organisations(design))


def _has_messages(design: Blueprint) -> bool:
    return not all(one.is_silent for one in _organisations(design))


DESIGN_WORDS: tuple[tuple[tuple[str, ...], Callable[[Blueprint], bool], str], ...] = (
    (("answers", "asked"), lambda design: bool(design.items), "The study asks no question."),
    (
        ("decisions", "predictions"),
        _in_any(lambda one: one.coplayer != NOBODY),
        "No condition has a co-player.",
    ),
    (("prompts",), _in_any(_asks_model), "No co-player of the study asks a language model."),
    (("messages",), _has_messages, "In no condition may anybody write messages."),
    (
        ("probes",),
        _in_any(lambda one: one.probes or one.rating_slider),
        "No condition asks questions during the game or has a slider beside it.",
    ),
    (("sound",), lambda design: bool(design.meant("think_aloud")), "The study records no sound."),
    (("jobs",), _gives_jobs, "In no condition may anybody give others jobs."),
    (
        ("team_measures",),
        _in_any(lambda one: one.organisation),
        "No condition has an organisation of its members.",
    ),
    (("payments",), lambda design: bool(design.meant("bonus_rule")), "The study has no bonus rule."),
)
"""Files, whether a design can fill them, and why they are empty if it cannot."""


@study_page("view")
def dry_run_files(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the table of files."""
    states = export_file_states(study)
    context = {"files": states, "empty": sum(bool(one.why) for one in states)}
    return render(request, "study/editor/dry_run_files.html", study_context(study) | context)
