// What a browser does before 200 terminals, of which 50 print, and as many calls a second as there is time
// for: `node crowd.mjs`. One line for each view. A long task takes over 50 ms; a shift of the layout is how
// much of the page moved by itself, from 0 to 1.

import { Agent, request as send } from "node:http";

import { Driven, ask, consoleLink, drivingPlace, message } from "../conformance/driven.mjs";
import { Place, Server } from "../conformance/harness.mjs";

const TERMINALS = 200;
const SESSIONS = 20;
const IN_FLIGHT = 48;
const SECONDS = 10;
const VIEWS = ["now", "terminals", "processes", "audit", "sessions"];
const ROOM =
  '[plugin.host.grants.terminal]\nreason = "a crowd"\nshell = true\nprograms = ["sh"]\n' +
  "[terminal.limits]\nopen = 400\nopen_per_tenant = 400\nopen_per_session = 100\nopen_per_owner = 100\n" +
  "[stream.limits]\nstreams = 1000\nstreams_per_tenant = 1000\nstreams_per_session = 200\n" +
  "[http.limits]\nrequests_per_second = 100000\n";
const TOOL = "planning__get_current_state";
const WATCH = `
  const seen = { longTasks: 0, longest: 0, shift: 0, frames: 0, slowestFrame: 0 };
  const watch = new PerformanceObserver(list => {
    for (const one of list.getEntries()) {
      if (one.entryType === "layout-shift") seen.shift += one.value;
      else (seen.longTasks += 1), (seen.longest = Math.max(seen.longest, one.duration));
    }
  });
  watch.observe({ entryTypes: ["longtask", "layout-shift"] });
  let last = performance.now(), isOver = false;
  const frame = now => {
    seen.frames += 1;
    seen.slowestFrame = Math.max(seen.slowestFrame, now - last);
    last = now;
    if (!isOver) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  await new Promise(done => setTimeout(done, ${SECONDS * 1_000}));
  isOver = true;
  watch.disconnect();
  seen.rows = document.querySelectorAll("tbody tr").length;
  return seen;`;

/** Opens the terminals; every fourth prints five times a second. */
async function fill(server) {
  for (let number = 0; number < TERMINALS; number += 1) {
    const session = { "wharf-session": `s${number % SESSIONS}` };
    const { terminal } = await ask(server, "POST", "/v1/terminals", { columns: 80, rows: 24 }, session);
    const turn = { text: "while sleep 0.2; do date; done", submit: true };
    if (number % 4 === 0) await ask(server, "POST", `/v1/terminals/${terminal}/turns`, turn, session);
  }
}

/** Calls a tool again and again until it is stopped. */
class Load {
  calls = 0;
  failed = 0;
  isOver = false;

  constructor(server) {
    const { headers, body } = message(server, "tools/call", { name: TOOL, arguments: {} });
    this.body = body;
    this.url = server.url;
    this.options = {
      method: "POST",
      agent: new Agent({ keepAlive: true, maxSockets: IN_FLIGHT }),
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
    };
    this.workers = Array.from({ length: IN_FLIGHT }, () => this.work());
  }

  one() {
    return new Promise(done => {
      const failed = () => ((this.failed += 1), done());
      const asked = send(this.url, this.options, answer => {
        if (answer.statusCode !== 200) this.failed += 1;
        answer.resume().on("end", done).on("error", failed);
      });
      asked.on("error", failed);
      asked.end(this.body);
    });
  }

  async work() {
    while (!this.isOver) {
      await this.one();
      this.calls += 1;
    }
  }

  stop() {
    this.isOver = true;
    return Promise.all(this.workers);
  }
}

const served = { place: new Place(ROOM), server: undefined };
let driving;
try {
  served.server = await Server.start(served.place);
  driving = drivingPlace(served.server);
  const driver = await Server.start(driving);
  try {
    await fill(served.server);
    const page = await Driven.open(driver, await consoleLink(served.place), { width: 1_100, height: 700 });
    await page.until("document.querySelector('h1')?.textContent ?? null", "Now", "the link signs in");
    const load = new Load(served.server);
    for (const view of VIEWS) {
      await page.run(`location.hash = "#/${view}"; 1`);
      // What comes with the view itself is no part of it.
      await new Promise(done => setTimeout(done, 1_500));
      const [before, began] = [load.calls, performance.now()];
      const seen = await page.run(WATCH);
      const rate = Math.round((load.calls - before) / ((performance.now() - began) / 1_000));
      const { frames, slowestFrame, longTasks, longest, shift, rows } = seen;
      console.log(
        `${view}: ${rate} calls/s; ${(frames / SECONDS).toFixed(1)} frames/s, the slowest ${slowestFrame.toFixed(0)} ms; ` +
          `${longTasks} long tasks, ${longest.toFixed(0)} ms at most; ${shift.toFixed(4)} shifted; ${rows} rows drawn`,
      );
    }
    await load.stop();
    console.log(`${load.calls} calls, ${load.failed} of which failed`);
    await page.close();
  } finally {
    await driver.stop();
  }
} finally {
  await served.server?.stop();
  served.place.remove();
  driving?.remove();
}
