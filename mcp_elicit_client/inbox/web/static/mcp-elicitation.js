// The script of the pages, and the element <mcp-elicitation>, which shows a request inside another page.
//
//     <script type="module" src="https://inbox.example/static/mcp-elicitation.js"></script>
//     <mcp-elicitation request="ID"></mcp-elicitation>
//
// The pages work without it.  With it, they keep drafts, show errors early, count down, search in long lists, and
// notice changes by other clients.
(() => {
"use strict";

const OWN = document.currentScript ? document.currentScript.src : urlOfModule();
const AWAKE_AFTER = 500;
const SENT_AFTER = 3000;
const LOST_AFTER = 20000;
const SAVE_AFTER = 600;
const WARN_BEFORE = 60;
const RETRY_AFTER = 2000;
const RETRY_SIGNED_OUT_AFTER = 20000;
const HIDDEN_AFTER = 3000;
const MAX_SHOWN = 50;
const FRAME_MARGIN = 24;
const MINUTE = 60000;
const DAY = 86400000;

function urlOfModule() {
  const scripts = [...document.querySelectorAll("script[src]")].map((each) => each.src);
  return scripts.find((each) => /\/static\/mcp-elicitation\.js(\?|$)/.test(each)) || location.href;
}

// Hosts refuse users who are not signed in, or redirect them to a page for the sign-in, perhaps of another origin.
const isSignedOut = (reply) => [401, 403].includes(reply.status) || reply.redirected || reply.type === "opaqueredirect";
// The inbox, or a proxy before it, may answer again soon.
const isFailing = (reply) => reply.status >= 500 || [408, 429].includes(reply.status);
// Return the reply of the inbox about a request, without its content.  Some proxies refuse HEAD.
const probe = async (path, request) => {
  const reply = await request(path, { method: "HEAD" });
  return reply.ok ? reply : request(path, { accept: "application/json" });
};
const twoDigits = (number) => String(Math.floor(number)).padStart(2, "0");
// Return seconds as a clock counts them down: 3:58, and 1:59:50 from one hour on.
const timeLeft = (left) => {
  const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, twoDigits(left % 60)];
  return hours ? `${hours}:${twoDigits(minutes)}:${seconds}` : `${minutes}:${seconds}`;
};
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

// ---------------------------------------------------------------------------------------------------------------
// A card: the content of a page, or of the element.

class Card {
  // host: how the card reaches the server and shows another page: `request`, `show`, `reload`, `isPage`; and where
  // the focus was: `takesFocus`, and `focused`, the link in a list.
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.data = root.dataset;
    this.form = root.querySelector("form[data-form]");
    const lang = root.lang || document.documentElement.lang || "en";
    // The user's variant of the language, such as British English, says how times are written.
    this.lang = navigator.languages.find((each) => each.startsWith(`${lang}-`)) || lang;
    this.touched = new Set();
    this.found = {};
    this.heard = {};
    this.isLeaving = false;
    this.isPressed = false;
    this.isDirty = false;
    this.isUnsaved = false;
    // The clock of this computer may differ from that of the server.
    this.ahead = this.data.now ? Date.now() - Date.parse(this.data.now) : 0;
    this.ending = new AbortController();
    const { signal } = this.ending;
    this.listenTo = (target, type, handler, options = {}) => target.addEventListener(type, handler, { ...options, signal });
    this.showTimes();
    if (this.form) this.enhanceForm();
    this.guardForms();
    this.followLinks();
    this.countDown();
    this.noticeChanges();
    // What scrolls can be scrolled with the keyboard.
    for (const each of root.querySelectorAll(".message, .excerpt, .warnings, .notice blockquote")) if (each.scrollHeight > each.clientHeight) each.tabIndex = 0;
    const summary = root.querySelector("#summary");
    const link = host.focused && [...root.querySelectorAll(".entries a")].find((each) => each.getAttribute("href") === host.focused);
    if (summary) summary.focus();
    else if (link) link.focus({ preventScroll: true });
    else if (host.takesFocus) {
      const heading = root.querySelector("h1");
      if (heading) { heading.tabIndex = -1; heading.focus(); }
    }
  }

  end() {
    if (this.isUnsaved && !this.isLeaving) this.post({ action: "check" });
    this.ending.abort();
    this.attempt = null;
    this.isLeaving = true;
  }

  // Show what has become of the request.  Nothing that was entered can be sent any more, so nothing is asked.
  async reload() {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.isLeaving = await this.host.reload() !== false;
  }

  find(id) { return this.root.querySelector(`[id="${id}"]`); }

  after(milliseconds, action) {
    return setTimeout(() => { if (!this.ending.signal.aborted) action(); }, milliseconds);
  }

  // Return the milliseconds since a time of the server; negative until then.
  since(time) { return Date.now() - this.ahead - Date.parse(time); }

  say(text) {
    const live = this.root.querySelector("[data-live]");
    if (live && text) live.textContent = text;
  }

  // --- Times in the user's time zone

  showTimes() {
    const moment = new Intl.DateTimeFormat(this.lang, { dateStyle: "medium", timeStyle: "short" });
    for (const each of this.root.querySelectorAll("time[data-moment]")) each.textContent = moment.format(new Date(each.dateTime));
    for (const each of this.root.querySelectorAll("[data-restored]")) {
      each.textContent = each.dataset.restored.replace("{time}", this.clock(new Date(each.dataset.at)));
    }
    const ages = [...this.root.querySelectorAll("time[data-age]")];
    const lefts = [...this.root.querySelectorAll("[data-left]")];
    if (!ages.length) return;
    const relative = new Intl.RelativeTimeFormat(this.lang, { numeric: "auto", style: "short" });
    let isEnding = false;
    const tick = () => {
      for (const each of ages) {
        const seconds = Math.max(0, this.since(each.dateTime) / 1000);
        const [unit, size] = seconds < 60 ? ["second", 1] : seconds < 3600 ? ["minute", 60] : seconds < 86400 ? ["hour", 3600] : ["day", 86400];
        each.textContent = relative.format(unit === "second" ? 0 : -Math.floor(seconds / size), unit);
        each.title = moment.format(new Date(each.dateTime));
      }
      for (const each of lefts) {
        const left = Math.max(0, Math.round(-this.since(each.dataset.left) / 1000));
        each.textContent = this.data.expiresText.replace("{time}", timeLeft(left));
        if (!left && !isEnding) {
          isEnding = true;
          this.after(1500, async () => { await this.reload(); isEnding = false; });
        }
      }
      this.after(1000, tick);
    };
    tick();
  }

  clock(time) { return new Intl.DateTimeFormat(this.lang, { timeStyle: "short" }).format(time); }

  countDown() {
    if (!this.data.expires) return;
    const shown = this.root.querySelector("[data-countdown]");
    let end = this.data.expires;
    let isWarned = false;
    const more = this.root.querySelector("button[value=extend]");
    if (more) {
      // Beside the time; not a button that Enter presses.
      more.type = "button";
      shown.after(more);
      this.listenTo(more, "click", async () => {
        const reply = await this.post({ action: "extend" });
        if (!reply || !reply.ok) return;
        const times = await reply.json();
        end = times.expires_at;
        isWarned = false;
        more.hidden = !times.can_extend;
        if (more.hidden) { shown.tabIndex = -1; shown.focus(); }
        this.say(this.data.extendedText.replace("{time}", timeLeft(Math.round(-this.since(end) / 1000))));
      });
    }
    const tick = () => {
      const left = Math.max(0, Math.round(-this.since(end) / 1000));
      const text = this.data.expiresText.replace("{time}", timeLeft(left));
      if (shown) {
        shown.textContent = text;
        shown.classList.toggle("is-soon", left <= WARN_BEFORE);
      }
      if (left <= WARN_BEFORE && !isWarned) { isWarned = true; this.say(text); }
      if (left > 0) this.after(1000, tick);
      else this.after(1500, () => this.reload());
    };
    tick();
  }

  // --- Drafts and errors

  enhanceForm() {
    const form = this.form;
    const zone = form.elements.time_zone;
    if (zone) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
    const lists = [...form.querySelectorAll("select[data-search]")].map((select) => new SearchableList(select, this));
    this.suggestZones();
    this.countSelected();
    let timer = 0;
    const later = () => {
      this.isDirty = this.isUnsaved = true;
      clearTimeout(timer);
      timer = this.after(SAVE_AFTER, () => this.check());
    };
    this.listenTo(form, "input", (event) => { if (event.target.name) later(); });
    this.listenTo(form, "change", (event) => {
      const field = event.target.closest("[data-control]");
      if (!field || !event.target.name) return;
      this.touched.add(field.dataset.control);
      this.isDirty = this.isUnsaved = true;
      clearTimeout(timer);
      this.check();
    });
    this.listenTo(form, "focusout", () => { this.after(0, () => { if (!this.isPressed && !this.isUnsaved) this.showFound(); }); });
    // Nothing moves while the user presses a button.
    let release = 0;
    this.listenTo(window, "pointerdown", () => { clearTimeout(release); this.isPressed = true; }, { capture: true });
    const settle = () => {
      this.isPressed = false;
      this.showFound();
      for (const list of lists) list.settle();
    };
    for (const end of ["pointerup", "pointercancel"]) {
      this.listenTo(window, end, () => { release = this.after(200, settle); }, { capture: true });
    }
    this.listenTo(window, "online", () => { if (this.isUnsaved) this.check(); });
    this.listenTo(window, "pagehide", () => {
      if (this.isUnsaved && !this.isLeaving) this.post({ action: "check" }, { keepalive: true });
    });
    this.listenTo(window, "beforeunload", (event) => {
      const isLost = "alone" in this.data ? this.isDirty : this.isUnsaved;
      if (isLost && !this.isLeaving) event.preventDefault();
    });
  }

  // Return what a form sends with *values*.  If that is too long, say so, and return null, or only what refuses or
  // extends the request.
  encode(form, values) {
    const sent = new URLSearchParams(form ? [...new FormData(form)].map(([name, value]) => [name, String(value)]) : []);
    for (const [name, value] of Object.entries(values)) sent.set(name, value);
    if (!(String(sent).length > Number(this.data.maxBody))) return sent;
    this.showProblem(this.data.tooLongText);
    return ["extend", "decline", "cancel", "block"].includes(values.action) ? new URLSearchParams(values) : null;
  }

  // Send the form, or only an action; return the reply, or null if it was not sent.
  async post(values, options = {}) {
    const form = this.form || this.root.querySelector("form");
    const sent = this.encode(this.form, values);
    if (!sent) return null;
    try {
      const reply = await this.host.request(form.getAttribute("action"), { method: "POST", body: sent, accept: "application/json", ...options });
      if (reply.status === 403 && await this.canReach(form)) return null;  // refused, but not for want of a sign-in
      return this.isAnswered(reply) ? reply : null;
    } catch {
      if (!this.ending.signal.aborted) this.showConnection(false);
      return null;
    }
  }

  // Return true if *reply* is one of the inbox to this user.  If not, say why.
  isAnswered(reply) {
    const isGone = reply.status === 404;  // or it belongs to another user, who has signed in meanwhile
    if (isSignedOut(reply)) this.showProblem(this.data.signedOutText);
    else if (isGone) this.showProblem(this.data.goneText);
    else this.showConnection(!isFailing(reply));
    return !isSignedOut(reply) && !isGone && !isFailing(reply);
  }

  showConnection(isThere) {
    const status = this.root.querySelector("[data-saved]");
    if (!status || status.classList.contains("is-lost") === !isThere) return;
    if (isThere) {
      status.classList.remove("is-lost");
      status.textContent = "";
    } else {
      this.showProblem(this.data.lostText);
      if (this.form) this.after(RETRY_AFTER, () => { if (this.isUnsaved) this.check(); });
    }
  }

  showProblem(text) {
    const status = this.root.querySelector("[data-saved]");
    if (!status || status.textContent === text) return;
    status.classList.add("is-lost");
    status.textContent = text;
    this.say(text);
  }

  // Keep what was entered as a draft, and learn what is wrong with it.  Return true if the server was reached.
  async check() {
    this.isUnsaved = true;
    const before = JSON.stringify([...new FormData(this.form)]);
    const reply = await this.post({ action: "check" });
    if (!reply) return false;
    if (reply.status === 409) { this.reload(); return false; }
    if (!reply.ok) return true;
    this.found = await reply.json();
    if (this.ending.signal.aborted) return true;
    if (JSON.stringify([...new FormData(this.form)]) === before) {
      this.isUnsaved = false;
      const status = this.root.querySelector("[data-saved]");
      if (status && this.isDirty) status.textContent = this.data.savedText.replace("{time}", this.clock(new Date()));
    }
    if (!this.isPressed) this.showFound();
    return true;
  }

  // A browser does not send what it cannot read in its own control.  That must not count as "not provided".
  unreadable() { return [...this.form.elements].filter((input) => input.validity && input.validity.badInput); }

  errorsOf(control) {
    return this.unreadable().some((input) => input.id === control) ? [this.data.incomplete] : this.found[control] || [];
  }

  showFound() {
    if (this.isLeaving) return;
    const heard = [];
    for (const control of this.touched) {
      const errors = this.errorsOf(control);
      if (errors.length && this.isBeingFilled(control)) continue;
      this.showErrors(control, errors);
      const text = errors.join(" ");
      if (text && text !== this.heard[control]) {
        const label = this.root.querySelector(`[data-control="${control}"] .label`);
        heard.push(`${label ? label.textContent : ""}: ${text}`);
      }
      this.heard[control] = text;
    }
    this.say(heard.join(" "));
  }

  // A field has no new error before the user leaves it, such as one for the second of two options.
  isBeingFilled(control) {
    const field = this.root.querySelector(`[data-control="${control}"]`);
    return field.matches(":focus-within") && !field.querySelector(".errors p");
  }

  showErrors(control, errors) {
    const box = this.find(`${control}-errors`);
    const field = this.root.querySelector(`[data-control="${control}"]`);
    if (!box || !field) return;
    box.replaceChildren(...errors.map((error) => element("p", { textContent: error })));
    const inputs = field.querySelectorAll("input[name], select[name], textarea, [role=combobox]");
    for (const target of field.getAttribute("role") === "radiogroup" ? [field] : inputs) {
      if (errors.length) target.setAttribute("aria-invalid", "true");
      else target.removeAttribute("aria-invalid");
    }
  }

  suggestZones() {
    for (const zone of this.form.querySelectorAll("[data-zone]")) {
      const moment = this.find(zone.dataset.zone);
      let isOurs = !zone.value || zone.value === offsetAt(moment.value);
      this.listenTo(zone, "change", () => { isOurs = false; });
      this.listenTo(moment, "change", () => { if (isOurs) zone.value = moment.value ? offsetAt(moment.value) : ""; });
    }
  }

  countSelected() {
    for (const group of this.form.querySelectorAll("fieldset[data-control]")) {
      const boxes = [...group.querySelectorAll("input[type=checkbox]")];
      if (!boxes.length) continue;
      const status = element("p", { className: "hint" });
      const count = () => { status.textContent = group.dataset.selected.replace("{count}", boxes.filter((box) => box.checked).length); };
      group.append(status);
      this.listenTo(group, "change", count);
      count();
    }
  }

  // --- Steps

  guardForms() {
    // Ignore a second click that was meant for the previous page.
    this.after(AWAKE_AFTER, () => { this.data.awake = ""; if (this.host.isPage) document.body.dataset.awake = ""; });
    for (const form of this.root.querySelectorAll("form")) {
      this.listenTo(form, "submit", (event) => this.submit(event, form));
      this.listenTo(window, "online", () => { if (form !== this.form) this.canReach(form); });
    }
  }

  async submit(event, form) {
    const button = event.submitter;
    const action = button ? button.value : "";
    if (this.isSending) { this.isSending = false; this.isLeaving = true; return; }
    event.preventDefault();
    if ((["accept", "open", "confirm"].includes(action) || "confirm" in this.data) && !("awake" in this.data)) return;
    if (!this.read(form, button)) return;
    // Ignore a second click on a button: its answer would be late.
    if (button && this.sending === button) return;
    this.showSending(button);
    const attempt = this.attempt = {};
    // The form is left only if the server answers this user: nothing that was entered is lost.
    const isReached = await this.canReach(form);
    if (attempt !== this.attempt) return;  // The user has meanwhile clicked on something else.
    const sent = isReached && this.read(form, button);  // with what was entered meanwhile
    if (!sent) { this.showSending(null); return; }
    if (!this.host.isPage) {
      this.isLeaving = true;
      const isShown = this.host.show(form.getAttribute("action"), { method: "POST", body: sent, signal: this.patience() });
      this.hold(form);
      if (!await isShown) {
        this.isLeaving = false;
        this.showSending(null);
        this.showConnection(false);
      }
      return;
    }
    // Nothing says that the user has stopped the browser, which stays on this page then.
    this.after(SENT_AFTER, () => {
      if (attempt !== this.attempt) return;
      this.isLeaving = false;
      this.showSending(null);
    });
    const filled = new FormData(form);
    for (const each of form.elements) if (filled.has(each.name) && !sent.has(each.name)) each.disabled = true;
    this.isSending = true;
    form.requestSubmit(button);
    this.hold(form);
  }

  // Return what a button sends.  If it cannot be sent, say why, and return null.
  read(form, button) {
    const action = button ? button.value : "";
    const bad = this.form && action === "review" ? this.unreadable() : [];
    for (const input of bad) {
      this.touched.add(input.id);
      this.showErrors(input.id, this.errorsOf(input.id));
    }
    if (bad.length) bad[0].focus();
    return bad.length ? null : this.encode(form, button && button.name ? { [button.name]: action } : {});
  }

  // Take nothing more while a form is on its way: it would be lost.
  hold(form) {
    this.held = form.getRootNode().activeElement;
    form.inert = true;
  }

  // Show which button was clicked while its answer is awaited; null for none.
  showSending(button) {
    const form = this.sending?.form;
    if (form?.inert) {
      form.inert = false;
      this.held?.focus();
    }
    this.sending?.removeAttribute("aria-busy");
    this.sending = button;
    this.sending?.setAttribute("aria-busy", "true");
  }

  // Return a signal that ends a request to which the server does not reply.
  patience() {
    const patience = new AbortController();
    this.after(LOST_AFTER, () => patience.abort());
    return patience.signal;
  }

  async canReach(form) {
    const isSilent = !this.root.querySelector("[data-saved]");  // a page that cannot say why, and has buttons only
    const signal = this.patience();
    const request = (path, options) => this.host.request(path, { ...options, signal });
    try {
      return this.isAnswered(await probe(form.getAttribute("action"), request)) || isSilent;
    } catch {
      this.showConnection(false);
      return isSilent;
    }
  }

  followLinks() {
    this.listenTo(this.root, "click", (event) => {
      const link = event.target.closest("a[href]");
      if (!link || link.target || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const href = link.getAttribute("href");
      if (href.startsWith("#")) {
        const target = this.find(`${href.slice(1)}-search`) || this.find(href.slice(1));
        if (target) { event.preventDefault(); target.focus(); target.scrollIntoView({ block: "center" }); }
        return;
      }
      this.attempt = null;
      this.showSending(null);
      if (!this.host.isPage) {
        event.preventDefault();
        this.saveAndShow(href);
      } else if (this.isUnsaved) {
        event.preventDefault();
        this.saveAndLeave(link.href);
      } else {
        this.isLeaving = true;
      }
    });
    // Closing the page of a single request cancels it, unless the page is loaded again soon.
    if ("alone" in this.data && this.data.expires && this.host.isPage) {
      this.listenTo(window, "pagehide", () => { if (!this.isLeaving) navigator.sendBeacon("left"); });
    }
  }

  // Browsers send at most 64 KiB after a page was left, so the draft is kept first.  If that fails, they ask.
  async saveAndLeave(url) {
    await this.check();
    this.isLeaving ||= !this.isUnsaved;
    location.assign(url);
  }

  // What cannot be kept as a draft stays.
  async saveAndShow(path) {
    if (!this.isUnsaved || await this.check()) this.host.show(path);
  }

  // --- Changes by other clients

  // No event tells what was closed while the page was not connected.
  async catchUp(seen) {
    // A page that was not changed saves nothing: another tab may have saved a later draft.
    if (this.form && (this.isUnsaved || "alone" in this.data)) { await this.check(); return; }
    if (this.data.list === "part" || "alone" in this.data) return;
    const reply = await this.host.request(this.data.entry || "./", { accept: "application/json", signal: this.ending.signal });
    if (!this.isAnswered(reply) || !reply.ok) return;
    const { entries, state } = await reply.json();
    const isSame = entries ? String(entries.map((entry) => entry.id)) === String([...seen]) : state === "pending";
    if (!isSame) this.reload();
  }

  async noticeChanges() {
    if (!this.data.expires && !this.data.list) return;
    const seen = new Set(Array.from(this.root.querySelectorAll(".entries a"), (link) => link.getAttribute("href")));
    const onEntry = (entry) => {
      const isOurs = entry.id === this.data.entry;
      const isPending = entry.state === "pending";
      const isNews = isPending ? this.data.list === "all" && !seen.has(entry.id) : seen.has(entry.id);
      if ((isOurs && !isPending) || isNews) this.reload();
    };
    // Browsers have six connections to a server for all tabs, so a hidden page ends its stream after some time.  But a
    // list shows in its title what is new, and the server of a page with a single request notices by the connection
    // whether it is open.
    const maySleep = !this.data.list && !("alone" in this.data);
    const isHidden = () => document.visibilityState === "hidden";
    let isCurrent = true;
    let stream = new AbortController();
    this.ending.signal.addEventListener("abort", () => stream.abort());
    if (maySleep) {
      this.listenTo(document, "visibilitychange", () => {
        this.after(HIDDEN_AFTER, () => { if (isHidden()) stream.abort(); });
      });
    }
    while (true) {
      if (maySleep && isHidden()) {
        await new Promise((resolve) => { document.addEventListener("visibilitychange", resolve, { once: true }); });
      }
      if (this.ending.signal.aborted) return;
      stream = new AbortController();
      let pause = RETRY_AFTER;
      try {
        const reply = await this.host.request("events", { accept: "text/event-stream", signal: stream.signal });
        if (isSignedOut(reply)) pause = RETRY_SIGNED_OUT_AFTER;
        else if (reply.ok) {
          if (!isCurrent) await this.catchUp(seen);
          await readEvents(reply.body.getReader(), onEntry);
        } else if (!isFailing(reply)) return;
      } catch {
        // The connection was lost, or the page is hidden.
      }
      isCurrent = false;
      if (!stream.signal.aborted) await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  }
}

// Read server-sent events until the connection ends.
async function readEvents(reader, onEntry) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
      if (data) onEntry(JSON.parse(data));
    }
  }
}

