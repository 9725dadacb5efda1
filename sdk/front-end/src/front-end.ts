/** A front end: connected, followed, and connected again. */

import { EventReader } from "./events.js";
import type { Served } from "./function.js";
import { Host, HostError, type HostAddress } from "./host.js";
import { Running, pause, type ToldCall } from "./running.js";

/** What is served, and where. */
export interface Options extends HostAddress {
  /** 1 to 32 characters of `[a-z0-9-]`: the functions are listed as `app_NAME__FUNCTION`. */
  readonly name: string;
  /** By their names: 1 to 64 characters of `[A-Za-z0-9_-]` without two underscores in a row. */
  readonly functions: Readonly<Record<string, Served>>;
  /**
   * Whether this takes the place of a front end of the same name and token, as a page does that is loaded again; true where
   * absent. The one whose place is taken ends with `replaced`.
   */
  readonly replace?: boolean;
  /** Told whenever the state changes. */
  readonly onState?: (state: State) => void;
  /** Told of what went wrong and ends nothing: a lost connection, an answer that the host refuses, a function that threw. */
  readonly onError?: (error: unknown) => void;
  /** How long the host may be silent before the connection counts as lost, in milliseconds; 45 s where absent. */
  readonly silenceMs?: number;
}

/** Where a front end stands. */
export type State =
  | { readonly is: "connected"; readonly tools: readonly string[] }
  | { readonly is: "waiting"; readonly because: unknown }
  | { readonly is: "closed"; readonly because: "disconnected" | "replaced" | Error };

interface Description {
  readonly front_end: string;
  readonly tools: readonly string[];
}

const PLACE = "/v1/front-ends";
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;

/**
 * Connects a front end. Its functions are tools of the whole tenant for as long as it is connected; where the connection or
 * the host is lost it comes back by itself, and calls that still wait go on.
 *
 * Fails where the host refuses it for good: a wrong token, an illegal definition, a name that is taken.
 */
export async function connect(options: Options): Promise<FrontEnd> {
  const frontEnd = new FrontEnd(options);
  await frontEnd.begin();
  return frontEnd;
}

