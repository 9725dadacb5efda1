// What a tool answers, and how it becomes the answer of the contract.

import type { Answer as WitAnswer, Content as WitContent } from "./generated/tools.js";
import { ToolError } from "./error.js";
import { encodeUtf8 } from "./utf8.js";

/** Further fields of the protocol. Their names are those of the Model Context Protocol. */
export type Meta = Readonly<Record<string, unknown>>;

/** One part of an answer. */
export interface Content {
  /** `text/plain` for text; `image/png` and other types for what they name. At most 255 bytes. */
  readonly mimeType: string;
  /** The part itself. */
  readonly data: Uint8Array;
  /** `uri` makes the part an embedded resource of that address; `annotations` are hints for clients. */
  readonly meta?: Meta | undefined;
}

/** What an answer is made of. */
export interface AnswerParts {
  /** In the order in which they are to be read, at most 256. A string is a part of text. */
  readonly content?: ReadonlyArray<Content | string>;
  /** A JSON object that conforms to the output schema. */
  readonly structured?: object | undefined;
  /** Whether the tool could not do what it was asked, in a way that the model should read. */
  readonly isError?: boolean;
  /** Further fields of the protocol. */
  readonly meta?: Meta | undefined;
}

/** An answer with everything that the contract has for one. Made by {@link answer}. */
export class Answer {
  constructor(readonly parts: AnswerParts) {}
}

/** Structure, and a text of its own beside it. Made by {@link reply}. */
export class Reply<Structured> {
  constructor(
    readonly text: string,
    readonly structured: Structured,
  ) {}
}

/** A part of an answer: text, or the bytes of `mimeType`. */
export function content(mimeType: string, data: Uint8Array | string, meta?: Meta): Content {
  return { mimeType, data: typeof data === "string" ? encodeUtf8(data) : data, meta };
}

/** Parts of any type, structure and further fields as they are given. */
export function answer(parts: AnswerParts): Answer {
  return new Answer(parts);
}

/** Structure for programs, and a text for whoever reads. Without it, the text is the structure's JSON. */
export function reply<Structured>(text: string, structured: Structured): Reply<Structured> {
  return new Reply(text, structured);
}

/**
 * The JSON of a value. `what` names it in the error: `internal` where it is none, as a circle, a
 * BigInt or a function is.
 */
export function jsonOf(value: unknown, what: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new ToolError("internal", `${what} cannot be JSON: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
  if (text === undefined) throw ToolError.internal(`${what} cannot be JSON: it is ${typeof value}`);
  return text;
}

/** The JSON of a value that has to be an object. Fails with `internal`. */
export function jsonObjectOf(value: unknown, what: string): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw ToolError.internal(`${what} must be an object, and is ${Array.isArray(value) ? "an array" : String(value)}`);
  }
  return jsonOf(value, what);
}

/** A part as the contract has it. */
export function witContent(part: Content | string): WitContent {
  if (typeof part === "string") return { mimeType: "text/plain", data: encodeUtf8(part), meta: undefined };
  if (typeof part !== "object" || part === null) throw ToolError.internal("a part of the answer is neither text nor content");
  const { mimeType, data, meta } = part;
  return { mimeType, data, meta: meta === undefined ? undefined : jsonObjectOf(meta, "the `meta` of a part") };
}

function witAnswer({ content = [], structured, isError = false, meta }: AnswerParts): WitAnswer {
  return {
    content: content.map(witContent),
    structured: structured === undefined ? undefined : jsonObjectOf(structured, "the structure of the answer"),
    isError,
    meta: meta === undefined ? undefined : jsonObjectOf(meta, "the `meta` of the answer"),
  };
}

/**
 * The answer of the contract for what a tool returned.
 *
 * Fails with `internal` where that is nothing that a tool may return.
 */
export function answerOf(returned: unknown): WitAnswer {
  if (returned instanceof Answer) return witAnswer(returned.parts);
  if (typeof returned === "string") return witAnswer({ content: [returned] });
  if (returned instanceof Reply) {
    return witAnswer({ content: [returned.text], structured: returned.structured as object });
  }
  const structured = jsonObjectOf(returned, "what the tool returned");
  return { content: [witContent(structured)], structured, isError: false, meta: undefined };
}
