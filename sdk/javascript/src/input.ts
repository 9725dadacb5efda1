// Rounds of input: a call ends with what the plugin needs of its caller, and is made again with it.

import { Answer } from "./answer.js";
import { ToolError } from "./error.js";

/** What one round asks for, by names of the plugin's. */
export interface InputRequest {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`. */
  readonly method: string;
  /** As the Model Context Protocol defines them for the method. */
  readonly params: object;
}

/** What was given to the round before. Nothing of it was checked against what was asked. */
export class Input {
  /** What the caller said, by the names of the requests. */
  readonly responses: Readonly<Record<string, unknown>>;
  /** The state of the round before, unchanged. Absent in the first round. */
  readonly state: string | undefined;
  /** Whether a round of input came before this one. */
  readonly isAnswered: boolean;
  /** What the client can be asked for: its capabilities, as it declared them. */
  readonly capabilities: Readonly<Record<string, unknown>>;

  constructor(given: Record<string, unknown> | undefined, client: Record<string, unknown>) {
    this.isAnswered = given !== undefined;
    this.responses = objectOr(given?.["responses"]);
    this.state = typeof given?.["state"] === "string" ? given["state"] : undefined;
    this.capabilities = objectOr(client["capabilities"]);
  }

  /** Whether the client can be asked for this: `elicitation`, `sampling` or `roots`. A call that asks for another ends with an error. */
  clientCan(capability: "elicitation" | "sampling" | "roots"): boolean {
    return (this.capabilities[capability] ?? undefined) !== undefined;
  }

  /** The fields of a form that the person filled; none where it was refused, cancelled or not asked for. */
  form(name: string): Record<string, unknown> | undefined {
    const response = this.#response(name);
    return response["action"] === "accept" ? objectOr(response["content"]) : undefined;
  }

  /** What the client's model said, where it was text. */
  model(name: string): string | undefined {
    const { content } = this.#response(name);
    // One block, or a list of them.
    const { text } = objectOr(Array.isArray(content) ? content[0] : content);
    return typeof text === "string" ? text : undefined;
  }

  /** The addresses of the client's folders. */
  roots(name: string): string[] | undefined {
    const { roots } = this.#response(name);
    if (!Array.isArray(roots)) return undefined;
    return roots.map((root) => objectOr(root)["uri"]).filter((uri) => typeof uri === "string");
  }

  #response(name: string): Record<string, unknown> {
    return Object.hasOwn(this.responses, name) ? objectOr(this.responses[name]) : {};
  }
}

function objectOr(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** What came with the request of this call. */
export function inputOf(requestMeta: Readonly<Record<string, unknown>>): Input {
  const given = requestMeta["dev.wharf/input"];
  return new Input(given === undefined ? undefined : objectOr(given), objectOr(requestMeta["dev.wharf/client"]));
}

/** A form for a person: `schema` is a JSON Schema of flat fields. */
export function form(message: string, schema: object): InputRequest {
  return { method: "elicitation/create", params: { message, requestedSchema: schema } };
}

/** A question to the client's model, which answers with at most so many tokens. */
export function model(prompt: string, maxTokens: number): InputRequest {
  const message = { role: "user", content: { type: "text", text: prompt } };
  return { method: "sampling/createMessage", params: { messages: [message], maxTokens } };
}

/** The folders that the client works in. */
export function roots(): InputRequest {
  return { method: "roots/list", params: {} };
}

/**
 * An answer that asks for input first. `requests` has 1 to 16 things, by names of 1 to 64 bytes.
 * `state`, at most 16,384 bytes, comes back unchanged with what is given; the caller can read it.
 *
 * Fails with `invalid` for another number of requests.
 */
export function inputRequired(requests: Readonly<Record<string, InputRequest>>, state?: string): Answer {
  const count = Object.keys(requests).length;
  if (count < 1 || count > 16) throw ToolError.invalid(`a round asks for 1 to 16 things, not ${count}`);
  return new Answer({ meta: { inputRequired: state === undefined ? { requests } : { requests, state } } });
}