// Return the offset of this computer's time zone at a time, as in the list of time zones; "" for an invalid time, and
// for one that the clocks skip or repeat.
function offsetAt(text) {
  const local = Date.parse(`${text.includes("T") ? text : `${new Date().toISOString().slice(0, 10)}T${text}`}Z`);
  const eastAt = (time) => -new Date(time).getTimezoneOffset();
  const before = eastAt(local - DAY);
  const after = eastAt(local + DAY);
  const possible = [...new Set([before, after])].filter((each) => eastAt(local - each * MINUTE) === each);
  if (possible.length !== 1) return "";
  const [east] = possible;
  return east ? `${east < 0 ? "-" : "+"}${twoDigits(Math.abs(east) / 60)}:${twoDigits(Math.abs(east) % 60)}` : "Z";
}

// ---------------------------------------------------------------------------------------------------------------
// Incremental search in the options of a list, which stays the control that is sent.

class SearchableList {
  constructor(select, card) {
    this.select = select;
    this.card = card;
    this.texts = select.dataset;
    this.options = [...select.options];
    this.folded = this.options.map((option) => withoutAccents(option.text));
    this.places = this.options.map((_, place) => place).filter((place) => this.options[place].value !== "");
    this.active = -1;
    this.shown = [];
    const label = select.labels[0];
    const name = label.querySelector(".label").textContent;
    this.list = element("ul", { id: `${select.id}-list`, hidden: true });
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", name);
    if (select.multiple) this.list.setAttribute("aria-multiselectable", "true");
    this.box = element("input", { id: `${select.id}-search`, type: "text", autocomplete: "off", dir: "auto" });
    const states = {
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id,
      "aria-describedby": `${select.getAttribute("aria-describedby")} ${select.id}-status`,
    };
    for (const each of ["aria-invalid", "aria-required"]) if (select.hasAttribute(each)) states[each] = select.getAttribute(each);
    for (const [key, value] of Object.entries(states)) this.box.setAttribute(key, value);
    if (select.multiple) this.box.placeholder = this.texts.searchLabel;
    // Above the list, which shows the first options only and covers what is below.
    this.status = element("p", { className: "hint", id: `${select.id}-status` });
    this.chosen = element("ul", { className: "chosen" });
    label.htmlFor = this.box.id;
    select.hidden = true;
    select.before(element("div", { className: "combo" }, this.chosen, element("div", { className: "box" }, this.box), this.status, this.list));
    const on = (type, handler) => card.listenTo(this.box, type, handler);
    on("input", () => { this.active = -1; this.open(this.box.value); });
    on("click", () => { if (this.list.hidden) this.open(""); });
    on("focus", () => this.box.select());
    on("blur", () => { this.take(); this.showText(); this.settle(); });
    on("keydown", (event) => this.press(event));
    card.listenTo(this.list, "pointerdown", (event) => event.preventDefault());  // the focus stays in the box
    card.listenTo(this.list, "click", (event) => {
      const item = event.target.closest("[role=option]");
      if (item) this.choose(this.shown[[...this.list.children].indexOf(item)]);
    });
    this.showChosen();
  }

