// Shows the settings of the world and co-player that are chosen, without asking the server.
(() => {
  "use strict";

  const follow = (part) => {
    const select = document.getElementById(`id_${part}`);
    if (!select) return;
    const show = () => {
      for (const fieldset of document.querySelectorAll(`fieldset.settings-of-${part}`)) {
        fieldset.classList.toggle("not-chosen", !fieldset.classList.contains(`is-${select.value}`));
      }
    };
    select.addEventListener("change", show);
    show();
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
    follow("world");
    follow("coplayer");
    const button = document.querySelector(".show-settings");
    if (button) button.closest(".form-row").remove();
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
