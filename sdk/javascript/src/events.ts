// Progress and messages to the client that waits, streams of events, news of changes.

import * as events from "./generated/events.js";
import { jsonOf } from "./answer.js";
import type { Level } from "./call.js";

/** Says that a list of this plugin's may have become another one; and that a resource has changed. */
export { changed, updated } from "./generated/events.js";

/** What a stream is opened with. */
export interface StreamOptions {
  /** How long silence has to last before it is an end: `agent` by default; see the contract's `terminal`. */
  readonly preset?: string;
  /** Numbers that are to be otherwise, by the names of the contract, such as `settle_milliseconds`. */
  readonly parameters?: Readonly<Record<string, number | boolean>>;
}

/**
 * Says how far the call has come. `done` grows from call to call, up to `total` where that is known;
 * `text` is one line of at most 1,024 bytes. A client that did not ask for progress gets none.
 *
 * Fails with `denied` where events are not granted; `invalid` where a number is negative, not finite or
 * did not grow; `limit` where this call has sent as many events as it may, 1,000 by default.
 */
export function progress(done: number, total?: number, text?: string): void {
  events.progress(done, total, text);
}

/**
 * Sends a message about the running call: a text, or a value as JSON of at most 8,192 bytes.
 *
 * Fails with `denied`, `limit`, and `invalid` where it is too long.
 */
export function message(level: Level, data: unknown): void {
  events.message(level, jsonOf(data, "the message"));
}

/** How one piece of work goes: outlives the call, and any call of its owner may write to it by its id. */
export class EventStream {
  constructor(
    /** An unguessable string. */
    readonly id: string,
  ) {}

  /** Says how the work stands. Fails with `gone` where the stream has ended. */
  status(word: "processing" | "typing" | "ready" | "completed" | "error" | "nothing-new"): void {
    events.status(this.id, word);
  }

  /** Says something: a message of 1 to 8,192 bytes. */
  say(text: string): void {
    events.say(this.id, text);
  }

  /** Says at which stage the work is, in at most 256 bytes, and how much of it is done, 0 to 100. */
  advance(stage: string, percent?: number): void {
    events.advance(this.id, stage, percent);
  }

  /** Says that the work is complete, which ends the stream. Completing it again does nothing. */
  complete(): void {
    events.complete(this.id);
  }
}

/** Opens a stream. `title` is one line for a person, at most 256 bytes. Fails with `limit` where too many are open. */
export function openStream(title: string, options?: StreamOptions): EventStream {
  return new EventStream(events.openStream(title, options === undefined ? undefined : jsonOf(options, "the options")));
}
