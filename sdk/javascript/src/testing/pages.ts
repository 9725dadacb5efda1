// Web pages that a test plays: each request is done at once.

import { ToolError } from "../error.js";
import type { Outcome, PageInfo, PageOptions } from "../generated/webview.js";
import { encodeUtf8 } from "../utf8.js";

/** What a played address leads to. */
export interface PlayedPage {
  readonly title?: string;
  /** The status of HTTP, 200 by default. */
  readonly status?: number;
  /** The final address, where it is another one. */
  readonly url?: string;
  /** What a script comes to: a value that JSON has. What it throws is what the script threw. */
  readonly run?: (script: string) => unknown;
}

/** What an address leads to; where it is none, the server was not reached. */
export type Site = (url: string) => PlayedPage | undefined;

interface OpenPage {
  info: PageInfo;
  played: PlayedPage;
}

/** The interface `webview` over a played site. */
export class Pages {
  readonly #pages = new Map<string, OpenPage>();
  readonly #requests = new Map<string, Outcome>();
  #asked = 0;
  site: Site = () => undefined;

  status(): string {
    return JSON.stringify({ backend: "test", maximum_pages: 8, operations: ["navigate"], isolated_world: true });
  }

  open({ width, height }: PageOptions): PageInfo {
    if (this.#pages.size >= 8) throw new ToolError("limit", "8 pages are open, which is as many as may be", { retryable: true });
    const now = new Date().toISOString();
    const info: PageInfo = {
      id: `page-${++this.#asked}`,
      status: "ready",
      url: "about:blank",
      title: "",
      width: width || 1_280,
      height: height || 800,
      pending: 0,
      opened: now,
      lastUsed: now,
    };
    this.#pages.set(info.id, { info, played: {} });
    return info;
  }

  list(): PageInfo[] {
    return [...this.#pages.values()].map(({ info }) => info);
  }

  get(id: string): PageInfo {
    return this.#page(id).info;
  }

  close(id: string): void {
    this.#page(id);
    this.#pages.delete(id);
  }

  executeScript(id: string, script: string): string {
    const { played } = this.#page(id);
    return this.#answer(() => played.run?.(script) ?? null);
  }

  perform(id: string, operation: string, parameters: string): string {
    const page = this.#page(id);
    if (operation !== "navigate") return this.#failed("unsupported", `no test plays ${operation}`);
    const { url } = JSON.parse(parameters) as { url: string };
    const played = this.site(url);
    if (played === undefined) return this.#failed("network", `no test plays ${url}`);
    page.played = played;
    const { title = "", status = 200 } = played;
    page.info = { ...page.info, url: played.url ?? url, title };
    return this.#answer(() => ({ url: page.info.url, status, title, mime_type: "text/html", redirects: 0 }));
  }

  poll(request: string): Outcome {
    return this.#requests.get(request) ?? outcome("unknown", {});
  }

  wait(request: string): Outcome {
    return this.poll(request);
  }

  acknowledge(request: string): void {
    this.#requests.delete(request);
  }

  cancel(): void {}

  readResult(): never {
    throw ToolError.gone("the whole result was sent");
  }

  answerDialog(): never {
    throw ToolError.conflict("no dialog is open");
  }

  entries(_id: string, _log: string, after: number): object {
    return { entries: "[]", next: after, lost: 0 };
  }

  #page(id: string): OpenPage {
    const page = this.#pages.get(id);
    if (page === undefined) throw ToolError.notFound(`there is no page ${id}`);
    return page;
  }

  #answer(act: () => unknown): string {
    try {
      const data = encodeUtf8(JSON.stringify(act()));
      return this.#ended(outcome("done", { data, bytes: data.length, mimeType: "application/json" }));
    } catch (thrown) {
      return this.#failed("exception", String(thrown));
    }
  }

  #failed(kind: string, message: string): string {
    return this.#ended(outcome("failed", { kind, message }));
  }

  #ended(ended: Outcome): string {
    const request = `request-${++this.#asked}`;
    this.#requests.set(request, ended);
    return request;
  }
}

function outcome(state: string, rest: Partial<Outcome>): Outcome {
  return { state, elapsedMilliseconds: 0, kind: "", message: "", mimeType: "", data: new Uint8Array(0), bytes: 0, truncated: false, ...rest };
}
