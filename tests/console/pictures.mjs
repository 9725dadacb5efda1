// The pictures of the console in the book, of a host at which something happens: `node pictures.mjs FOLDER`.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { Driven, ask, call, consoleLink, drivingPlace } from "../conformance/driven.mjs";
import { Place, Server } from "../conformance/harness.mjs";

const SIZE = { width: 1_100, height: 680 };
const SCHEMES = ["light", "dark"];
const QUALITY = 0.6;
/** What is sent into a page at once: a script has a limit. */
const PIECE = 100_000;
const ASKS = 'profile = "developer"\n\n[approvals]\napprove = ["workspace__execute_shell"]\n';
const OWN =
  '\n[terminal.recording]\nenabled = true\n\n[plugin.host.grants.terminal]\nreason = "the operator looks on"\nshell = true\nprograms = ["sh"]\n';
const SITE =
  "document.title = 'Harbour timetable'; document.body.innerHTML = '<h1 style=\"font: 700 40px sans-serif\">Harbour timetable</h1>" +
  "<table style=\"font: 20px sans-serif\"><tr><td>Ferry to Jeju<td>09:40<tr><td>Ferry to Busan<td>11:05</table>';" +
  " console.warn('3 fonts are missing'); fetch('https://tracker.example/p').catch(() => 1)";

const operatorToken = ({ place }) => readFileSync(path.join(place.data, "operator-token"), "utf8").trim();
const operator = (served, method, route, body) =>
  ask(served.server, method, route, body, { authorization: `Bearer ${operatorToken(served)}` });
