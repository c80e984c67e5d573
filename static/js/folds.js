/* Open the folds around the part of the page that the address names, also when a link on the page leads there. */
"use strict";

(() => {
  function show() {
    const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!part) return;
    for (let fold = part.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    part.scrollIntoView();
  }

  window.addEventListener("hashchange", show);
  document.addEventListener("click", (event) => {
    if (event.target.closest("a[href]")?.getAttribute("href") === location.hash) show(); // the address stays as it is
  });
  show();
})();
