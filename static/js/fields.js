// Fields that come and go with what is chosen: what is typed meanwhile stays, what is
// open too, and the field in use stays where it is. It is told what there is now.
(() => {
  "use strict";

  const typed = new Map();
  let leads = "";
  let open = [];
  let used = null; // the field in use, and where it was in the window
  const fields = () => document.getElementById("fields");
  const put = (id, value) => {
    const field = document.getElementById(id);
    if (field) field[typeof value === "boolean" ? "checked" : "value"] = value;
  };

  document.addEventListener("input", ({ target }) => {
    if (!target.id || !fields()?.contains(target)) return; // some pages with this script have no such fields
    typed.set(target.id, target.type === "checkbox" ? target.checked : target.value);
  });
  const isOurs = ({ detail }) => detail.target?.id === "fields";
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!isOurs(event)) return;
    typed.clear();
    leads = event.target.dataset.leads;
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!isOurs(event)) return;
    open = [...fields().querySelectorAll("details[open]")].map(({ id }) => id);
    const changed = event.detail.requestConfig.triggeringEvent?.target;
    const field = [document.activeElement, changed].find((one) => one?.id && fields().contains(one));
    used = field && { id: field.id, top: field.getBoundingClientRect().top };
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (!isOurs(event)) return;
    typed.forEach((value, id) => put(id, value));
    for (const fold of open.map((id) => document.getElementById(id))) if (fold) fold.open = true;
    const field = used && document.getElementById(used.id); // a browser would follow the old fields to the page's end
    if (field) window.scrollBy({ top: field.getBoundingClientRect().top - used.top, behavior: "instant" });
    document.getElementById("fields-said").textContent = fields().dataset.said;
    if (document.activeElement === document.body) document.getElementById(leads)?.focus();
  });
})();
