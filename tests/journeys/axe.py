"""What axe (WCAG 2.2 AA) finds on a page: narrow and wide, light and dark."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WIDE, NARROW = 1440, 360
COLOURS = ("color-contrast", "link-in-text-block")
PLACES = ("target-size", "scrollable-region-focusable")
Scheme = Literal["light", "dark"]
STILL = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`* { transition: none !important; animation: none !important }
        [data-alike] { display: none !important }`);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const kind = row => [row, ...row.querySelectorAll("*")].map(one => one.tagName + one.className).join();
    for (const body of document.querySelectorAll("tbody")) {
        const seen = {};
        for (const row of body.rows) {
            seen[kind(row)] = (seen[kind(row)] ?? 0) + 1;
            row.toggleAttribute("data-alike", seen[kind(row)] > 5);
        }
    }
}"""
"""A colour on its way from light to dark is neither. Of rows of a table with the same elements and classes
five are looked at."""
ALL = "() => document.querySelectorAll('[data-alike]').forEach(one => one.removeAttribute('data-alike'))"
LOOKS = """() => [...document.querySelectorAll("body, body *")].map(one => {
    if (!one.checkVisibility({visibilityProperty: true})) return "";
    const style = getComputedStyle(one), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 56 / 3 && style.fontWeight >= 700);
    return [style.color, style.backgroundColor, style.backgroundImage, style.opacity, large].join();
}).join(";")"""
"""What shows, and all that decides whether its colours are told apart, with whether text counts as large."""
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
RUN = """async ({only, within}) => {
    const options = {runOnly: only, resultTypes: ["violations"]};
    const written = node => [node.target.join(" "), node.html, node.failureSummary].join(" ");
    const found = (await axe.run(within || document, options)).violations;
    return found.map(one => [one.id, one.nodes.map(written)]);
}"""


async def violations(page: Page, name: str, within: str = "") -> list[str]:
    """What axe finds on the page as it is shown now, or `within` what this selects, where the rest was looked
    at before; a line for each node."""
    await page.evaluate(AXE_SCRIPT)
    await page.evaluate(STILL)
    found, looks = [], {}
    for width in (WIDE, NARROW):
        await page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            looks[width, scheme] = await page.evaluate(LOOKS)
            only = rules(width, scheme, as_wide=looks[width, scheme] == looks[WIDE, scheme])
            asked = {"only": only, "within": within}
            for rule, nodes in await page.evaluate(RUN, asked) if only else ():
                found += [
                    f"{name} at {width} px, {scheme}: {rule}: {' '.join(node.split())}" for node in nodes
                ]
    await page.evaluate(ALL)
    return found


def rules(width: int, scheme: Scheme, *, as_wide: bool) -> dict[str, Any]:
    """What can differ from what was looked at before, as axe wants it said; nothing where nothing can."""
    if width == WIDE:
        chosen = () if scheme == "light" else COLOURS
    elif scheme == "light":
        chosen = PLACES if as_wide else ()
    elif as_wide:
        return {}
    else:
        chosen = COLOURS
    return {"type": "rule", "values": chosen} if chosen else {"type": "tag", "values": TAGS}


class Kinds(HTMLParser):
    """The kinds of elements that pages had so far: tag, classes, role and type."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[tuple[str | None, ...]] = set()

    def has_new(self, html: str) -> bool:
        """Whether a page has an element of a kind that no page before it had."""
        before = len(self._seen)
        self.feed(html)
        return len(self._seen) > before

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of an element."""
        given = dict(attrs)
        self._seen.add((tag, given.get("class"), given.get("role"), given.get("type")))
