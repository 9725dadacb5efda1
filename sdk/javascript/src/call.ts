// The call that is answered: on whose behalf it runs, and how much time is left.

import * as caller from "./generated/caller.js";
import { write } from "./generated/log.js";
import { inputOf, type Input } from "./input.js";

/** A level of the operator's log. */
export type Level = "trace" | "debug" | "info" | "warn" | "error";

/** One call of a tool. The host derives the context from the transport, never from arguments. */
export interface Call {
  /** The session: one conversation or one run of an agent. 1 to 128 bytes. */
  readonly session: string;
  /** The assistant, where the client names one. */
  readonly assistant: string | undefined;
  /** The thread within the session, where the client names one. */
  readonly thread: string | undefined;
  /** Milliseconds of wall-clock time until the host ends this call. */
  remaining(): number;
  /** What came with the request besides its arguments. Names that start with `dev.wharf/` are the host's. */
  readonly requestMeta: Readonly<Record<string, unknown>>;
  /** What was given to the round of input before. */
  readonly input: Input;
  /**
   * Writes one line to the operator's log, which the caller never sees. The host cuts lines at 8,192
   * bytes and drops those beyond the limit of a call, 1,000 by default. Never fails.
   */
  log(level: Level, message: string): void;
}

/** Asks the host only for what is read: most tools read nothing of it. */
class HostCall implements Call {
  get session(): string {
    return caller.session();
  }

  get assistant(): string | undefined {
    return caller.assistant();
  }

  get thread(): string | undefined {
    return caller.thread();
  }

  remaining(): number {
    return caller.remaining();
  }

  get requestMeta(): Readonly<Record<string, unknown>> {
    return JSON.parse(caller.requestMeta()) as Record<string, unknown>;
  }

  get input(): Input {
    return inputOf(this.requestMeta);
  }

  log(level: Level, message: string): void {
    write(String(level), String(message));
  }
}

/** The call that runs now: also for code that is not handed one. */
export const currentCall: Call = new HostCall();
