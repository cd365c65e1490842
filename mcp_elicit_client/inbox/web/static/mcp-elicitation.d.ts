// Types of the JSON of the inbox, and of the element <mcp-elicitation>.
// Written by `python -m tools.typescript`.

/** The body of an answer.  `check` validates the content without answering.  `confirm_warnings` has the codes of the warnings that the user confirmed. */
export interface AnswerBody {
  action: "accept" | "decline" | "cancel" | "check";
  content?: { [name: string]: unknown } | null;
  block_server?: boolean;
  confirm_warnings?: string[];
  remember?: boolean;
}

/** The position of a request among those that the server sends together. */
export interface BatchPosition {
  number: number;
  total: number;
}

/** A yes-or-no field. */
export interface BooleanField {
  name: string;
  title: string;
  description: string;
  required: boolean;
  nullable: boolean;
  sensitive: boolean;
  kind: "boolean";
  default: boolean | null;
}

/** One option. */
export interface Choice {
  value: string | boolean | number;
  title: string;
}

/** A field for one of several options. */
export interface ChoiceField {
  name: string;
  title: string;
  description: string;
  required: boolean;
  nullable: boolean;
  sensitive: boolean;
  choices: Choice[];
  kind: "choice";
  default: string | boolean | number | null;
}

/** A non-fatal finding about a request or an answer. */
export interface Diagnostic {
  code: "truncated" | "default_dropped" | "impersonation" | "unsupported_field" | "invalid_value" | "limit_ignored" | "not_asked_for" | "options_dropped" | "pattern_not_checked" | "required_ignored" | "rule_not_checked" | "schema_missing" | "sensitive_data" | "titles_ignored" | "type_guessed" | "undeclared_field" | "union";
  message: string;
  field: string | null;
}

/** A request in an inbox.  It never holds the values of an answer. */
export interface Entry {
  id: string;
  owner: string;
  state: "pending" | "answered" | "withdrawn" | "expired" | "orphaned";
  answered_by: string;
  updated_at: string;
  created_at: string;
  expires_at: string;
  max_expires_at: string;
  action: "accept" | "decline" | "cancel" | null;
  call: string | null;
  request: FormRequest | UrlRequest;
  warnings: RequestWarning[];
  answer_schema: RequestedSchema | null;
  untrusted: string[];
}

/** A part of a list of entries.  Large requests make it shorter than its limit. */
export interface EntryPage {
  entries: Entry[];
  next_cursor: string | null;
}

/** The body of a response that refuses a request. */
export interface ErrorBody {
  error: string;
  state?: "answered" | "withdrawn" | "expired" | "orphaned";
  warnings?: RequestWarning[];
}

/** The body that gives the user of a pending request more time, up to `max_expires_at`. */
export interface ExtendBody {
  action: "extend";
}

/** An error in one field of an answer. */
export interface FieldError {
  field: string;
  code: "required" | "null" | "type" | "choice" | "min_length" | "max_length" | "format" | "ambiguous" | "pattern" | "minimum" | "maximum" | "exclusive_minimum" | "exclusive_maximum" | "multiple_of" | "min_items" | "max_items" | "duplicate" | "not_finite" | "unsafe_integer" | "not_unicode" | "unknown_field" | "unsupported_field" | "too_large";
  params: { [name: string]: unknown };
  message: string;
}

/** A form: the fields that a server requests. */
export interface Form {
  fields: (TextField | NumberField | BooleanField | ChoiceField | MultiChoiceField)[];
  unsupported_fields: string[];
  rejects_unknown_fields: boolean;
}

/** A request for a form. */
export interface FormRequest {
  server: Server;
  user: string | null;
  claimed_origin: string[];
  message: string;
  protocol_version: string | null;
  tool: string | null;
  request_id: string | number | null;
  batch_position: BatchPosition | null;
  deadline: string | null;
  max_deadline: string | null;
  can_block: boolean;
  diagnostics: Diagnostic[];
  mode: "form";
  form: Form;
  remember_seconds: number | null;
  origin: string[];
}

/** The JSON Schema of each value of a list. */
export interface ItemSchema {
  type?: "string";
  enum?: string[];
  anyOf?: TitledOption[];
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  "x-format"?: string;
}

/** A field for several options, or for a list of texts. */
export interface MultiChoiceField {
  name: string;
  title: string;
  description: string;
  required: boolean;
  nullable: boolean;
  sensitive: boolean;
  choices: Choice[];
  kind: "multichoice";
  item: TextField | null;
  default: string[] | null;
  unchecked_default: string[] | null;
  min_items: number | null;
  max_items: number | null;
  unique: boolean;
}

