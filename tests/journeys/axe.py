"""Check a page with axe (WCAG 2.2 AA): in a narrow and a wide window, in light and in dark colours."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html.parser import HTMLParser
from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WIDE, NARROW = 1440, 360
COLOURS = ("color-contrast", "link-in-text-block")
PLACES = ("target-size", "scrollable-region-focusable")
Scheme = Literal["light", "dark"]
Kind = tuple[str | None, ...]
STILL = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`* { transition: none !important; animation: none !important }
        [data-alike] { display: none !important }`);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const kind = row => [row, ...row.querySelectorAll("*")].map(one => one.tagName + one.className).join();
    const seen = {};
    for (const body of document.querySelectorAll("tbody")) {
        for (const row of body.rows) {
            seen[kind(row)] = (seen[kind(row)] ?? 0) + 1;
            row.toggleAttribute("data-alike", seen[kind(row)] > 5);
        }
    }
}"""
"""A script that stops transitions between light and dark colours. Of table rows with the same elements and
classes, it marks all but five, so that they are not checked."""
ALL = "() => document.querySelectorAll('[data-alike]').forEach(one => one.removeAttribute('data-alike'))"
LOOKS = """([known, most, within]) => {
    const seen = new Set(known.split(" ")), looks = new Map(), news = {};
    const hashed = text => {
        let [a, b] = [5381, 52711];
        for (let at = 0; at < text.length; at++) {
            a = Math.imul(a, 33) ^ text.charCodeAt(at);
            b = Math.imul(b, 37) ^ text.charCodeAt(at);
        }
        return (a >>> 0).toString(36) + (b >>> 0).toString(36);
    };
    const look = one => {
        if (!one) return "";
        if (!looks.has(one)) looks.set(one, hashed([look(one.parentElement), ...own(one)].join()));
        return looks.get(one);
    };
    const own = one => {
        if (!one.checkVisibility({visibilityProperty: true})) return [];
        const style = getComputedStyle(one), size = parseFloat(style.fontSize);
        const large = size >= 24 || (size >= 56 / 3 && style.fontWeight >= 700);
        const kind = [one.tagName, one.getAttribute("class"), one.getAttribute("role"), one.type];
        const colours = [style.color, style.backgroundColor, style.backgroundImage];
        return [...kind, ...colours, style.opacity, style.textDecorationLine, large];
    };
    const all = [...document.querySelectorAll("body, body *")];
    for (const one of all) {
        const asked = one.checkVisibility({visibilityProperty: true}) && (!within || one.closest(within));
        const isNew = Boolean(asked) && !seen.has(look(one));
        if (isNew) news[look(one)] = (news[look(one)] ?? 0) + 1;
        one.toggleAttribute("data-new-look", isNew && news[look(one)] <= most);
    }
    return [all.map(look).join(" "), Object.keys(news).join(" ")];
}"""
"""A script that returns the look of each element as one word.

The word has the element's kind and everything on which its contrast depends, for the element and all elements
around it. Looks that are not `known` are returned; at most `most` elements of each are marked.
"""
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
RUN = """async ({only, within}) => {
    axe.configure({rules: [{id: "color-contrast", selector: "[data-new-look]"}]});
    const options = {runOnly: only, resultTypes: ["violations"]};
    const written = node => [node.target.join(" "), node.html, node.failureSummary].join(" ");
    const found = (await axe.run(within || document, options)).violations;
    return found.map(one => [one.id, one.nodes.map(written)]);
}"""


class Looks:
    """The elements whose colours were checked earlier.

    An element of the same kind with the same colours has the same contrast if the elements around it were
    also checked.
    """

    most = 3
    """The maximum number of elements of one look that are checked."""

    def __init__(self) -> None:
        self.known: dict[Scheme, set[str]] = {scheme: set() for scheme in SCHEMES}


async def violations(page: Page, name: str, within: str = "", before: Looks | None = None) -> list[str]:
    """Return a line for each node of the shown page that breaks a rule of axe.

    `within` selects the part of the page to check, if the rest was checked earlier. Colours that were checked
    `before` are left out.
    """
    await page.evaluate(AXE_SCRIPT)
    await page.evaluate(STILL)
    found, looks = [], {}
    for width in (WIDE, NARROW):
        await page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            known, most = (before.known[scheme], before.most) if before else (set(), 100_000)
            looks[width, scheme], news = await page.evaluate(LOOKS, [" ".join(known), most, within])
            known.update(news.split())
            only = rules(width, scheme, as_wide=looks[width, scheme] == looks[WIDE, scheme])
            if not news and only.get("values") == COLOURS:
                continue
            asked = {"only": only, "within": within}
            for rule, nodes in await page.evaluate(RUN, asked) if only else ():
                found += [
                    f"{name} at {width} px, {scheme}: {rule}: {' '.join(node.split())}" for node in nodes
                ]
    await page.evaluate(ALL)
    return found


def rules(width: int, scheme: Scheme, *, as_wide: bool) -> dict[str, Any]:
    """Return axe's options for the rules whose result can differ from the earlier check. Empty if no result
    can differ."""
    if width == WIDE:
        chosen = () if scheme == "light" else COLOURS
    elif scheme == "light":
        chosen = PLACES if as_wide else ()
    elif as_wide:
        return {}
    else:
        chosen = COLOURS
    return {"type": "rule", "values": chosen} if chosen else {"type": "tag", "values": TAGS}


def chosen(pages: Mapping[str, str], first: Collection[str] = (), worth: int = 1) -> list[str]:
    """Choose few of these HTML pages such that every kind of element occurs on one of them, and return their
    names. The pages in `first` are always chosen.

    A page is left out if it has fewer than `worth` kinds that no chosen page has.
    """
    kinds, names = {name: kinds_of(html) for name, html in pages.items()}, list(first)
    while True:
        seen = {kind for name in names for kind in kinds[name]}
        most = max(kinds, key=lambda name: len(kinds[name] - seen))
        if len(kinds[most] - seen) < worth:
            return names
        names.append(most)


def kinds_of(html: str) -> set[Kind]:
    """Return the kinds of elements of a page."""
    reader = Kinds()
    reader.feed(html)
    return reader.found


class Kinds(HTMLParser):
    """Collects the kinds of elements of a page: tag with role and type, and tag with each class."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[Kind] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the kinds of an element."""
        given = dict(attrs)
        self.found.add((tag, given.get("role"), given.get("type")))
        self.found.update((tag, one) for one in (given.get("class") or "").split())
