/** Calls that run: each is made once, however often it is told, and answered once. */

import { FunctionError, type Answer, type Call, type Part, type Served } from "./function.js";
import { HostError, type Host } from "./host.js";

/** A call as the host tells it. */
export interface ToldCall {
  readonly number: number;
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly session: string;
  readonly assistant?: string;
  readonly thread?: string;
  readonly remaining_ms: number;
}

interface AnswerBody {
  content?: { text?: string; base64?: string; mime_type?: string }[];
  structured?: unknown;
  error?: { code: string; message: string };
}

/** How long to wait before an answer is sent again that did not arrive. */
const AGAIN_MS = [200, 500, 1_000, 2_000, 5_000];

/** The calls of one connection. */
export class Running {
  readonly #host: Host;
  readonly #place: string;
  readonly #functions: Readonly<Record<string, Served>>;
  readonly #report: (error: unknown) => void;
  readonly #running = new Map<number, AbortController>();
  /** Numbers up to which every call was told. */
  #told = 0;

  constructor(host: Host, place: string, functions: Readonly<Record<string, Served>>, report: (error: unknown) => void) {
    this.#host = host;
    this.#place = place;
    this.#functions = functions;
    this.#report = report;
  }

  /** Makes a call, unless it runs already or has been made. */
  begin(told: ToldCall): void {
    // Numbers grow, and what waits is told in their order.
    if (told.number <= this.#told) return;
    this.#told = told.number;
    void this.#run(told);
  }

  /** Nobody waits for this call any more. */
  cancel(call: number, reason: string): void {
    this.#running.get(call)?.abort(new Error(`nobody waits for the answer any more (${reason})`));
  }

  /** Nobody waits for any of them. */
  end(reason: string): void {
    for (const controller of this.#running.values()) controller.abort(new Error(reason));
  }

  async #run(told: ToldCall): Promise<void> {
    const controller = new AbortController();
    this.#running.set(told.number, controller);
    const path = `${this.#place}/calls/${told.number}`;
    try {
      const progress = new ProgressSender(this.#host, path, controller.signal);
      const body = await this.#answer(told, controller.signal, progress);
      await progress.stop();
      if (!controller.signal.aborted) await this.#send(path, body, controller.signal);
    } catch (error) {
      this.#report(error);
    } finally {
      this.#running.delete(told.number);
    }
  }

  async #answer(told: ToldCall, signal: AbortSignal, progress: ProgressSender): Promise<AnswerBody> {
    const served = Object.hasOwn(this.#functions, told.tool) ? this.#functions[told.tool] : undefined;
    if (served === undefined) return { error: { code: "not-found", message: `this front end has no function ${told.tool}` } };
    const call: Call = {
      number: told.number,
      session: told.session,
      assistant: told.assistant,
      thread: told.thread,
      deadline: Date.now() + told.remaining_ms,
      signal,
      progress: (done, total, message) => progress.tell(done, total, message),
    };
    const { definition } = served;
    try {
      const given = await definition.call(told.arguments as never, call);
      return definition.output === undefined ? { content: parts(given as Answer) } : { structured: given };
    } catch (error) {
      if (error instanceof FunctionError) return { error: { code: error.code, message: error.message } };
      if (!signal.aborted) this.#report(error);
      return { error: { code: "internal", message: error instanceof Error ? error.message : String(error) } };
    }
  }

  /** Sends an answer until the host has it, or nobody waits for it any more. */
  async #send(path: string, body: AnswerBody, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.#host.ask("POST", `${path}/answer`, { body, signal });
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof HostError && !error.isTemporary) {
          // It was answered, or nobody waits: an answer whose own answer was lost ends here, too.
          if (["conflict", "gone", "not-found"].includes(error.code)) return;
          if (body.error !== undefined) throw error;
          // It breaks a rule, such as the function's own output schema, and the call still waits.
          this.#report(error);
          body = { error: { code: "internal", message: `the function has answered what it may not: ${error.message}` } };
          continue;
        }
        await pause(AGAIN_MS[Math.min(attempt, AGAIN_MS.length - 1)] ?? 5_000, signal);
      }
    }
  }
}

/** Sends progress one after the other; what comes meanwhile replaces what waits. */
class ProgressSender {
  readonly #host: Host;
  readonly #path: string;
  readonly #signal: AbortSignal;
  #next: { done: number; total?: number; message?: string } | undefined;
  #sending: Promise<void> | undefined;
  #stopped = false;

  constructor(host: Host, path: string, signal: AbortSignal) {
    this.#host = host;
    this.#path = path;
    this.#signal = signal;
  }

  tell(done: number, total?: number, message?: string): void {
    if (this.#stopped || this.#signal.aborted) return;
    this.#next = { done, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) };
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
  }

  /** What was told last is sent before this returns. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#next !== undefined && !this.#signal.aborted) {
      const body = this.#next;
      this.#next = undefined;
      try {
        await this.#host.ask("POST", `${this.#path}/progress`, { body, signal: this.#signal });
      } catch {
        // The caller that waits for the answer can do without it.
      }
    }
  }
}

function parts(answer: Answer): { text?: string; base64?: string; mime_type?: string }[] {
  if (answer === undefined) return [];
  const all: readonly Part[] = Array.isArray(answer) ? (answer as readonly Part[]) : [answer as Part];
  return all.map(part => {
    if (typeof part === "string") return { text: part };
    if ("bytes" in part) return { base64: base64(part.bytes), mime_type: part.mimeType };
    return { text: part.text, ...(part.mimeType === undefined ? {} : { mime_type: part.mimeType }) };
  });
}

function base64(bytes: Uint8Array): string {
  let text = "";
  // A call takes so many arguments, and no more.
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** Waits, and no longer than until it is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done);
  });
}
