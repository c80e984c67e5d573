"""Quarry in a browser: the default page."""

from __future__ import annotations

from kitchen.pages.default_page import DefaultPage

PAGE = DefaultPage(
    title="The quarry",
    rules=("Bring as many stones to the carts as you can.", "A cart holds stones of everybody."),
)
