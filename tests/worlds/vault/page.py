"""Define the page of the test world Vault: the default page."""

from __future__ import annotations

from kitchen.pages.default_page import DefaultPage

PAGE = DefaultPage(
    title="The vault",
    rules=("Open the vault together.", "Dial the code of the next keeper, and then crank for four steps."),
)
