/* What of the page as it is shown now is too small, lost, or behind something. Put into a page by fitting.py. */
"use strict";

window.fitting = (() => {
  const heard = (one) => getComputedStyle(one).clipPath === "inset(50%)"; // and not seen
  const seen = (one) =>
    one.checkVisibility({ visibilityProperty: true }) && !one.closest(".visually-hidden, .skip-link") && !heard(one);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)].filter(seen);
  const name = (one) => {
    const text = (one.textContent || one.name || one.id).trim().slice(0, 40);
    return `<${one.localName} ${one.className.baseVal ?? one.className}> ${text}`;
  };
  const inSentence = (one) =>
    one.localName === "a" && [...one.parentNode.childNodes].some((node) => node.nodeType === 3 && node.data.trim());

  /* targets, in a sentence as high as its line, and in a line of many marks as narrow as WCAG allows */
  function targets(least) {
    const found = all("a[href], button, summary, select, textarea, input:not([type=hidden])");
    return found.filter((one) => !inSentence(one)).flatMap((one) => {
      const boxes = [one, ...(one.labels ?? [])].map((each) => each.getBoundingClientRect());
      const [width, height] = ["width", "height"].map((side) => Math.max(...boxes.map((box) => box[side])));
      const fits = width > (one.closest(".marks") ? 24 : least) - 0.5 && height > least - 0.5;
      return fits ? [] : [`${name(one)}: ${width.toFixed()} x ${height.toFixed()}`];
    });
  }

  function texts(least) {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const told = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const one = node.parentElement;
      if (!node.data.trim() || !seen(one) || one.closest("script, style, noscript, symbol")) continue;
      const size = parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM?.().a ?? 1);
      if (size < least - 0.1) told.push(`${name(one)}: text of ${size.toFixed(1)}`);
    }
    return told;
  }

  /* what reaches out of the page, is cut, or is covered by what does not scroll */
  function lost() {
    const { scrollWidth } = document.documentElement;
    const told = scrollWidth > innerWidth ? [`${scrollWidth} px wide`] : [];
    told.push(...all("main *, header *, footer *").filter(cut).map((one) => `${name(one)} is cut`));
    const stays = (one) => /fixed|sticky/.test(getComputedStyle(one).position) && !one.closest("dialog");
    const held = all("body *").filter(stays).reduce((sum, one) => sum + one.offsetHeight, 0);
    return held > (innerHeight * 2) / 3 ? [...told, `${held} of ${innerHeight} px do not scroll`] : told;
  }

  function cut(one) {
    const { overflowX, overflowY, display } = getComputedStyle(one);
    if (one.closest("svg") || display.startsWith("inline") || !one.textContent.trim()) return false;
    const ways = [[overflowX, one.scrollWidth - one.clientWidth], [overflowY, one.scrollHeight - one.clientHeight]];
    return ways.some(([how, more]) => ["hidden", "clip"].includes(how) && more > 1);
  }

  /* what is wholly behind something while it has the focus */
  function obscured() {
    const before = document.activeElement;
    const root = document.querySelector("dialog[open]") || document;
    const found = all("a[href], button, summary, select, textarea, input, [tabindex='0']", root);
    const told = found.filter((one) => !one.disabled && one.tabIndex >= 0 && behind(one));
    before?.focus();
    return told.map((one) => `${name(one)} is behind something`);
  }

  function behind(one) {
    one.focus();
    const { left, top, width, height } = one.getBoundingClientRect();
    const shows = (x, y) => {
      const there = document.elementFromPoint(left + x * width, top + y * height);
      return there && (one.contains(there) || there.closest("label")?.control === one);
    };
    const parts = [0.1, 0.5, 0.9];
    return !parts.some((x) => parts.some((y) => shows(x, y)));
  }

  /* text spacing as WCAG 1.4.12 has it */
  function space() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
      word-spacing: 0.16em !important } p { margin-bottom: 2em !important }`);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }

  return { small: (target, text) => [...new Set([...targets(target), ...texts(text)])], lost, obscured, space };
})();
