// The one error of a tool, and of everything that a tool calls.

import type { Error as WitError } from "./generated/types.js";

/** Why something failed, in a word: the codes of the contract. A program treats others as `internal`. */
export type ErrorCode =
  | "denied"
  | "invalid"
  | "not-found"
  | "conflict"
  | "limit"
  | "timeout"
  | "gone"
  | "unavailable"
  | "internal"
  | (string & {});

/** What comes with an error besides code and message. */
export interface ToolErrorOptions {
  /** Whether the same call, unchanged, may succeed later. By default what the code means. */
  retryable?: boolean;
  /** What led to it. Goes to the operator's log and never to the client. */
  cause?: unknown;
}

/** Codes that say by themselves that the same call may succeed later. */
const RETRYABLE = new Set(["conflict", "timeout", "unavailable"]);

/**
 * Why a tool could not do what it was asked.
 *
 * The model reads it as an answer that is marked as an error, so the message says what happened
 * and what to do about it. The host cuts messages of more than 4,096 bytes.
 */
export class ToolError extends Error {
  /** What went wrong, in a word. */
  readonly code: ErrorCode;
  /** Whether the same call, unchanged, may succeed later. */
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ToolError";
    this.code = code;
    this.retryable = options.retryable ?? RETRYABLE.has(code);
  }

  /** The operator has not granted it. */
  static denied(message: string): ToolError {
    return new ToolError("denied", message);
  }

  /** An argument is malformed, out of range or makes no sense here. */
  static invalid(message: string): ToolError {
    return new ToolError("invalid", message);
  }

  /** There is no such thing. */
  static notFound(message: string): ToolError {
    return new ToolError("not-found", message);
  }

  /** Something changed since it was read: the same call may succeed now. */
  static conflict(message: string): ToolError {
    return new ToolError("conflict", message);
  }

  /** A limit is reached: name it, its value, and what would make room. */
  static limit(message: string): ToolError {
    return new ToolError("limit", message);
  }

  /** A wait ended before what was waited for. */
  static timeout(message: string): ToolError {
    return new ToolError("timeout", message);
  }

  /** It existed, and does not any more. */
  static gone(message: string): ToolError {
    return new ToolError("gone", message);
  }

  /** A service that this needs does not answer now. */
  static unavailable(message: string): ToolError {
    return new ToolError("unavailable", message);
  }

  /** A defect of the tool. */
  static internal(message: string): ToolError {
    return new ToolError("internal", message);
  }

  /** The same error, saying what to do next: such as "list_todos shows those that there are". */
  withAdvice(advice: string): ToolError {
    return new ToolError(this.code, `${this.message}; ${advice}`, { retryable: this.retryable, cause: this });
  }
}

/**
 * The error of a host function, as an engine throws it: both put the record of the contract into
 * `payload`. Anything else is returned as it is.
 */
export function hostError(thrown: unknown): unknown {
  if (thrown instanceof ToolError || typeof thrown !== "object" || thrown === null) return thrown;
  const payload: unknown = "payload" in thrown ? thrown.payload : undefined;
  if (typeof payload !== "object" || payload === null || !("code" in payload)) return thrown;
  const { code, message, retryable } = payload as WitError;
  return new ToolError(String(code), String(message), { retryable: retryable === true });
}

/** What somebody threw, in words: an error's message, or the value itself. */
export function thrownMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message === "" ? thrown.name : thrown.message;
  try {
    return String(thrown);
  } catch {
    return "a value that has no text was thrown";
  }
}
