"""Addresses of the design pages of one study, all under one prefix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.urls import URLPattern, path, register_converter

from study.editor import conditions, design, languages, prompts, questions, studies
from study.trying_out import dry_run_page


class Act:
    """What a button of a row does."""

    regex = "up|down|copy|delete"

    def to_python(self, value: str) -> str:
        """As it stands."""
        return value

    def to_url(self, value: str) -> str:
        """As it stands."""
        return value


class ItemAct(Act):
    """What a button of an item does."""

    regex = "up|down|switch|delete"


register_converter(Act, "act")
register_converter(ItemAct, "item_act")

PAGES: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("", design.overview, ""),
    ("settings/", design.settings, "settings"),
    ("plan/", design.plan, "plan"),
    ("languages/", languages.languages, "languages"),
    ("texts/<slug:language>/", languages.texts, "texts"),
    ("recruitment/", design.recruitment, "recruitment"),
    ("orders/", design.orders, "orders"),
    ("parts/<slug:kind>/", design.part, "part"),
    ("conditions/new/", conditions.condition, "condition-new"),
    ("conditions/<int:pk>/", conditions.condition, "condition"),
    ("conditions/<int:pk>/prompt/", prompts.condition_prompt, "condition-prompt"),
    ("conditions/<int:pk>/preview/", studies.preview_condition, "condition-preview"),
    ("conditions/<int:pk>/<act:act>/", conditions.condition_act, "condition-act"),
    ("items/new/", questions.item, "item-new"),
    ("items/shipped/", questions.instruments, "instruments"),
    ("items/<int:pk>/", questions.item, "item"),
    ("items/<int:pk>/<item_act:act>/", questions.item_act, "item-act"),
    ("outcomes/", design.outcomes, "outcomes"),
    ("members/", studies.members, "members"),
    ("members/<int:pk>/remove/", studies.member_gone, "member-gone"),
    ("state/", studies.state, "state"),
    ("copy/", studies.copy, "copy"),
    ("delete/", studies.delete, "delete"),
    ("preview/", studies.preview, "preview"),
    ("dry-run/", dry_run_page.dry_runs, "dry-runs"),
    ("dry-run/<int:pk>/stop/", dry_run_page.dry_run_stopped, "dry-run-stopped"),
    ("previews/erase/", studies.previews_gone, "previews-gone"),
    ("synthetic/erase/", studies.synthetic_gone, "synthetic-gone"),
)
"""Path, view, and what the name has after `staff-design`."""


def design_urls(prefix: str) -> list[URLPattern]:
    """The patterns, named `staff-design` and `staff-design-…`."""
    return [
        path(f"{prefix}{tail}", view, name=f"staff-design-{name}" if name else "staff-design")
        for tail, view, name in PAGES
    ]
