/* What the scene says, in the language of the page, which brings the words along (kitchen/play/live/render_page.py). */

export const SAY = JSON.parse(document.getElementById("words").textContent);
