"""What axe does not ask of a page: targets of a finger's size, text that can be read, nothing lost when it is zoomed
or spaced."""

from __future__ import annotations

from playwright.async_api import Page

TARGET, TEXT, ZOOMED = 44, 12, 320
"""CSS pixels: a target's least height and width, the least size of text, a page of 1280 px at 400 %."""
SEEN = """one => one.checkVisibility({visibilityProperty: true}) && !one.closest(".visually-hidden, .skip-link")"""
SMALL = (
    """([target, text]) => {
    const seen = %s, told = [], name = one => `<${one.localName} ${one.className.baseVal ?? one.className}> `
        + (one.textContent || one.name || one.id).trim().slice(0, 40);
    const within = one => [...one.parentNode.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    for (const one of document.querySelectorAll("a[href], button, summary, select, textarea, input:not([type=hidden])")) {
        if (!seen(one) || one.localName === "a" && within(one)) continue;  // in a sentence: as high as its line
        const boxes = [one, ...one.labels ?? []].map(each => each.getBoundingClientRect());
        const [width, height] = ["width", "height"].map(side => Math.max(...boxes.map(box => box[side])));
        const least = one.closest(".marks") ? [24, target] : [target, target];  // a line of many marks
        if (width < least[0] - 0.5 || height < least[1] - 0.5) told.push(`${name(one)}: ${width.toFixed()} x ${height.toFixed()}`);
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; node = walker.nextNode();) {
        const one = node.parentElement;
        if (!node.data.trim() || !seen(one) || one.closest("script, style, noscript, symbol")) continue;
        const size = parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM?.().a ?? 1);
        if (size < text - 0.1) told.push(`${name(one)}: text of ${size.toFixed(1)}`);
    }
    return [...new Set(told)];
}"""
    % SEEN
)
LOST = (
    """() => {
    const seen = %s, told = [];
    if (document.documentElement.scrollWidth > innerWidth) told.push(`${document.documentElement.scrollWidth} px wide`);
    for (const one of document.querySelectorAll("main *, header *, footer *, dialog[open] *")) {
        if (one.closest("svg") || !seen(one) || !one.textContent.trim()) continue;
        const {overflowX, overflowY, display} = getComputedStyle(one);
        if (display.startsWith("inline")) continue;
        const hides = [[overflowX, one.scrollWidth - one.clientWidth], [overflowY, one.scrollHeight - one.clientHeight]];
        if (hides.some(([how, more]) => ["hidden", "clip"].includes(how) && more > 1)) {
            told.push(`<${one.localName} ${one.className}> is cut`);
        }
    }
    const stays = one => seen(one) && /fixed|sticky/.test(getComputedStyle(one).position) && !one.closest("dialog");
    const held = [...document.querySelectorAll("body *")].filter(stays).reduce((sum, one) => sum + one.offsetHeight, 0);
    if (held > innerHeight * 2 / 3) told.push(`${held} of ${innerHeight} px do not scroll`);
    return told;
}"""
    % SEEN
)
OBSCURED = (
    """() => {
    const seen = %s, before = document.activeElement, told = [], top = document.querySelector("dialog[open]") || document;
    for (const one of top.querySelectorAll("a[href], button, summary, select, textarea, input, [tabindex='0']")) {
        if (!seen(one) || one.disabled || one.tabIndex < 0) continue;
        one.focus();
        const {left, top, width, height} = one.getBoundingClientRect();
        const shows = [.1, .5, .9].some(x => [.1, .5, .9].some(y => {
            const there = document.elementFromPoint(left + x * width, top + y * height);
            return there && (one.contains(there) || there.contains(one) && there.closest("label") === one.closest("label"));
        }));
        if (!shows) told.push(`<${one.localName}> ${one.textContent.trim().slice(0, 40)} is behind something`);
    }
    before?.focus();
    return told;
}"""
    % SEEN
)
SPACED = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: .12em !important;
        word-spacing: .16em !important } p { margin-bottom: 2em !important }`);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""
"""Text spacing as WCAG 1.4.12 has it."""


async def misfits(page: Page, name: str) -> list[str]:
    """What is too small on the page as it is shown now, or lost where it is narrow or spaced; a line for each."""
    found = []
    for width in (1440, 360):
        await page.set_viewport_size({"width": width, "height": 900})
        told = await page.evaluate(SMALL, [TARGET, TEXT])
        found += [f"{name} at {width} px: {one}" for one in told]
    await page.set_viewport_size({"width": ZOOMED, "height": 256})
    found += [f"{name}, zoomed: {one}" for one in await page.evaluate(LOST)]
    await page.set_viewport_size({"width": 360, "height": 900})
    found += [f"{name}, focused: {one}" for one in await page.evaluate(OBSCURED)]
    await page.evaluate(SPACED)
    return found + [f"{name}, spaced: {one}" for one in await page.evaluate(LOST)]
