// Pages that a host drives, and tools that an agent calls over HTTP meanwhile.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { CheckFailed, Place, within } from "./harness.mjs";

const BUNDLED = ["browser", "content-store", "planning", "playbook", "terminal", "workspace"];
/** A configuration without a bundled plugin. */
export const BARE = BUNDLED.map(name => `[plugin.${name}]\nenabled = false\n`).join("");

/** A place for a host that drives the pages of another one. */
export function drivingPlace(server) {
  const origins = JSON.stringify([server.url.origin]);
  return new Place(`${BARE}[plugin.host.grants.webview]\nreason = "a test"\norigins = ${origins}\nprivate_addresses = true\n`);
}

/** The link that `wharf console` makes. */
export async function consoleLink(place) {
  const wanted = ["console", "--print", "--data", place.data, "--config", place.configuration];
  return (await promisify(execFile)(place.binary, wanted)).stdout.trim();
}

/** A route of a host. */
export async function ask(server, method, route, body, headers = {}) {
  const answer = await fetch(new URL(route, server.url), {
    method,
    headers: {
      authorization: `Bearer ${server.token}`,
      "wharf-session": "test",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new CheckFailed(`${method} ${route}: ${answer.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** A page of the driving host. */
export class Driven {
  static async open(driver, url, size = {}) {
    const page = new Driven();
    page.driver = driver;
    page.path = `/v1/pages/${(await ask(driver, "POST", "/v1/pages", { dialogs: "dismiss", ...size })).page}`;
    await page.outcome(await ask(driver, "POST", `${page.path}/operations`, { operation: "navigate", parameters: { url } }));
    return page;
  }

  async outcome({ request }) {
    for (;;) {
      const outcome = await ask(this.driver, "GET", `${this.path}/requests/${request}?wait_ms=10000`);
      if (outcome.state === "pending") continue;
      if (outcome.state !== "done") throw new CheckFailed(`a request of the page ended so: ${JSON.stringify(outcome)}`);
      return JSON.parse(outcome.text);
    }
  }

  async run(script) {
    return this.outcome(await ask(this.driver, "POST", `${this.path}/scripts`, { script }));
  }

  /** Waits until a script comes to this. */
  async until(script, wanted, what) {
    const waiting = async () => {
      for (;;) {
        const found = await this.run(script);
        if (found === wanted) return;
        await new Promise(resolve => setTimeout(resolve, 20));
      }
    };
    try {
      await within(waiting(), what);
    } catch (error) {
      const log = await ask(this.driver, "GET", `${this.path}/logs/console`);
      throw new CheckFailed(`${error.message}; the page says ${JSON.stringify(log.entries)}`);
    }
  }

  close() {
    return ask(this.driver, "DELETE", this.path);
  }
}

const MODERN = "2026-07-28";

/** Head and body of a request of the protocol, with further members of its `_meta`. */
export function message(server, method, params, more = {}) {
  const headers = {
    authorization: `Bearer ${server.token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": MODERN,
    "mcp-method": method,
  };
  if (params.name) headers["mcp-name"] = params.name;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "dev.wharf/sessionId": "agent",
    ...more,
  };
  return { headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }) };
}

/** A request of the protocol; its events as they come, its answer in the end. */
export async function request(server, method, params, onEvent = () => {}, signal) {
  const asked = message(server, method, params, { progressToken: 1 });
  const answer = await fetch(server.url, { method: "POST", ...asked, signal });
  if (!(answer.headers.get("content-type") ?? "").startsWith("text/event-stream")) return answer.json();
  const decoder = new TextDecoder();
  let rest = "", last;
  for await (const piece of answer.body) {
    rest += decoder.decode(piece, { stream: true });
    const frames = rest.split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const data = frame.split("\n").filter(line => line.startsWith("data:")).map(line => line.slice(5)).join("\n");
      if (data.trim() === "") continue;
      last = JSON.parse(data);
      onEvent(last);
    }
  }
  return last;
}

export const call = (server, name, args = {}, onEvent, signal) =>
  request(server, "tools/call", { name, arguments: args }, onEvent, signal);
