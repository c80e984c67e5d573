"""Map the URLs on which researchers edit, preview and test a study to views.

All URLs begin with the same prefix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter

from study.editor import (
    bonus_page,
    condition_and_question_pages,
    design_pages,
    dry_run_file_page,
    factor_pages,
    flow_pages,
    manage_study_pages,
    media_pages,
    page_preview_pages,
    study_file_pages,
    text_table,
)
from study.pilot import dry_run_page
from study.planning import condition_prompt_preview


class Act(StringConverter):
    """URL converter that accepts the names of the actions on a condition."""

    regex = "up|down|copy|delete"


class ItemAct(StringConverter):
    """URL converter that accepts the names of the actions on a survey item."""

    regex = "up|down|copy|switch|delete"


register_converter(Act, "act")
register_converter(ItemAct, "item_act")

PAGES: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("", design_pages.overview, ""),
    ("settings/", design_pages.settings_page, "settings"),
    ("plan/", design_pages.plan_page, "plan"),
    ("languages/", design_pages.languages, "languages"),
    ("texts/", text_table.text_table, "text-table"),
    ("texts.csv", text_table.text_file, "text-file"),
    ("texts/<slug:language>/", design_pages.texts, "texts"),
    ("recruitment/", design_pages.recruitment_page, "recruitment"),
    ("bonus/", bonus_page.bonus, "bonus"),
    ("orders/", design_pages.orders_page, "orders"),
    ("survey-rule/", design_pages.survey_rule_page, "survey-rule"),
    ("factors/", factor_pages.factors_page, "factors"),
    ("factors/new/", factor_pages.factor_new, "factor-new"),
    ("factors/cells/", factor_pages.cells_made, "cells"),
    ("factors/<slug:factor>/", factor_pages.factor_names, "factor"),
    ("factors/<slug:factor>/remove/", factor_pages.factor_remove, "factor-gone"),
    ("parts/<slug:kind>/", design_pages.part_page, "part"),
    ("flow/", flow_pages.flow, "flow"),
    ("flow/new/", flow_pages.own_page_edit, "own-page-new"),
    ("flow/<int:pk>/", flow_pages.own_page_edit, "own-page"),
    ("flow/<int:pk>/place/", flow_pages.own_page_place, "own-page-place"),
    ("flow/parts/<slug:kind>/", flow_pages.part_place, "part-place"),
    ("flow/<int:pk>/<act:act>/", flow_pages.own_page_action, "own-page-act"),
    ("media/", media_pages.media, "media"),
    ("media/<int:pk>/", media_pages.media_texts, "media-texts"),
    ("media/<int:pk>/delete/", media_pages.media_delete, "media-gone"),
    ("media/files/<str:sha256>/<str:media_name>", media_pages.media_file, "media-file"),
    ("conditions/new/", condition_and_question_pages.condition_new, "condition-new"),
    ("conditions/<int:pk>/", condition_and_question_pages.condition, "condition"),
    ("conditions/<int:pk>/prompt/", condition_prompt_preview.condition_prompt, "condition-prompt"),
    ("conditions/<int:pk>/preview/", manage_study_pages.preview_condition, "condition-preview"),
    ("conditions/<int:pk>/<act:act>/", condition_and_question_pages.condition_action, "condition-act"),
    ("items/new/", condition_and_question_pages.item_new, "item-new"),
    ("items/list/", condition_and_question_pages.item_list, "item-list"),
    ("items/rows/", condition_and_question_pages.item_rows, "item-rows"),
    ("items/rows.csv", condition_and_question_pages.item_file, "item-file"),
    ("items/shipped/", condition_and_question_pages.instruments, "instruments"),
    ("items/<int:pk>/", condition_and_question_pages.item, "item"),
    ("items/<int:pk>/<item_act:act>/", condition_and_question_pages.item_action, "item-act"),
    ("outcomes/", design_pages.outcomes_page, "outcomes"),
    ("members/", manage_study_pages.members, "members"),
    ("members/invite/", manage_study_pages.invite_member, "invite"),
    ("members/hand-over/", manage_study_pages.hand_over, "hand-over"),
    ("members/conceal/", manage_study_pages.conceal_conditions, "conceal"),
    ("members/<int:pk>/remove/", manage_study_pages.remove_member, "member-gone"),
    ("state/", manage_study_pages.study_state, "state"),
    ("copy/", manage_study_pages.copy_study, "copy"),
    ("file/", study_file_pages.study_file, "file"),
    ("file/take/", study_file_pages.study_file_taken, "file-take"),
    ("file/study.zip", study_file_pages.study_file_download, "file-zip"),
    ("delete/", manage_study_pages.delete_study, "delete"),
    ("preview/", manage_study_pages.preview, "preview"),
    ("dry-run/", dry_run_page.dry_runs, "dry-runs"),
    ("dry-run/files/", dry_run_file_page.dry_run_files, "dry-run-files"),
    ("dry-run/<int:pk>/stop/", dry_run_page.dry_run_stopped, "dry-run-stopped"),
    ("previews/", page_preview_pages.page_list, "previews"),
    ("previews/erase/", manage_study_pages.erase_previews, "previews-gone"),
    ("synthetic/erase/", manage_study_pages.erase_synthetic, "synthetic-gone"),
)
"""(path, view, suffix of the URL name after `staff-design`)."""


def design_urls(prefix: str) -> list[URLPattern]:
    """Return the URL patterns, named `staff-design` and `staff-design-…`."""
    return [
        path(f"{prefix}{tail}", view, name=f"staff-design-{name}" if name else "staff-design")
        for tail, view, name in PAGES
    ]
