"use strict";
// Optional: shows errors early, counts down, filters long lists and notices changes by other clients.

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
  const inputs = [...field.querySelectorAll("[aria-invalid], #" + control + ", select, input[type=checkbox]")];
  const targets = field.getAttribute("role") === "radiogroup" ? [field] : inputs;
  for (const target of targets) {
    if (errors.length) target.setAttribute("aria-invalid", "true");
    else target.removeAttribute("aria-invalid");
  }
}

// A browser does not send what it cannot read in its own control.  That must not count as "not provided".
function unreadable() {
  return [...form.elements].filter((input) => input.validity && input.validity.badInput);
}

function showFound() {
  if (!isLeaving) for (const control of touched) showErrors(control, errorsOf(control));
}

// Nothing moves while the user presses a button.
addEventListener("pointerdown", () => { isPressed = true; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, () => setTimeout(() => { isPressed = false; showFound(); }, 200), true);
}

function errorsOf(control) {
  const bad = unreadable().some((input) => input.id === control);
  return bad ? [body.dataset.incomplete] : found[control] || [];
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
    // The values are checked again when they are sent.
  }
}

// Return the offset of this computer's time zone at a time, as in the list of time zones.
function offsetAt(text) {
  const then = new Date(text.includes("T") ? text : `${new Date().toISOString().slice(0, 10)}T${text}`);
  const minutes = -then.getTimezoneOffset();
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  return minutes ? `${minutes < 0 ? "-" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}` : "Z";
}

function filterOf(list, options, label) {
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = list.dataset.filterLabel;
  box.setAttribute("aria-label", `${list.dataset.filterLabel}: ${label}`);
  box.addEventListener("input", () => {
    const wanted = box.value.toLocaleLowerCase();
    let shown = 0;
    for (const option of options) {
      const isChosen = option.selected || (option.querySelector("input") || {}).checked;
      option.hidden = !isChosen && !option.textContent.toLocaleLowerCase().includes(wanted);
      shown += option.hidden ? 0 : 1;
    }
    status.textContent = list.dataset.filter.replace("{shown}", shown);
  });
  // Enter filters the options; it does not send the form.
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  const status = document.createElement("p");
  status.className = "hint";
  status.setAttribute("role", "status");
  if (list.tagName === "SELECT") list.size = Math.min(options.length, 8);
  list.before(box, status);
}

if (form) {
  form.addEventListener("change", (event) => {
    const field = event.target.closest("[data-control]");
    if (!field) return;
    touched.add(field.dataset.control);
    check();
  });
  form.addEventListener("submit", (event) => {
    const bad = unreadable();
    if (!bad.length || (event.submitter && event.submitter.value !== "review")) return;
    event.preventDefault();
    for (const input of bad) {
      touched.add(input.id);
      showErrors(input.id, errorsOf(input.id));
    }
    bad[0].focus();
  });
  for (const zone of document.querySelectorAll("[data-zone]")) {
    const moment = document.getElementById(zone.dataset.zone);
    let isOurs = !zone.value;
    zone.addEventListener("change", () => { isOurs = false; });
    moment.addEventListener("change", () => {
      if (isOurs) zone.value = moment.value ? offsetAt(moment.value) : "";
    });
  }
  for (const group of document.querySelectorAll("fieldset[data-control]")) {
    const boxes = [...group.querySelectorAll("input[type=checkbox]")];
    if (!boxes.length) continue;
    const status = document.createElement("p");
    status.className = "hint";
    status.setAttribute("role", "status");
    const count = () => {
      status.textContent = group.dataset.selected.replace("{count}", boxes.filter((box) => box.checked).length);
    };
    group.append(status);
    group.addEventListener("change", count);
    count();
  }
  for (const list of document.querySelectorAll("[data-filter]")) {
    const field = list.closest("[data-control]");
    const label = field.querySelector(".label").textContent;
    filterOf(list, list.tagName === "SELECT" ? list.options : list.children, label);
  }
}

const summary = document.getElementById("summary");
if (summary) summary.focus();

// Ignore a second click that was meant for the previous page.
setTimeout(() => { body.dataset.awake = ""; }, 500);
for (const each of document.forms) {
  each.addEventListener("submit", (event) => {
    const isYes = event.submitter && ["accept", "open"].includes(event.submitter.value);
    if (isYes && !("awake" in body.dataset)) event.preventDefault();
    if (!event.defaultPrevented) isLeaving = true;
  });
}

// Closing the page of a single request cancels it, unless the page is loaded again soon.
if ("alone" in body.dataset && body.dataset.entry) {
  addEventListener("pagehide", () => { if (!isLeaving) navigator.sendBeacon("left"); });
}

if (body.dataset.expires) {
  const end = Date.parse(body.dataset.expires);
  const shown = document.querySelector("[data-countdown]");
  const count = () => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (shown) shown.textContent = body.dataset.expiresText.replace("{time}", time);
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
    const isWaiting = entry.state === "pending";
    const isNews = isWaiting ? body.dataset.list === "all" && !seen.has(entry.id) : seen.has(entry.id);
    if (isLeaving || !((isOurs && entry.state !== "pending") || isNews)) return;
    events.close();
    location.replace(location.href);
  });
}
