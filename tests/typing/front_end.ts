// A front end that uses the types of the inbox.  `tsc` accepts it, and refuses each line after `@ts-expect-error`.

import type {
  AnswerBody,
  Entry,
  EntryPage,
  ExtendBody,
  FormRequest,
  RequestedSchema,
  ValidationResult,
} from "../../mcp_elicit_client/inbox/web/static/mcp-elicitation.js";

export async function pending(): Promise<Entry[]> {
  const page = (await (await fetch("/requests/")).json()) as EntryPage;
  return page.entries.filter((entry) => entry.state === "pending");
}

export function follow(show: (entry: Entry) => void): void {
  new EventSource("/requests/events").addEventListener("entry", (event: MessageEvent<string>) => {
    show(JSON.parse(event.data) as Entry);
  });
}

export function title(entry: Entry): string {
  const { request } = entry;
  const chain = request.origin.join(" > ");
  if (request.mode === "url") {
    return `${chain}: ${request.target.registrable_domain}`;
  }
  return `${chain}: ${request.form.fields.map((field) => field.title).join(", ")}`;
}

export function inputs(request: FormRequest): string[] {
  return request.form.fields.map((field) => {
    switch (field.kind) {
      case "text":
        return field.format ?? "text";
      case "number":
        return field.integer ? "integer" : "number";
      case "boolean":
        return "checkbox";
      case "choice":
      case "multichoice":
        return field.choices.map((choice) => String(choice.value)).join("|");
    }
  });
}

export function required(schema: RequestedSchema | null): string[] {
  return schema?.required ?? [];
}

export async function answer(entry: Entry, content: AnswerBody["content"]): Promise<ValidationResult> {
  const codes = entry.warnings.filter((warning) => !warning.is_note).map((warning) => warning.code);
  const body: AnswerBody = { action: "accept", content: content ?? {}, confirm_warnings: codes };
  const headers = { "content-type": "application/json" };
  const reply = await fetch(`/requests/${entry.id}`, { method: "POST", headers, body: JSON.stringify(body) });
  return (await reply.json()) as ValidationResult;
}

export async function extend(entry: Entry): Promise<Date> {
  const body: ExtendBody = { action: "extend" };
  const headers = { "content-type": "application/json" };
  const reply = await fetch(`/requests/${entry.id}`, { method: "POST", headers, body: JSON.stringify(body) });
  return new Date(((await reply.json()) as Entry).expires_at);
}

export function show(token: string): void {
  const element = document.createElement("mcp-elicitation");
  element.token = token;
  element.addEventListener("elicitation-change", (event) => console.log(event.detail.state));
  void element.load();
}

export function mistakes(entry: Entry): void {
  // @ts-expect-error -- a URL request has no form
  console.log(entry.request.form);
  // @ts-expect-error -- there is no such state
  console.log(entry.state === "done");
  // @ts-expect-error -- an answer needs an action
  const empty: AnswerBody = {};
  // @ts-expect-error -- there is no such action
  const wrong: AnswerBody = { action: "ok" };
  // @ts-expect-error -- a URL has no schema
  console.log(entry.answer_schema.properties);
  console.log(empty, wrong);
}
