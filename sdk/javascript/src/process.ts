// Child processes of the host, started and followed on behalf of the calling session.
//
// An id outlives the call: give it to the model and accept it in a later call. Everything may fail
// with `denied`, `not-found` where this owner has no such process, and `unavailable`.

import * as generated from "./generated/process.js";
import { remaining } from "./generated/caller.js";
import type { Condition, Info, Launch, Piece, Waited } from "./generated/process.js";
import { decodeUtf8, encodeUtf8 } from "./utf8.js";

export { closeInput, head, list, poll, read, signal, stop, tail } from "./generated/process.js";
export type { Advice, Condition, Info, Outcome, Piece, Polled, Position, Progress, Waited } from "./generated/process.js";

/** One of the two outputs of a process. */
export type StreamName = "stdout" | "stderr";

/** How a process is started; whatever is left out is as the contract says. */
export interface LaunchOptions {
  /** Where it starts: a path of the workspace. The workspace itself by default. It must exist. */
  readonly directory?: string;
  /** Variables beside those that the host sets. Only names that the grant lists. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether {@link write} writes to its standard input, which otherwise is at its end. */
  readonly input?: boolean;
  /** Milliseconds after which it is killed, however it goes. */
  readonly lifetimeMilliseconds?: number;
  /** Milliseconds without any output after which it is killed. */
  readonly silenceMilliseconds?: number;
}

/** Milliseconds of a call that are kept for its answer. */
const RESERVE = 500;

/** The most bytes of one read: 1 MiB. */
const LARGEST_READ = 1_048_576;

function launchOf({ directory = "", environment = {}, input = false, ...limits }: LaunchOptions): Launch {
  return { directory, environment: Object.entries(environment), input, ...limits };
}

/** The time that the call has left, less what the answer needs. */
function untilAnswer(): number {
  return Math.max(0, remaining() - RESERVE);
}

/** What holds for the processes of this plugin here, by the names of the contract. */
export function status(): Readonly<Record<string, unknown>> {
  return JSON.parse(generated.status()) as Record<string, unknown>;
}

/**
 * Starts a program with arguments, without a shell, and returns the id of the process once it runs.
 *
 * Fails with `denied` where the grant does not name the program; `limit` where as many run as may;
 * `invalid` where it cannot be run or something is malformed.
 */
export function spawn(program: string, args: readonly string[] = [], options: LaunchOptions = {}): string {
  return generated.spawn(program, args as string[], launchOf(options));
}

/** Hands a text to the system's shell, untouched. Fails as {@link spawn}, and with `denied` where no shell is granted. */
export function spawnShell(command: string, options: LaunchOptions = {}): string {
  return generated.spawnShell(command, launchOf(options));
}

/**
 * Waits until something of `condition` happens, at most so many milliseconds: until shortly before the
 * end of the call by default. Costs nothing meanwhile and counts as no poll.
 *
 * Fails with `invalid` for a pattern that is too long or malformed.
 */
export function wait(id: string, condition: Partial<Condition> = { exit: true }, milliseconds = untilAnswer()): Waited {
  return generated.wait(id, { exit: false, ...condition }, milliseconds);
}

/** Writes to the standard input, and returns how many bytes it took in time. Fails with `gone` where it is closed. */
export function write(id: string, data: Uint8Array | string, milliseconds = untilAnswer()): number {
  return generated.write(id, typeof data === "string" ? encodeUtf8(data) : data, milliseconds);
}

/** The text of a piece. No character is split between one piece and the next; what is no UTF-8 is U+FFFD. */
export function textOf(piece: Piece): string {
  return decodeUtf8(piece.data);
}

/** How far and how long {@link follow} goes. */
export interface FollowOptions {
  /** The cursor to begin at: 0 by default. */
  readonly from?: number;
  /** Milliseconds: until shortly before the end of the call by default. */
  readonly milliseconds?: number;
  /** The most bytes of one piece, 1 MiB at most and by default. */
  readonly maxBytes?: number;
}

/**
 * What a process prints to one stream, piece by piece as it comes, until its end. Returns the process
 * as it is then; it still runs where the time was up first, and its last `next` is where to go on.
 */
export function* follow(
  id: string,
  stream: StreamName,
  { from = 0, milliseconds = untilAnswer(), maxBytes = LARGEST_READ }: FollowOptions = {},
): Generator<Piece, Info, undefined> {
  const deadline = Date.now() + milliseconds;
  let cursor = from;
  for (;;) {
    const left = Math.max(0, deadline - Date.now());
    const { process, reason } = wait(id, { output: { stream, cursor }, exit: true }, left);
    let piece = generated.read(id, { stream, cursor }, maxBytes);
    while (piece.data.length > 0) {
      cursor = piece.next;
      yield piece;
      piece = generated.read(id, { stream, cursor }, maxBytes);
    }
    if (process.outcome !== undefined || reason === "time-up") return process;
  }
}

/** A process that was waited for, and the end of what it printed. */
export interface RunResult {
  /** As it is now. It still runs where `outcome` is absent: the time was up first. */
  readonly process: Info;
  /** The last lines of its standard output, as text. */
  readonly stdout: string;
  /** The last lines of its standard error, as text. */
  readonly stderr: string;
}

/** How long {@link run} waits, and how much it reads. */
export interface RunOptions extends LaunchOptions {
  /** Milliseconds: until shortly before the end of the call by default. */
  readonly milliseconds?: number;
  /** The most bytes of each stream, 1 MiB at most; 65,536 by default. */
  readonly maxBytes?: number;
}

/** Starts a program and waits for its end. Fails as {@link spawn}. A program that fails is no error. */
export function run(program: string, args: readonly string[] = [], options: RunOptions = {}): RunResult {
  const { milliseconds = untilAnswer(), maxBytes = 65_536, ...launch } = options;
  const id = spawn(program, args, launch);
  const { process } = wait(id, { exit: true }, milliseconds);
  const end = (stream: StreamName) => textOf(generated.tail(id, stream, 0xffff_ffff, maxBytes));
  return { process, stdout: end("stdout"), stderr: end("stderr") };
}
