// Web pages that the host owns: opened, driven and read on behalf of the calling session.
//
// An id outlives the call. What takes time is a request; `run`, `carryOut` and `navigate` ask and wait
// in one step, `executeScript` and `perform` return the id of the request. Everything may fail with
// `denied`, `not-found` where this owner has no such page, and `unavailable`.

import * as generated from "./generated/webview.js";
import type { Outcome, PageInfo } from "./generated/webview.js";
import { remaining } from "./generated/caller.js";
import { jsonObjectOf, jsonOf } from "./answer.js";
import { ToolError } from "./error.js";
import { decodeUtf8 } from "./utf8.js";

export { acknowledge, cancel, close, get, list, poll, readResult } from "./generated/webview.js";
export type { Dialog, LogPage, Outcome, PageInfo, ResultPiece } from "./generated/webview.js";

/** How a page is opened. */
export interface PageOptions {
  /** CSS pixels, 1 to 4096; 1280 by default. */
  readonly width?: number;
  /** CSS pixels, 1 to 4096; 800 by default. */
  readonly height?: number;
  /** What becomes of `alert`, `confirm` and `prompt`: `report` keeps them open for 30 seconds at most. */
  readonly dialogs?: "report" | "accept" | "dismiss";
  /** What pages are told, such as `ko-KR`. */
  readonly locale?: string;
  /** What pages are told, such as `Asia/Seoul`. */
  readonly timeZone?: string;
  /** What pages are told. */
  readonly userAgent?: string;
}

/** How a script is run. */
export interface ScriptOptions {
  /** Among the page's own scripts (`page`, the default) or apart from them with the same document. */
  readonly world?: "page" | "isolated";
  /** The deadline, 1 to 300,000; 30,000 by default. */
  readonly milliseconds?: number;
  /** A frame of the page, as the operation `frames` tells it. */
  readonly frame?: string;
}

/** Milliseconds of a call that are kept for its answer. */
const RESERVE = 500;

/** The most bytes of a result that are put together: 8 MiB. */
const LARGEST_RESULT = 8_388_608;

/** What holds for the pages of this plugin here, by the names of the contract. */
export function status(): Readonly<Record<string, unknown>> {
  return JSON.parse(generated.status()) as Record<string, unknown>;
}

/** Opens a page, empty at first. Fails with `limit` where this owner has as many pages as it may. */
export function open(options: PageOptions = {}): PageInfo {
  const { width = 0, height = 0, dialogs = "", locale, timeZone, userAgent } = options;
  const told = jsonOf({ locale, time_zone: timeZone, user_agent: userAgent }, "the options");
  return generated.open({ width, height, dialogs, options: told === "{}" ? undefined : told });
}

/**
 * Begins to run JavaScript in a page, and returns the id of the request. Fails with `limit` where the page
 * has 64 pending requests; `invalid` for a script of more than 1 MiB; `gone` where the page is closed.
 */
export function executeScript(id: string, script: string, options: ScriptOptions = {}): string {
  const { world = "", milliseconds = 0, frame } = options;
  const further = frame === undefined ? undefined : jsonOf({ frame }, "the options");
  return generated.executeScript(id, script, { world, milliseconds, maxBytes: 0, options: further });
}

/**
 * Begins to do something else with a page, such as `navigate` with `{ url }`, and returns the id of the
 * request. Operations and parameters are those of the contract. `milliseconds` is the deadline.
 */
export function perform(id: string, operation: string, parameters: object = {}, milliseconds = 0): string {
  return generated.perform(id, operation, jsonObjectOf(parameters, "the parameters"), milliseconds);
}

/** The outcome of a request once it has ended, at most so many milliseconds later: shortly before the end of the call by default. */
export function wait(request: string, milliseconds = Math.max(0, remaining() - RESERVE)): Outcome {
  return generated.wait(request, milliseconds);
}

/** Answers the dialog that is open; `text` is for a `prompt`. Fails with `conflict` where none is open. */
export function answerDialog(id: string, accept: boolean, text?: string): void {
  generated.answerDialog(id, accept, text);
}

/** Entries of a log after a number, at most 1,000, the oldest first; and where to go on. */
export function entries(
  id: string,
  log: "console" | "network" | "downloads",
  after = 0,
  max = 1_000,
): { entries: Array<Record<string, unknown>>; next: number; lost: number } {
  const page = generated.entries(id, log, after, max);
  return { ...page, entries: JSON.parse(page.entries) as Array<Record<string, unknown>> };
}

