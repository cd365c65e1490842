"use strict";
// The pages work without this: it shows errors early, counts down, filters long lists, and notices what happens elsewhere.

const body = document.body;
const form = document.querySelector("form[data-form]");
const touched = new Set();
let isLeaving = false;
let isPressed = false;
let found = {};

function showErrors(control, errors) {
  const box = document.getElementById(control + "-errors");
  const field = document.querySelector(`[data-control="${control}"]`);
  if (!box || !field) return;
  box.replaceChildren(...errors.map((error) => {
    const line = document.createElement("p");
    line.textContent = error;
    return line;
  }));
  const target = document.getElementById(control) || field;
  if (errors.length) target.setAttribute("aria-invalid", "true");
  else target.removeAttribute("aria-invalid");
}

function showFound() {
  if (!isLeaving) for (const control of touched) showErrors(control, found[control] || []);
}

// What is about to be clicked must not move away.
addEventListener("pointerdown", () => { isPressed = true; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, () => setTimeout(() => { isPressed = false; showFound(); }, 200), true);
}

async function check() {
  const sent = new URLSearchParams(new FormData(form));
  sent.set("action", "check");
  try {
    const reply = await fetch(form.getAttribute("action"), { method: "POST", body: sent, headers: { Accept: "application/json" } });
    if (!reply.ok) return;
    found = await reply.json();
    if (!isPressed) showFound();
  } catch {
    // It is checked again when it is sent.
  }
}

function filterOf(list, options, label) {
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = "Filter…";
  box.setAttribute("aria-label", `Filter the options of ${label}`);
  box.addEventListener("input", () => {
    const wanted = box.value.toLocaleLowerCase();
    for (const option of options) {
      const isChosen = option.selected || (option.querySelector("input") || {}).checked;
      option.hidden = !isChosen && !option.textContent.toLocaleLowerCase().includes(wanted);
    }
  });
  list.before(box);
}

if (form) {
  form.addEventListener("change", (event) => {
    const field = event.target.closest("[data-control]");
    if (!field) return;
    touched.add(field.dataset.control);
    check();
  });
  for (const list of document.querySelectorAll("[data-filter]")) {
    const field = list.closest("[data-control]");
    const label = field.querySelector("legend bdi, label bdi").textContent;
    filterOf(list, list.tagName === "SELECT" ? list.options : list.children, label);
  }
}

const summary = document.getElementById("summary");
if (summary) summary.focus();

for (const each of document.forms) each.addEventListener("submit", () => { isLeaving = true; });

// A page by itself is left by being closed; if it was only loaded again, it is back in time.
if ("alone" in body.dataset && body.dataset.entry) {
  addEventListener("pagehide", () => { if (!isLeaving) navigator.sendBeacon("left"); });
}

if (body.dataset.expires) {
  const end = Date.parse(body.dataset.expires);
  const shown = document.querySelector("[data-countdown]");
  const count = () => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    if (shown) {
      shown.hidden = false;
      shown.textContent = `, ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} from now`;
    }
    if (left > 0) setTimeout(count, 1000);
    else if (!isLeaving) setTimeout(() => location.replace(location.href), 1500);
  };
  count();
}

if (body.dataset.entry || "list" in body.dataset) {
  const seen = new Set(Array.from(document.querySelectorAll(".entries a"), (link) => link.getAttribute("href")));
  const events = new EventSource("events");
  events.addEventListener("entry", (event) => {
    const entry = JSON.parse(event.data);
    const isOurs = entry.id === body.dataset.entry;
    const isWaiting = entry.state === "waiting";
    const isNews = isWaiting ? body.dataset.list === "all" && !seen.has(entry.id) : seen.has(entry.id);
    if (isLeaving || !((isOurs && entry.state !== "waiting") || isNews)) return;
    events.close();
    location.replace(location.href);
  });
}