  // Return the places of the options that begin with *wanted*, contain it, or contain its letters in this order.
  search(wanted) {
    const text = withoutAccents(wanted);
    if (!text) return this.places;
    const first = [], second = [], rest = [];
    for (const place of this.places) {
      const at = this.folded[place].indexOf(text);
      (at < 0 ? rest : at ? second : first).push(place);
    }
    first.push(...second);
    if (first.length < MAX_SHOWN) first.push(...rest.filter((place) => hasLetters(this.folded[place], text)));
    return first;
  }

  open(text) {
    const wanted = this.wanted = text.trim();
    const found = this.search(wanted);
    this.shown = found.slice(0, MAX_SHOWN);
    const items = this.shown.map((place, at) => {
      const option = this.options[place];
      const item = element("li", { id: `${this.list.id}-${at}`, dir: "auto" }, element("span", { className: "host" in option.dataset ? "" : "server", textContent: option.text }));
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(option.selected));
      return item;
    });
    this.list.replaceChildren(...items);
    this.list.hidden = !items.length;
    this.box.setAttribute("aria-expanded", String(!this.list.hidden));
    const rest = found.length - this.shown.length;
    const shown = this.texts.search.replace("{shown}", found.length);
    this.status.textContent = !found.length ? this.texts.none : rest ? `${shown} (${this.texts.more.replace("{count}", rest)})` : shown;
    this.card.say(this.status.textContent);
    for (const each of [this.list, this.box]) each.scrollIntoView({ block: "nearest" });
    if (wanted) this.mark(items.length ? 0 : -1);
    else this.mark(this.select.multiple ? -1 : this.shown.indexOf(this.select.selectedIndex));
  }

  close() {
    this.list.hidden = true;
    this.box.setAttribute("aria-expanded", "false");
    this.mark(-1);
  }

  mark(at) {
    this.active = at;
    [...this.list.children].forEach((item, place) => item.classList.toggle("is-active", place === at));
    if (at < 0) { this.box.removeAttribute("aria-activedescendant"); return; }
    this.box.setAttribute("aria-activedescendant", this.list.children[at].id);
    this.list.children[at].scrollIntoView({ block: "nearest" });
  }

  press(event) {
    if (event.isComposing) return;  // The key is for the input method, such as Enter for a Japanese word.
    const isOpen = !this.list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) this.open("");
      const count = this.shown.length;
      if (count) this.mark((this.active + (event.key === "ArrowDown" ? 1 : -1) + count) % count);
    } else if (event.key === "Enter" && isOpen) {
      event.preventDefault();  // It selects; it does not send the form.
      if (this.active >= 0) this.choose(this.shown[this.active]);
    } else if (event.key === "Escape") {
      if (isOpen) { event.preventDefault(); event.stopPropagation(); }
      this.leave();
    } else if (event.key === "Backspace" && !this.box.value && this.select.multiple) {
      const last = this.options.filter((option) => option.selected).pop();
      if (last) this.toggle(last);
    }
  }

  choose(place) {
    const option = this.options[place];
    if (this.select.multiple) {
      this.toggle(option);
      this.box.value = "";
      this.open("");
      return;
    }
    this.select.value = option.value;
    this.changed();
    this.close();
    this.status.textContent = "";
  }

  toggle(option) {
    option.selected = !option.selected;
    this.changed();
  }

  changed() {
    this.showChosen();
    this.select.dispatchEvent(new Event("change", { bubbles: true }));
  }

  // Select what the user has typed before going on, without Enter.
  take() {
    const option = this.options[this.shown[this.active]];
    if (!option || option.selected || !this.wanted) return;
    option.selected = true;
    this.select.dispatchEvent(new Event("change", { bubbles: true }));
  }

  leave() {
    this.close();
    this.showChosen();
  }

  // Show only what is selected, once the user has left the box and presses nothing that this would move.
  settle() { if (!this.card.isPressed && !this.box.matches(":focus")) this.leave(); }

  showText() {
    const option = this.select.multiple ? undefined : this.select.selectedOptions[0];
    this.box.value = option && option.value !== "" ? option.text : "";
    if (!this.select.multiple) this.box.placeholder = option && option.value === "" ? option.text : "";
  }

  showChosen() {
    this.showText();
    if (!this.select.multiple) {
      this.status.textContent = "";
      return;
    }
    const chosen = this.options.filter((option) => option.selected);
    this.chosen.replaceChildren(...chosen.map((option) => {
      const name = element("bdi", { className: "server", textContent: option.text });
      const button = element("button", { type: "button" }, name, " ", element("span", { className: "only-heard", textContent: this.texts.remove }), "\u00a0✕");
      button.addEventListener("click", () => { this.toggle(option); this.box.focus(); });
      return element("li", {}, button);
    }));
    this.status.textContent = this.texts.selected.replace("{count}", chosen.length);
  }
}

