// Runs the page of README.md in a real browser, against a real host that is stopped and started again meanwhile. A second
// host has the browser: it drives the page by its routes of web pages.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { CheckFailed, Place, Report, Server, within } from "../../../tests/conformance/harness.mjs";
import * as events from "./events.mjs";

const HERE = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const PAGE = /```html\n([^]*?)```/.exec(readFileSync(path.join(HERE, "README.md"), "utf8"))[1];
const BUNDLED = ["browser", "content-store", "planning", "playbook", "terminal", "workspace"];
const BARE = BUNDLED.map(name => `[plugin.${name}]\nenabled = false\n`).join("");

/** Serves the page, the built package, and where the host is. */
async function site(where) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const module = /^\/wharf-front-end\/([a-z-]+\.js)$/.exec(pathname);
    const answer = (type, body) => response.writeHead(200, { "content-type": type, "cache-control": "no-store" }).end(body);
    if (pathname === "/") return answer("text/html", PAGE);
    if (pathname === "/wharf.json") return answer("application/json", JSON.stringify(where()));
    if (module) return answer("text/javascript", readFileSync(path.join(HERE, "dist", module[1])));
    response.writeHead(404).end();
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** A route of a host. */
async function ask(server, method, route, body, headers = {}) {
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
class Driven {
  static async open(driver, url) {
    const page = new Driven();
    page.driver = driver;
    page.path = `/v1/pages/${(await ask(driver, "POST", "/v1/pages", { dialogs: "dismiss" })).page}`;
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

/** A request of the protocol; its events as they come, its answer in the end. */
async function request(server, method, params, onEvent = () => {}, signal) {
  const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": MODERN, "mcp-method": method };
  if (params.name) headers["mcp-name"] = params.name;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "dev.wharf/sessionId": "agent",
    progressToken: 1,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });
  const answer = await fetch(server.url, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json", ...headers },
    body,
    signal,
  });
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

const call = (server, name, args = {}, onEvent, signal) =>
  request(server, "tools/call", { name, arguments: args }, onEvent, signal);
const listed = async server => (await request(server, "tools/list", {})).result.tools.map(tool => tool.name);
const code = answer => answer.result?._meta?.["dev.wharf/error"]?.code;

async function check(report, served, driver, origin) {
  let server = await Server.start(served.place, served.listens);
  served.server = server;
  const page = await Driven.open(driver, `${origin}/`);
  await page.until("document.body.dataset.wharf ?? null", "connected", "the page connects");
  const tools = await listed(server);
  report.check(
    JSON.stringify(tools) === JSON.stringify(["app_editor__read_line", "app_editor__review"]),
    "functions of a page in a browser are tools",
    tools,
  );

  const line = await call(server, "app_editor__read_line", { line: 2 });
  report.check(line.result.structuredContent?.text === "that is the question", "a typed function answers", line);
  const unfit = await call(server, "app_editor__read_line", { line: 0 });
  report.check(code(unfit) === "invalid", "the host refuses arguments that break the schema", unfit);
  const missing = await call(server, "app_editor__read_line", { line: 9 });
  report.check(code(missing) === "not-found", "an error of the function has its code", missing);

  const progress = [];
  const told = await call(server, "app_editor__review", {}, event => {
    if (event.method === "notifications/progress") progress.push(event.params);
  });
  report.check(told.result.content[0].text === "2 lines were shown", "a function without an output schema answers", told);
  const last = progress.at(-1);
  report.check(last?.progress === 2 && last?.total === 2, "progress reaches the caller", progress);

  // The caller goes in the middle: the page hears of it, and stops.
  const gone = new AbortController();
  const abandoned = call(server, "app_editor__review", { milliseconds: 100 }, event => {
    if (event.method === "notifications/progress") gone.abort();
  }, gone.signal).catch(error => error);
  report.check((await abandoned) instanceof Error, "a caller goes in the middle of a call");
  const place = (await ask(server, "GET", "/v1/front-ends")).front_ends[0].front_end;
  const waits = async () => {
    while ((await ask(server, "GET", "/v1/front-ends")).front_ends[0]?.waiting_calls !== 0) {
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  };
  await within(waits(), "the call is taken back");
  report.check(true, "the call is taken back, and the page goes on");

  // The host is killed and comes back at the same address: so does the page.
  await server.stop("SIGKILL");
  await page.until("document.body.dataset.wharf", "waiting", "the page misses its host");
  server = await Server.start(served.place, served.listens);
  served.server = server;
  await page.until("document.body.dataset.wharf", "connected", "the page comes back");
  const again = await call(server, "app_editor__read_line", { line: 1 });
  report.check(again.result.structuredContent?.text === "To be, or not to be", "after a restart of the host it serves again", again);
  const now = (await ask(server, "GET", "/v1/front-ends")).front_ends;
  report.check(now.length === 1 && now[0].front_end !== place, "it is connected once, and anew", now);

  // Another page of the same name takes its place.
  const second = await Driven.open(driver, `${origin}/`);
  await second.until("document.body.dataset.wharf ?? null", "connected", "the second page connects");
  await page.until("document.body.dataset.wharf", "closed", "the first one gives way");
  report.check((await listed(server)).length === 2, "a page that is loaded again takes the place of the one before");
  await second.run("document.getElementById('text').value = 'Words, words, words'; 1");
  const theirs = await call(server, "app_editor__read_line", { line: 1 });
  report.check(theirs.result.structuredContent?.text === "Words, words, words", "calls go to the second page", theirs);

  // A page that is left disconnects.
  await second.close();
  const left = async () => {
    while ((await listed(server)).length > 0) await new Promise(resolve => setTimeout(resolve, 20));
  };
  await within(left(), "the functions of a page that was closed are gone");
  report.check(true, "a page that is left takes its functions along");
  await page.close();
}

const report = new Report();
const served = { place: undefined, server: undefined, listens: undefined };
let driver, pages;
try {
  events.check(report);
  pages = await site(() => ({ url: served.server.url.origin, token: served.server.token }));
  // Its port is known once it serves: it has to be the same again later.
  served.place = new Place(`${BARE}[http]\norigins = ["${pages.origin}"]\n[host.limits]\nfront_end_silent_milliseconds = 5000\n`);
  const probe = await Server.start(served.place);
  served.listens = probe.url.host;
  await probe.stop();
  const origins = JSON.stringify([pages.origin, `http://${served.listens}`]);
  const granted = `[plugin.host.grants.webview]\nreason = "a test"\norigins = ${origins}\nprivate_addresses = true\n`;
  const driving = new Place(`${BARE}${granted}`);
  try {
    driver = await Server.start(driving);
    await check(report, served, driver, pages.origin);
  } finally {
    await driver?.stop();
    driving.remove();
  }
  console.log(`front end: ${report.passed} checks passed`);
} catch (error) {
  console.error(error instanceof CheckFailed ? `FAILED ${error.message}` : error);
  console.error(`The end of the host's log:\n${served.server?.log.slice(-4_000)}`);
  process.exitCode = 1;
} finally {
  await served.server?.stop();
  served.place?.remove();
  pages?.close();
}