/** A number field. */
export interface NumberField {
  name: string;
  title: string;
  description: string;
  required: boolean;
  nullable: boolean;
  sensitive: boolean;
  kind: "number";
  integer: boolean;
  default: number | null;
  minimum: number | null;
  maximum: number | null;
  exclusive_minimum: number | null;
  exclusive_maximum: number | null;
  multiple_of: number | null;
}

/** The JSON Schema of one field. */
export interface PropertySchema {
  type?: "string" | "number" | "integer" | "boolean" | "array";
  title?: string;
  description?: string;
  default?: unknown;
  enum?: (string | number | boolean)[];
  oneOf?: TitledOption[];
  items?: ItemSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  "x-format"?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  nullable?: boolean;
}

/** An answer that the user chose to remember. */
export interface RememberedAnswer {
  id: string;
  server: string;
  message: string;
  action: "accept" | "decline";
  content: { [name: string]: unknown } | null;
  seconds_left: number;
}

/** A warning about a request or an answer, or a note of less weight. */
export interface RequestWarning {
  code: string;
  text: string;
  is_note: boolean;
}

/** A form as the `requestedSchema` of MCP: the JSON Schema of the content of an answer. */
export interface RequestedSchema {
  type: "object";
  properties: { [name: string]: PropertySchema };
  required?: string[];
  additionalProperties?: false;
}

/** The server that sends a request. */
export interface Server {
  name: string;
  claimed_name: string | null;
  transport: string | null;
  origin: string | null;
}

/** An inspected URL. */
export interface TargetUrl {
  url: string;
  as_sent: string;
  scheme: string;
  host: string;
  port: number | null;
  warnings: UrlWarning[];
  registrable_domain: string;
}

/** A text field. */
export interface TextField {
  name: string;
  title: string;
  description: string;
  required: boolean;
  nullable: boolean;
  sensitive: boolean;
  kind: "text";
  default: string | null;
  unchecked_default: string | null;
  min_length: number | null;
  max_length: number | null;
  format: string | null;
  pattern: string | null;
  pattern_skipped: string;
}

/** An option with a title. */
export interface TitledOption {
  const: string | number | boolean;
  title: string;
}

/** A request to open a URL. */
export interface UrlRequest {
  server: Server;
  user: string | null;
  claimed_origin: string[];
  message: string;
  protocol_version: string | null;
  tool: string | null;
  request_id: string | number | null;
  batch_position: BatchPosition | null;
  deadline: string | null;
  max_deadline: string | null;
  can_block: boolean;
  diagnostics: Diagnostic[];
  mode: "url";
  target: TargetUrl;
  elicitation_id: string | null;
  respond_after: "consent" | "completion";
  previous_visits: number;
  origin: string[];
}

/** A warning about a URL, for the user. */
export interface UrlWarning {
  code: "ip_address" | "long_host" | "loopback" | "lookalike" | "lookalike_letters" | "mixed_scripts" | "port" | "private" | "punycode" | "underscore";
  detail: string;
  domain: string;
  message: string;
}

/** The result of a validation.  Its truth value is `valid`. */
export interface ValidationResult {
  valid: boolean;
  errors: FieldError[];
  unchecked: Diagnostic[];
}

/** The detail of the event `elicitation-change`: the request that is shown; all empty for a list. */
export interface ElicitationChange {
  id: string;
  state: Entry["state"] | "";
  action: NonNullable<Entry["action"]> | "";
}

/** The detail of the event `elicitation-error`: the inbox refused, or could not be reached. */
export interface ElicitationError {
  status?: number;
  error?: unknown;
}

/** The element that shows one request, or the list. */
export interface MCPElicitationElement extends HTMLElement {
  /** Sent as `Authorization: Bearer ...`. */
  token?: string;
  /** Reaches the inbox, in place of `fetch`.  Set it before the element is connected. */
  transport: typeof fetch;
  /** Show the request or the list again.  What the user is entering is kept. */
  load(): Promise<void>;
}

declare global {
  interface HTMLElementTagNameMap {
    "mcp-elicitation": MCPElicitationElement;
  }
  interface HTMLElementEventMap {
    "elicitation-change": CustomEvent<ElicitationChange>;
    "elicitation-error": CustomEvent<ElicitationError>;
  }
}