// Return a text in lower case and without accents, to compare typed words.
function withoutAccents(text) { return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLocaleLowerCase(); }

function hasLetters(text, letters) {
  let at = -1;
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------------
// The page as a host of a card.

const focused = history.state && history.state.focused;
const PAGE = {
  isPage: true,
  // A step to which a button of the user led begins at its heading, as in the element: Tab leads on to its buttons.
  takesFocus: Boolean(focused) || new URLSearchParams(location.search).has("view"),
  focused,
  request: (path, { accept = "text/html", ...options } = {}) => fetch(path, { redirect: "manual", ...options, headers: { Accept: accept } }),
  reload: () => {
    if (!main.dataset.list) { location.replace(location.href); return; }
    // A list changes while somebody reads it: the focus and what is in view stay.
    history.replaceState({ focused: document.activeElement.getAttribute("href") }, "");
    location.reload();
  },
};

// Tell the page that shows this one in a frame how high the content is.  The header frame-ancestors decides which
// pages that can be: only those of a notebook.
function fitFrame(main) {
  if (parent === window) return;
  main.dataset.framed = "";
  const parts = [main, ...main.querySelectorAll("[role=listbox]")];
  let told = 0;
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(Math.max(...parts.map((each) => each.getBoundingClientRect().bottom)) + scrollY + FRAME_MARGIN);
    // The style depends on the height: what changes little stays.
    if (height <= told && height > told - FRAME_MARGIN) return;
    told = height;
    parent.postMessage({ type: "mcp-elicitation-height", height }, "*");
  });
  for (const each of parts) observer.observe(each);
}

