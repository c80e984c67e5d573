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

  // Co-players are offered for the worlds that they play.
  const offer = () => {
    const world = document.getElementById("id_world");
    if (!world) return;
    for (const option of document.querySelectorAll("#id_coplayer option[data-worlds]")) {
      option.hidden = !option.selected && !option.dataset.worlds.split(" ").includes(world.value);
      option.disabled = option.hidden;
    }
  };

  const start = () => {
    offer();
    document.getElementById("id_world")?.addEventListener("change", offer);
    for (const part of PARTS) document.getElementById(`id_${part}`)?.addEventListener("change", show);
    show();
    const button = document.querySelector(".show-settings");
    if (button) button.closest(".form-row").remove();
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
