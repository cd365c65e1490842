// The module of the widget.  It is appended to the script of the element <mcp-elicitation>, and connects the element
// to the kernel: what the element would fetch is sent as messages of the widget.

const REPLY_TIMEOUT = 15000;
const KEYS = ["keydown", "keypress", "keyup"];

function isDark() {
  const { body, documentElement } = document;
  if ("jpThemeLight" in body.dataset) return body.dataset.jpThemeLight === "false";  // JupyterLab
  if (/\bvscode-(light|dark|high-contrast)/.test(body.className)) return !/\bvscode-(high-contrast-)?light\b/.test(body.className);
  if (documentElement.hasAttribute("theme")) return documentElement.getAttribute("theme") === "dark";  // Colab
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function render({ model, el }) {
  const view = Math.random().toString(36).slice(2);
  const theme = isDark() ? "dark" : "light";
  const base = `https://notebook.invalid/${theme}/`;
  const waiting = new Map();
  let requests = 0;

  const transport = (url, { method = "GET", headers = {}, body = "" } = {}) => new Promise((resolve, reject) => {
    const { pathname, search } = new URL(url);
    const path = pathname.slice(theme.length + 1);
    if (path === "/events") { resolve(new Response("", { status: 404 })); return; }  // The kernel replaces the output.
    const id = `${view}-${++requests}`;
    const timer = setTimeout(() => { waiting.delete(id); reject(new TypeError("The kernel does not reply.")); }, REPLY_TIMEOUT);
    waiting.set(id, (reply) => {
      clearTimeout(timer);
      const text = path.endsWith(".css") ? reply.body.replaceAll("(prefers-color-scheme: dark)", theme === "dark" ? "all" : "not all") : reply.body;
      const response = new Response(text, { status: reply.status, headers: { "Content-Type": reply.type } });
      Object.defineProperty(response, "url", { value: new URL(`.${reply.path}`, base).href });
      resolve(response);
    });
    model.send({ kind: "request", id, method, path: path + search, accept: headers.Accept || "*/*", body: String(body), languages: navigator.languages.join(",") });
  });

  const receive = (message) => {
    const reply = waiting.get(message.id);
    waiting.delete(message.id);
    if (reply) reply(message);
  };
  model.on("msg:custom", receive);

  // Keys are for the form: the notebook has commands for single letters.
  el.dataset.lmSuppressShortcuts = "true";
  for (const type of KEYS) el.addEventListener(type, (event) => event.stopPropagation());
  el.addEventListener("click", (event) => {
    const link = event.composedPath().find((each) => each.localName === "a" && each.target === "_blank");
    if (link) model.send({ kind: "opened", view });
  });

  const inbox = Object.assign(document.createElement("mcp-elicitation"), { transport });
  inbox.setAttribute("src", base);
  inbox.setAttribute("request", model.get("request_id"));
  inbox.style.colorScheme = theme;
  inbox.addEventListener("elicitation-change", () => model.send({ kind: "shown", view }), { once: true });
  el.append(inbox);
  return () => {
    model.off("msg:custom", receive);
    model.send({ kind: "removed", view });
  };
}

export default { render };