// ---------------------------------------------------------------------------------------------------------------
// The element.

const styles = new Map();

// Return the style of an inbox.  One that could not be loaded is requested again the next time.
async function styleOf(base, transport) {
  if (!styles.has(base)) {
    const reply = await transport(new URL("static/inbox.css", base));
    if (!reply.ok) throw new Error(`The style of the inbox could not be loaded: ${reply.status}`);
    styles.set(base, await new CSSStyleSheet().replace(await reply.text()));
  }
  return styles.get(base);
}

let trusted;

// Return the document of a page.  Its scripts do not run.  A host may require trusted types, and may allow none.
function parseHtml(html) {
  try { trusted ??= trustedTypes.createPolicy("mcp-elicitation", { createHTML: (text) => text }); } catch { /* as text */ }
  return new DOMParser().parseFromString(trusted ? trusted.createHTML(html) : html, "text/html");
}

class McpElicitation extends HTMLElement {
  static observedAttributes = ["request", "src"];

  // Reaches the inbox: takes and returns what `fetch` does.  Set it before the element is connected.
  transport = (...about) => fetch(...about);

  #card = null;
  #token = "";
  #loads = 0;
  #shown = null;

  // The value of the `Authorization` header is "Bearer " and this token: for inboxes of other origins.
  get token() { return this.#token; }
  set token(token) { this.#token = token || ""; if (this.isConnected) this.#useToken(); }

  // A new token of the same user may arrive while the user fills in a form, which stays.
  async #useToken() {
    const card = this.#card;
    if (!this.#token || !this.#shown) { this.#load(); return; }
    const reply = await probe(this.#shown, (...about) => this.#request(...about)).catch(() => null);
    if (card !== this.#card) return;
    if (reply && reply.status === 404) this.#load();  // the token of another user
    else if (!reply || card.isAnswered(reply)) card.catchUp().catch(() => card.showConnection(false));
  }

  get base() { return new URL(this.getAttribute("src") || new URL("..", OWN), document.baseURI).href.replace(/\/?$/, "/"); }

  connectedCallback() {
    // A framework may have set the property before this script was loaded.
    if (Object.hasOwn(this, "token")) { const token = this.token; delete this.token; this.#token = token || ""; }
    if (!this.shadowRoot) this.attachShadow({ mode: "open" });
    this.#load();
  }

  disconnectedCallback() { this.#end(); }

  attributeChangedCallback(name, _, value) {
    // A host may set the attribute to the request that the user has opened: what is shown stays.
    const isShown = name === "request" && (value || "") === this.#shown;
    if (!isShown && this.isConnected && this.shadowRoot) this.#load();
  }

  // Show the request again; without the attribute, the list.  What cannot be kept as a draft stays.
  async load() {
    if (!this.#card?.isUnsaved || await this.#card.check()) await this.#load();
  }

  #load() { return this.#show(this.getAttribute("request") || "./"); }

  #end() {
    if (this.#card) this.#card.end();
    this.#card = null;
  }

  #fail(detail) { this.dispatchEvent(new CustomEvent("elicitation-error", { detail })); }

  async #request(path, { accept = "text/html", ...options } = {}) {
    const headers = { Accept: accept };
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    const reply = await this.transport(new URL(path, this.base), { credentials: this.#token ? "omit" : "same-origin", ...options, headers });
    if (reply.status === 401) this.#fail({ status: 401 });  // also while a form is shown: the host can renew the token
    return reply;
  }

  // Return false if the server could not be reached.  Then what is shown stays.
  async #show(path, options = {}) {
    const load = ++this.#loads;
    let reply, page, style;
    try {
      [reply, style] = await Promise.all([this.#request(path, options), styleOf(this.base, this.transport)]);
      const html = await reply.text();
      page = parseHtml((reply.headers.get("content-type") || "").startsWith("text/html") ? html : "");
    } catch (error) {
      this.#fail({ error });
      return false;
    }
    if (load !== this.#loads || !this.isConnected) return true;
    const main = page.querySelector("main[data-elicitation-page]");
    if (!main) {  // a page of a proxy, or one for the sign-in to which the host redirects
      if (reply.status !== 401) this.#fail({ status: reply.redirected ? 401 : reply.status });
      return !isFailing(reply);
    }
    const card = element("section", { className: "card", lang: page.documentElement.lang });
    for (const { name, value } of main.attributes) if (name.startsWith("data-")) card.setAttribute(name, value);
    card.append(...main.childNodes);
    delete card.dataset.alone;
    const heading = card.querySelector("h1");
    if (heading) card.setAttribute("aria-label", heading.textContent);
    const active = this.shadowRoot.activeElement;
    const takesFocus = this.#card !== null && active !== null;
    const focused = active && active.getAttribute("href");
    this.#end();
    this.shadowRoot.adoptedStyleSheets = [style];
    this.shadowRoot.replaceChildren(card);
    const current = reply.url;
    this.#card = new Card(card, {
      isPage: false,
      takesFocus,
      focused,
      request: (path, options) => this.#request(path, { redirect: "manual", ...options }),
      show: (...about) => this.#show(...about),
      reload: () => this.#show(current),
    });
    const { entry = "", state = "", action = "" } = card.dataset;
    this.#shown = entry;
    this.dispatchEvent(new CustomEvent("elicitation-change", { detail: { id: entry, state, action } }));
    return true;
  }
}

if (!customElements.get("mcp-elicitation")) customElements.define("mcp-elicitation", McpElicitation);
const main = document.querySelector("main[data-elicitation-page]");
if (main) {  // The script of a page is deferred.
  new Card(main, PAGE);
  // A browser that goes back may show the page as it was left.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  fitFrame(main);
}
})();
