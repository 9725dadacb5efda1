/** Requests to the host, and its refusals. */

/** The host has refused something, in its own words. */
export class HostError extends Error {
  /** Such as `denied`, `not-found`, `conflict`, `limit`, `gone`. */
  readonly code: string;
  /** The status of the answer. */
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.name = "HostError";
    this.code = code;
    this.status = status;
  }

  /** Whether the same may work later. */
  get isTemporary(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** Where the host is, and the token that it is shown. */
export interface HostAddress {
  /** Such as `https://wharf.example` or `http://127.0.0.1:8137`. */
  readonly url: string;
  /** A token of the host, or what brings one for each request. */
  readonly token: string | (() => string | Promise<string>);
  /** Instead of the browser's own `fetch`. */
  readonly fetch?: typeof fetch;
}

/** How long a request may take that does not follow anything. */
const PATIENCE_MS = 30_000;

/** Speaks to one host. */
export class Host {
  readonly #address: HostAddress;

  constructor(address: HostAddress) {
    this.#address = address;
  }

  /** Sends a request; an answer that is no success is a {@link HostError}. */
  async ask(method: string, path: string, options: { body?: unknown; keepalive?: boolean; signal?: AbortSignal } = {}): Promise<Response> {
    const signals = [AbortSignal.timeout(PATIENCE_MS), ...(options.signal === undefined ? [] : [options.signal])];
    return this.#send(method, path, {}, { ...options, signal: any(signals) });
  }

  /** Follows a stream of events from behind the last one that was read. */
  async follow(path: string, lastEventId: string, signal: AbortSignal): Promise<Response> {
    return this.#send("GET", path, { accept: "text/event-stream", "last-event-id": lastEventId }, { signal });
  }

  async #send(
    method: string,
    path: string,
    more: Record<string, string>,
    options: { body?: unknown; keepalive?: boolean; signal: AbortSignal },
  ): Promise<Response> {
    const { url, token, fetch: own } = this.#address;
    const shown = typeof token === "string" ? token : await token();
    const headers: Record<string, string> = { authorization: `Bearer ${shown}`, ...more };
    const request: RequestInit = { method, headers, signal: options.signal, cache: "no-store", keepalive: options.keepalive ?? false };
    if (options.body !== undefined) {
      headers["content-type"] = "application/json";
      request.body = JSON.stringify(options.body);
    }
    const answer = await (own ?? fetch)(url.replace(/\/+$/, "") + path, request);
    if (!answer.ok) throw await refused(answer);
    return answer;
  }
}

async function refused(answer: Response): Promise<HostError> {
  let [code, message] = ["internal", `the host answers with the status ${answer.status}`];
  try {
    const told = (await answer.json()) as { error?: { code?: unknown; message?: unknown } };
    if (typeof told.error?.code === "string") code = told.error.code;
    if (typeof told.error?.message === "string") message = told.error.message;
  } catch {
    // Something between here and the host has answered in its own words.
  }
  return new HostError(code, answer.status, message);
}

/** Aborted with the first of them; browsers know `AbortSignal.any` since 2024. */
function any(signals: AbortSignal[]): AbortSignal {
  const both = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) both.abort(signal.reason);
    else signal.addEventListener("abort", () => both.abort(signal.reason), { once: true, signal: both.signal });
  }
  return both.signal;
}