/** Tries something until it has happened. */
async function eventually(look) {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/** An agent's work: what it leaves is seen in the views. */
async function work(served) {
  const { server } = served;
  const allow = async () => {
    const waiting = await eventually(async () => (await operator(served, "GET", "/v1/operator/approvals")).approvals[0]);
    await operator(served, "POST", `/v1/operator/approvals/${waiting.id}`, { answer: "once" });
  };
  const shell = (command, more = {}) => call(server, "workspace__execute_shell", { command, ...more });
  await call(server, "planning__create_goal", { goal: "Publish the timetable of the harbour" });
  for (const [command, more] of [["seq 1 5 | tee days.txt", {}], ["while sleep 1; do date; done", { run_mode: "async" }]]) {
    await Promise.all([shell(command, more), allow()]);
  }
  await call(server, "workspace__read_file", { path: "days.txt" });
  await call(server, "browser__create_session", { width: 900, height: 420 });
  await call(server, "browser__evaluate", { script: SITE });
  const { terminal } = await ask(server, "POST", "/v1/terminals", { columns: 100, rows: 24 });
  const text = "printf '\\033[1;32mok\\033[0m  %s\\n' build test docs; ls -l /etc | head -8";
  await ask(server, "POST", `/v1/terminals/${terminal}/turns`, { text, submit: true });
  await eventually(async () => JSON.stringify(await ask(server, "GET", `/v1/terminals/${terminal}/screen`)).includes("docs"));
  const waits = shell("git push origin main").catch(() => undefined);
  await eventually(async () => (await operator(served, "GET", "/v1/operator/approvals")).approvals[0]);
  const { pages } = await operator(served, "GET", "/v1/operator/pages");
  return { waits, terminal, page: pages[0].id };
}

/** What is seen, as WebP: drawn by the page itself, since hosts make none. */
async function picture(page) {
  const wanted = { operation: "screenshot", parameters: {} };
  const { request } = await ask(page.driver, "POST", `${page.path}/operations`, wanted);
  const pieces = [];
  for (let from = 0; ; ) {
    const outcome = await ask(page.driver, "GET", `${page.path}/requests/${request}?wait_ms=10000&max_bytes=1`);
    if (outcome.state === "pending") continue;
    const piece = await ask(page.driver, "GET", `${page.path}/requests/${request}/result?from=${from}&max_bytes=1048576`);
    if (piece.next === from) break;
    pieces.push(Buffer.from(piece.base64, "base64"));
    from = piece.next;
  }
  const png = Buffer.concat(pieces).toString("base64");
  await page.run("window.drawn = ''; 1");
  for (let from = 0; from < png.length; from += PIECE) {
    await page.run(`window.drawn += ${JSON.stringify(png.slice(from, from + PIECE))}; 1`);
  }
  const made = await page.run(
    "(async () => { const image = new Image(); image.src = 'data:image/png;base64,' + window.drawn; await image.decode();" +
      " const canvas = new OffscreenCanvas(image.width, image.height); canvas.getContext('2d').drawImage(image, 0, 0);" +
      ` const blob = await canvas.convertToBlob({ type: 'image/webp', quality: ${QUALITY} });` +
      " return btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), byte => String.fromCharCode(byte)).join('')); })()",
  );
  return Buffer.from(made, "base64");
}

async function draw(page, places, folder) {
  for (const [name, place, prepare] of places) {
    await page.run(`location.hash = "#/${place}"; 1`);
    await page.until(`location.hash === "#/${place}" && document.querySelector('h1, h2') !== null`, true, place);
    await page.until("document.querySelector('main')?.innerText.includes('Loading…') ?? true", false, `${place} is there`);
    if (prepare) await page.until(prepare, true, `${place} is ready`);
    for (const scheme of SCHEMES) {
      await page.run(`document.documentElement.style.colorScheme = ${JSON.stringify(scheme)}; document.activeElement?.blur(); 1`);
      writeFileSync(path.join(folder, `${name}-${scheme}.webp`), await picture(page));
    }
  }
}

const folder = path.resolve(process.argv[2]);
mkdirSync(folder, { recursive: true });
const served = { place: new Place(ASKS + OWN), server: undefined };
let driving;
try {
  served.server = await Server.start(served.place);
  driving = drivingPlace(served.server);
  const driver = await Server.start(driving);
  try {
    const done = await work(served);
    const page = await Driven.open(driver, await consoleLink(served.place), SIZE);
    await page.until("document.querySelector('h1')?.textContent ?? null", "Now", "the link signs in");
    const proposed =
      "(() => { const state = document.querySelector('article[aria-label=\"state\"]');" +
      " [...(state?.querySelectorAll('button') ?? [])].find(one => one.textContent === 'Take it back')?.click();" +
      " return document.querySelector('.difference') !== null; })()";
    await draw(
      page,
      [
        ["now", "now", "document.querySelectorAll('.plot').length > 0"],
        ["approvals", "approvals", "document.querySelector('.approval') !== null"],
        ["sessions", "sessions/local/agent"],
        ["terminals", `terminals/${done.terminal}`, "(document.querySelector('.xterm-rows')?.innerText ?? '').includes('docs')"],
        ["processes", "processes", "document.querySelectorAll('tbody tr').length > 1"],
        ["pages", `pages/${done.page}`, "(document.querySelector('.picture')?.naturalWidth ?? 0) > 0"],
        ["streams", "streams", "document.querySelectorAll('tbody tr').length > 0"],
        ["plugins", "plugins", "document.querySelectorAll('article.plugin').length > 2"],
        ["try-a-tool", "plugins/planning__create_goal", "document.querySelector('#argument-goal') !== null"],
        ["grants", "grants/planning", proposed],
        ["state", "state", "document.querySelectorAll('tbody tr').length > 0"],
        ["metrics", "metrics"],
        ["hosts", "hosts"],
        ["audit", "audit", "document.querySelectorAll('tbody tr').length > 3"],
      ],
      folder,
    );
    const { approvals } = await operator(served, "GET", "/v1/operator/approvals");
    await operator(served, "POST", `/v1/operator/approvals/${approvals[0].id}`, { answer: { refuse: "the pictures are drawn" } });
    await done.waits;
    await page.close();
  } finally {
    await driver.stop();
  }
} finally {
  await served.server?.stop();
  served.place.remove();
  driving?.remove();
}
