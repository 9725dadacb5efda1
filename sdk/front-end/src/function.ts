/** Functions of a front end: what they take, what they give, and what they are handed for one call. */

import type { ObjectSchema, Value } from "./schema.js";

/** One call, beside its arguments. */
export interface Call {
  /** Names the call among those of this front end. */
  readonly number: number;
  /** On behalf of which session. */
  readonly session: string;
  /** On behalf of which assistant. */
  readonly assistant: string | undefined;
  /** On behalf of which thread. */
  readonly thread: string | undefined;
  /** When nobody will wait for the answer any more, as `Date.now()` counts. */
  readonly deadline: number;
  /** Aborted once nobody waits for the answer any more: stop, and drop it. Its `reason` is an `Error`. */
  readonly signal: AbortSignal;
  /**
   * Tells the caller how far the call has come. `done` grows from one to the next; of several that come faster than they
   * can be sent, the last one is. `message` is for people.
   */
  progress(done: number, total?: number, message?: string): void;
}

/** A part of an answer: a text, or bytes of a type such as `image/png`. */
export type Part = string | { readonly text: string; readonly mimeType?: string } | { readonly bytes: Uint8Array; readonly mimeType: string };

/** What a function without an output schema may answer. */
export type Answer = Part | readonly Part[] | void;

/** Hints for clients, in the words of the protocol. */
export interface Annotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** What is said of a function. */
export interface Definition<I extends ObjectSchema, O extends ObjectSchema | undefined> {
  /** For the model that chooses: what it does, when to use it, what comes back. */
  readonly description: string;
  /** For people. */
  readonly title?: string;
  /** What it takes. The host checks it before a call arrives here. */
  readonly input: I;
  /** What it gives, where that is structured. The host checks it, too. */
  readonly output?: O;
  /** Hints, such as that it only reads. */
  readonly annotations?: Annotations;
  /** How long a call may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** Answers a call. What it throws is told to the caller: see {@link FunctionError}. */
  call(input: Value<I>, call: Call): Answered<O> | Promise<Answered<O>>;
}

/** What a function answers. */
export type Answered<O> = O extends ObjectSchema ? Value<O> : Answer;

/** A function that can be served. */
export interface Served {
  readonly definition: Definition<ObjectSchema, ObjectSchema | undefined>;
}

/** The codes of a call that has failed. */
export type FailureCode =
  | "denied"
  | "invalid"
  | "not-found"
  | "conflict"
  | "limit"
  | "timeout"
  | "gone"
  | "unavailable"
  | "internal";

/** Thrown by a function: the call fails with this code. Any other error counts as `internal`, with its message. */
export class FunctionError extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.name = "FunctionError";
    this.code = code;
  }
}

/**
 * A function to serve. Its types follow from its schemas.
 *
 * ```ts
 * serve({
 *   description: "Returns a line of the document.",
 *   input: { type: "object", properties: { line: { type: "integer" } }, required: ["line"] },
 *   output: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
 *   call: ({ line }) => ({ text: lines[line] ?? "" }),
 * })
 * ```
 */
export function serve<const I extends ObjectSchema, const O extends ObjectSchema | undefined = undefined>(
  definition: Definition<I, O>,
): Served {
  return { definition: definition as unknown as Definition<ObjectSchema, ObjectSchema | undefined> };
}
