// Programs that a test plays: each runs to its end when it is started.

import { ToolError } from "../error.js";
import type { Condition, Info, Launch, Piece, Position, Waited } from "../generated/process.js";
import { decodeUtf8, encodeUtf8 } from "../utf8.js";

/** How a played program was started. */
export interface ProgramStart {
  readonly args: readonly string[];
  readonly launch: Launch;
}

/** What a played program printed, and how it ended. */
export interface ProgramEnd {
  readonly stdout?: string;
  readonly stderr?: string;
  /** 0 by default. */
  readonly code?: number;
}

/** A program as a test plays it. */
export type PlayedProgram = (start: ProgramStart) => ProgramEnd;

interface PlayedProcess {
  readonly info: Info;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** The interface `process` over played programs. */
export class Programs {
  readonly #programs = new Map<string, PlayedProgram>();
  readonly #processes = new Map<string, PlayedProcess>();

  /** Plays a program; another one of the name before it is gone. */
  add(name: string, program: PlayedProgram): void {
    this.#programs.set(name, program);
  }

  status(): string {
    return JSON.stringify({ shell: false, programs: [...this.#programs.keys()], containment: "none", network: false });
  }

  spawn(program: string, args: readonly string[], launch: Launch): string {
    const played = this.#programs.get(program);
    if (played === undefined) throw ToolError.denied(`no test plays the program \`${program}\``);
    const { stdout = "", stderr = "", code = 0 } = played({ args, launch });
    const id = `process-${this.#processes.size + 1}`;
    const [out, error] = [encodeUtf8(stdout), encodeUtf8(stderr)];
    const now = new Date().toISOString();
    const progress = (bytes: number) => ({ bytes, evictedBefore: 0, open: false, damaged: false });
    const info: Info = {
      id,
      command: [program, ...args].join(" ").slice(0, 1_024),
      status: code === 0 ? "finished" : "failed",
      outcome: { kind: "exited", code },
      started: now,
      finished: now,
      stdout: progress(out.length),
      stderr: progress(error.length),
      descendants: 0,
    };
    this.#processes.set(id, { info, stdout: out, stderr: error });
    return id;
  }

  spawnShell(): string {
    throw ToolError.denied("no test plays a shell");
  }

  list(): Info[] {
    return [...this.#processes.values()].map(({ info }) => info);
  }

  poll(id: string, lines: number, maxBytes: number): object {
    const { info } = this.#process(id);
    return { process: info, stdout: this.tail(id, "stdout", lines, maxBytes), stderr: this.tail(id, "stderr", lines, maxBytes) };
  }

  /** Patterns are matched by JavaScript's regular expressions, which differ from the host's in details. */
  wait(id: string, { output, pattern, exit }: Condition): Waited {
    const process = this.#process(id);
    if (pattern !== undefined) {
      const [{ stream, cursor }, expression] = pattern;
      const text = decodeUtf8(this.#stream(process, stream).subarray(cursor));
      const match = new RegExp(expression, "m").exec(text);
      if (match !== null) {
        const start = cursor + encodeUtf8(text.slice(0, match.index)).length;
        return { reason: "pattern", found: [start, start + encodeUtf8(match[0]).length], process: process.info };
      }
    }
    if (output !== undefined && this.#stream(process, output.stream).length > output.cursor) {
      return { reason: "output", process: process.info };
    }
    return { reason: exit ? "exit" : "time-up", process: process.info };
  }

  read(id: string, { stream, cursor }: Position, maxBytes: number): Piece {
    return piece(this.#stream(this.#process(id), stream), cursor, maxBytes);
  }

  head(id: string, stream: string, lines: number, maxBytes: number): Piece {
    const bytes = this.#stream(this.#process(id), stream);
    const text = decodeUtf8(bytes).split(/(?<=\n)/).slice(0, lines).join("");
    return piece(bytes, 0, Math.min(maxBytes, encodeUtf8(text).length));
  }

  tail(id: string, stream: string, lines: number, maxBytes: number): Piece {
    const bytes = this.#stream(this.#process(id), stream);
    const all = decodeUtf8(bytes).split(/(?<=\n)/);
    const length = encodeUtf8(all.slice(Math.max(0, all.length - lines)).join("")).length;
    return piece(bytes, bytes.length - Math.min(maxBytes, length), maxBytes);
  }

  write(): number {
    throw ToolError.gone("the program has ended");
  }

  closeInput(id: string): void {
    this.#process(id);
  }

  signal(id: string): void {
    this.#process(id);
    throw ToolError.gone("the program has ended");
  }

  stop(id: string): Info {
    return this.#process(id).info;
  }

  #process(id: string): PlayedProcess {
    const process = this.#processes.get(id);
    if (process === undefined) throw ToolError.notFound(`there is no process ${id}`);
    return process;
  }

  #stream(process: PlayedProcess, stream: string): Uint8Array {
    if (stream === "stdout") return process.stdout;
    if (stream === "stderr") return process.stderr;
    throw ToolError.invalid("`stream` must be `stdout` or `stderr`");
  }
}

function piece(bytes: Uint8Array, from: number, maxBytes: number): Piece {
  const start = Math.min(from, bytes.length);
  let next = Math.min(bytes.length, start + Math.min(maxBytes, 1_048_576));
  // No character is split.
  while (next < bytes.length && next > start && ((bytes[next] as number) & 0xc0) === 0x80) next--;
  return { start, next, evictedBefore: 0, end: bytes.length, data: bytes.slice(start, next) };
}