/** A front end that serves until it is disconnected. */
export class FrontEnd {
  readonly #options: Options;
  readonly #host: Host;
  readonly #ends = new AbortController();
  #state: State = { is: "waiting", because: undefined };
  #connected: { id: string; running: Running; lastEvent: string } | undefined;
  #closed: Promise<void> = Promise.resolve();
  readonly #leave = (event: PageTransitionEvent): void => {
    if (!event.persisted) void this.disconnect();
  };

  /** See {@link connect}. */
  constructor(options: Options) {
    this.#options = options;
    this.#host = new Host(options);
  }

  /** Where it stands. */
  get state(): State {
    return this.#state;
  }

  /** Its functions as clients see them; none while it is not connected. */
  get tools(): readonly string[] {
    return this.#state.is === "connected" ? this.#state.tools : [];
  }

  /** Settled once it is closed, for whatever reason. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /** @internal */
  async begin(): Promise<void> {
    await this.#connect(this.#options.replace ?? true);
    globalThis.addEventListener?.("pagehide", this.#leave as EventListener);
    this.#closed = this.#serve();
  }

  /** Takes the functions away. Calls that run are aborted, and their callers are told. */
  async disconnect(): Promise<void> {
    const connected = this.#connected;
    if (this.#state.is === "closed") return;
    this.#close("disconnected");
    if (connected === undefined) return;
    try {
      // Sent though the page goes.
      await this.#host.ask("DELETE", `${PLACE}/${connected.id}`, { keepalive: true });
    } catch (error) {
      // The host takes away what nobody follows.
      if (!(error instanceof HostError && error.code === "not-found")) this.#report(error);
    }
  }

  async #connect(replace: boolean): Promise<void> {
    const tools = Object.entries(this.#options.functions).map(([name, { definition }]) => ({
      name,
      description: definition.description,
      title: definition.title,
      input_schema: definition.input,
      output_schema: definition.output,
      annotations: definition.annotations,
      timeout_ms: definition.timeoutMs,
    }));
    const answer = await this.#host.ask("POST", PLACE, { body: { name: this.#options.name, tools, replace }, signal: this.#ends.signal });
    const description = (await answer.json()) as Description;
    // What the host knew of the one before ended with that.
    this.#connected?.running.end("the host has lost this front end");
    const place = `${PLACE}/${description.front_end}`;
    const running = new Running(this.#host, place, this.#options.functions, error => this.#report(error));
    this.#connected = { id: description.front_end, running, lastEvent: "0" };
    this.#set({ is: "connected", tools: description.tools });
  }

  /** Follows, and comes back, until it is closed. */
  async #serve(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    let replaces = this.#options.replace ?? true;
    while (!this.#ends.signal.aborted) {
      try {
        if (this.#connected === undefined) await this.#connect(replaces);
        replaces = this.#options.replace ?? true;
        const how = await this.#follow(() => (pauseMs = FIRST_PAUSE_MS));
        if (how === "ended") {
          // Another one has its place, or the host has let go of it: whether the name is free tells.
          this.#connected?.running.end("this front end was disconnected");
          this.#connected = undefined;
          replaces = false;
          continue;
        }
        throw new Error("the connection to the host has ended");
      } catch (error) {
        if (this.#ends.signal.aborted) return;
        if (error instanceof HostError && !error.isTemporary) {
          if (error.code === "not-found" && this.#connected !== undefined) {
            // The host has started again, or has missed this front end for too long.
            this.#connected.running.end("the host has lost this front end");
            this.#connected = undefined;
            continue;
          }
          return this.#close(error.code === "conflict" ? "replaced" : error);
        }
        this.#report(error);
        this.#set({ is: "waiting", because: error });
      }
      // Not all at once where many have lost the same host.
      await pause(pauseMs * (0.5 + Math.random() / 2), this.#ends.signal);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  async #follow(alive: () => void): Promise<"ended" | "lost"> {
    const connected = this.#connected;
    if (connected === undefined) return "lost";
    const lost = new AbortController();
    const ends = (): void => lost.abort(this.#ends.signal.reason);
    this.#ends.signal.addEventListener("abort", ends);
    const silent = (): void => lost.abort(new Error("the host says nothing any more"));
    let watch = setTimeout(silent, this.#silenceMs);
    try {
      const answer = await this.#host.follow(`${PLACE}/${connected.id}/calls/events`, connected.lastEvent, lost.signal);
      if (answer.body === null) return "lost";
      if (this.#state.is !== "connected") this.#back(connected.id);
      const pieces = answer.body.getReader();
      const [decoder, events] = [new TextDecoder(), new EventReader()];
      for (;;) {
        const { done, value } = await pieces.read();
        if (done) return "lost";
        clearTimeout(watch);
        watch = setTimeout(silent, this.#silenceMs);
        alive();
        for (const told of events.read(decoder.decode(value, { stream: true }))) {
          if (!("event" in told)) continue;
          const { id, kind, data } = told.event;
          if (kind === "end") return "ended";
          if (kind === "call") connected.running.begin(JSON.parse(data) as ToldCall);
          if (kind === "cancel") {
            const { call, reason } = JSON.parse(data) as { call: number; reason: string };
            connected.running.cancel(call, reason);
          }
          if (id !== undefined) connected.lastEvent = id;
        }
      }
    } finally {
      clearTimeout(watch);
      this.#ends.signal.removeEventListener("abort", ends);
      lost.abort();
    }
  }

  #back(id: string): void {
    const tools = Object.keys(this.#options.functions).map(name => `app_${this.#options.name}__${name}`).sort();
    if (this.#connected?.id === id) this.#set({ is: "connected", tools });
  }

  get #silenceMs(): number {
    return this.#options.silenceMs ?? SILENCE_MS;
  }

  #close(because: "disconnected" | "replaced" | Error): void {
    if (this.#state.is === "closed") return;
    globalThis.removeEventListener?.("pagehide", this.#leave as EventListener);
    this.#connected?.running.end(typeof because === "string" ? `this front end is closed (${because})` : because.message);
    this.#connected = undefined;
    this.#ends.abort(new Error("this front end is closed"));
    this.#set({ is: "closed", because });
  }

  #set(state: State): void {
    this.#state = state;
    this.#options.onState?.(state);
  }

  #report(error: unknown): void {
    this.#options.onError?.(error);
  }
}
