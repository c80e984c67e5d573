// Shows the settings of the world and co-player that are chosen, without asking the server.
(() => {
  "use strict";

  const PARTS = ["world", "coplayer"];

  const isOfAnother = (fieldset, part) => {
    const select = document.getElementById(`id_${part}`);
    const { classList } = fieldset;
    return select && classList.contains(`settings-of-${part}`) && !classList.contains(`is-${select.value}`);
  };

  const show = () => {
    for (const fieldset of document.querySelectorAll("fieldset.settings-of")) {
      fieldset.classList.toggle("not-chosen", PARTS.some((part) => isOfAnother(fieldset, part)));
    }
  };

  const start = () => {
    for (const part of PARTS) document.getElementById(`id_${part}`)?.addEventListener("change", show);
    show();
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
