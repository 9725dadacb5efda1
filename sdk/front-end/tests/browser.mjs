// Runs the page of README.md in a real browser, against a real host that is stopped and started again meanwhile. A second
// host has the browser: it drives the page by its routes of web pages.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { BARE, Driven, ask, call, request } from "../../../tests/conformance/driven.mjs";
import { CheckFailed, Place, Report, Server, within } from "../../../tests/conformance/harness.mjs";
import * as events from "./events.mjs";

const HERE = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const PAGE = /```html\n([^]*?)```/.exec(readFileSync(path.join(HERE, "README.md"), "utf8"))[1];

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
