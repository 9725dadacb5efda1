// Interactive programs in terminals of the host, typed to and read on behalf of the calling session.
//
// An id outlives the call. Everything may fail with `denied`, `not-found` where this owner has no such
// terminal, and `unavailable`.

import * as generated from "./generated/terminal.js";
import type { Input, Launch, Piece, Started, Turn, TurnOptions } from "./generated/terminal.js";
import { remaining } from "./generated/caller.js";
import { jsonOf } from "./answer.js";
import { ToolError } from "./error.js";
import { decodeUtf8 } from "./utf8.js";

export { cancel, close, follow, get, list, press, read, resize, screen } from "./generated/terminal.js";
export type {
  Completion,
  Extent,
  Followed,
  Info,
  Input,
  Outcome,
  Piece,
  ScreenView,
  Started,
  Turn,
  TurnOptions,
} from "./generated/terminal.js";

/** How a program is started; whatever is left out is as the contract says. */
export interface LaunchOptions {
  /** Where it starts: a path of the workspace. The workspace itself by default. It must exist. */
  readonly directory?: string;
  /** Variables beside those that the host sets. Only names that the grant lists. */
  readonly environment?: Readonly<Record<string, string>>;
  /** 1 to 500; 80 by default. */
  readonly columns?: number;
  /** 1 to 200; 24 by default. */
  readonly rows?: number;
  /** The preset of its turns, or a profile that the operator configured. */
  readonly preset?: string;
  /** Whether a program that crashed is started again. */
  readonly restart?: "never" | "on-crash";
}

/** Milliseconds of a call that are kept for its answer. */
const RESERVE = 500;

function launchOf({ directory = "", environment = {}, columns = 0, rows = 0, preset, restart }: LaunchOptions): Launch {
  const options = restart === undefined ? undefined : jsonOf({ restart }, "the options");
  return { directory, environment: Object.entries(environment), columns, rows, preset, options };
}

/** What holds for the terminals of this plugin here, by the names of the contract. */
export function status(): Readonly<Record<string, unknown>> {
  return JSON.parse(generated.status()) as Record<string, unknown>;
}

/** Starts a program in a terminal of its own, without a shell. Fails with `denied`, `limit` and `invalid`. */
export function start(program: string, args: readonly string[] = [], options: LaunchOptions = {}): Started {
  return generated.start(program, args as string[], launchOf(options));
}

/** Starts the system's shell for interactive use. Fails as {@link start}. */
export function startShell(options: LaunchOptions = {}): Started {
  return generated.startShell(launchOf(options));
}

/**
 * Types, and begins a turn: a text that Enter follows, or `Input` of the contract.
 *
 * Fails with `conflict` while another turn runs; `denied`, `limit` and `invalid` where it cannot be
 * typed; `gone` where the program has ended.
 */
export function send(id: string, input: string | Partial<Input>, options: Partial<TurnOptions> = {}): Turn {
  const typed = typeof input === "string" ? { text: input, submit: true } : input;
  return generated.send(id, { text: "", submit: false, keys: [], ...typed }, { prompts: [], ...options });
}

/** The text of a piece. What is no UTF-8 is U+FFFD. */
export function textOf(piece: Piece): string {
  return decodeUtf8(piece.data);
}

/** What a program made of one input. */
export interface TurnResult {
  /** As it is now. It still runs where `end` is absent: the time was up first. */
  readonly turn: Turn;
  /** What was printed, as text. */
  readonly text: string;
  /** Whether there was more than `maxBytes`. */
  readonly isCut: boolean;
}

/**
 * Types, and follows the turn to its end: until shortly before the end of the call by default, and to
 * `maxBytes` of output, 65,536 by default and 1 MiB at most. Fails as {@link send}.
 */
export function ask(
  id: string,
  input: string | Partial<Input>,
  options: Partial<TurnOptions> & { milliseconds?: number; maxBytes?: number } = {},
): TurnResult {
  const { milliseconds = Math.max(0, remaining() - RESERVE), maxBytes = 65_536, ...turnOptions } = options;
  if (!(maxBytes >= 1 && maxBytes <= 1_048_576)) throw ToolError.invalid("`maxBytes` is 1 to 1,048,576");
  const deadline = Date.now() + milliseconds;
  let turn = send(id, input, turnOptions);
  let cursor = turn.start;
  const parts: string[] = [];
  for (let room = maxBytes; room > 0; ) {
    const left = Math.max(0, deadline - Date.now());
    const followed = generated.follow(id, turn.number, cursor, room, left);
    turn = followed.turn;
    cursor = followed.piece.next;
    room -= followed.piece.data.length;
    parts.push(textOf(followed.piece));
    // Nothing comes only where the time was up, or where the next character does not fit.
    if (followed.piece.data.length === 0 || (turn.end !== undefined && cursor >= turn.end)) break;
  }
  return { turn, text: parts.join(""), isCut: turn.end !== undefined && cursor < turn.end };
}