/** What a request came to. */
export interface RequestResult {
  /** `application/json` of a script, `image/png` of a screenshot. */
  readonly mimeType: string;
  /** All of it. */
  readonly data: Uint8Array;
}

/** The code of a failure, by its kind; and whether the same request may succeed later. */
const CODES: Readonly<Record<string, readonly [string, boolean]>> = {
  denied: ["denied", false],
  "time-out": ["timeout", true],
  navigated: ["conflict", true],
  "dialog-open": ["conflict", false],
  cancelled: ["conflict", false],
  "backend-gone": ["unavailable", true],
  crashed: ["unavailable", true],
  network: ["unavailable", false],
  limit: ["limit", false],
};

/**
 * Waits for a request, fetches all of its result (8 MiB at most) and lets go of it.
 *
 * Fails by the kind of the failure: `denied`, `timeout`, `conflict`, `unavailable`, `limit`, and `invalid`
 * where the script threw or cannot be parsed. Where it is still pending, `timeout`: it goes on, and a
 * later call may wait for it. Where a dialog keeps it from ending, `conflict`.
 */
export function resultOf(request: string, milliseconds?: number): RequestResult {
  const outcome = wait(request, milliseconds);
  switch (outcome.state) {
    case "done":
      return complete(request, outcome);
    case "failed": {
      const [code, retryable] = CODES[outcome.kind] ?? ["invalid", false];
      generated.acknowledge(request);
      throw new ToolError(code, `${outcome.kind}: ${outcome.message}`, { retryable });
    }
    case "pending":
      if (outcome.dialog !== undefined) {
        throw new ToolError("conflict", `a dialog of the page waits for an answer: ${outcome.dialog.message}`, { retryable: false });
      }
      throw ToolError.timeout(`the page has not answered yet; the request ${request} goes on`);
    default:
      throw ToolError.gone("the result is not kept any more");
  }
}

function complete(request: string, { mimeType, data, bytes }: Outcome): RequestResult {
  if (bytes > LARGEST_RESULT) throw ToolError.limit(`the result has ${bytes} bytes, and ${LARGEST_RESULT} are read at most`);
  const whole = new Uint8Array(bytes);
  whole.set(data.subarray(0, bytes));
  for (let read = data.length; read < bytes; ) {
    const piece = generated.readResult(request, read, 1_048_576);
    if (piece.data.length === 0) throw ToolError.gone("the rest of the result is not kept any more");
    whole.set(piece.data.subarray(0, bytes - read), read);
    read += piece.data.length;
  }
  generated.acknowledge(request);
  return { mimeType, data: whole };
}

/** Runs JavaScript in a page, and returns what it comes to. Promises are awaited. Fails as {@link resultOf}. */
export function run<Value>(id: string, script: string, options: ScriptOptions = {}): Value {
  return jsonResult<Value>(resultOf(executeScript(id, script, options)));
}

/** Does something else with a page, and returns the result where that is JSON. Fails as {@link resultOf}. */
export function carryOut<Value>(id: string, operation: string, parameters: object = {}, milliseconds = 0): Value {
  return jsonResult<Value>(resultOf(perform(id, operation, parameters, milliseconds)));
}

/** What a page was once it had loaded. */
export interface Navigation {
  /** The final address. */
  readonly url: string;
  /** The status of HTTP; absent where there is none. */
  readonly status?: number;
  readonly title: string;
  readonly mime_type?: string;
  readonly redirects?: unknown;
  /** The address turned out to be a download. */
  readonly download?: boolean;
}

/** Goes to an address, and returns once it has loaded. Fails as {@link resultOf}: `denied` where the origin is not granted. */
export function navigate(id: string, url: string, milliseconds = 0): Navigation {
  return carryOut<Navigation>(id, "navigate", { url }, milliseconds);
}

/** A picture of what is seen. Parameters are those of the contract. */
export function screenshot(id: string, parameters: object = {}): RequestResult {
  return resultOf(perform(id, "screenshot", parameters));
}

function jsonResult<Value>({ data }: RequestResult): Value {
  return JSON.parse(decodeUtf8(data)) as Value;
}
