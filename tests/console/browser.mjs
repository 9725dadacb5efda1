// The console in a real browser, against a real host at which an agent works meanwhile. A second host has the browser:
// it drives the page by its routes of web pages.

import { copyFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { Driven, ask, call, consoleLink, drivingPlace, request } from "../conformance/driven.mjs";
import { CheckFailed, Place, Report, Server, within } from "../conformance/harness.mjs";

const HOSTILE = "<img src=x onerror='window.taken = 1'><script>window.taken = 1</script>";
const ASKS = 'profile = "developer"\n[approvals]\napprove = ["workspace__execute_shell"]\n';
const RECORDED = "[terminal.recording]\nenabled = true\n";
const OWN = '[plugin.host.grants.terminal]\nreason = "a test"\nshell = true\nprograms = ["sh"]\n';

const text = "document.querySelector('main')?.innerText ?? ''";
const has = words => `(${text}).includes(${JSON.stringify(words)})`;
/** Clicks the first of these that says so. */
const click = (selector, words) =>
  `(() => { const found = [...document.querySelectorAll(${JSON.stringify(selector)})]` +
  `.find(one => one.textContent.includes(${JSON.stringify(words)})); found?.click(); return Boolean(found); })()`;

const write = (selector, words) =>
  `(() => { const field = document.querySelector(${JSON.stringify(selector)}); field.value = ${JSON.stringify(words)};` +
  " field.dispatchEvent(new Event('input', { bubbles: true })); return 1; })()";
const operatorToken = ({ place }) => readFileSync(path.join(place.data, "operator-token"), "utf8").trim();
/** A route of the operator. */
const operator = (served, method, route, body) =>
  ask(served.server, method, route, body, { authorization: `Bearer ${operatorToken(served)}` });

async function signIn(report, served, page) {
  await page.until("document.querySelector('h1')?.textContent ?? null", "Now", "the link signs in");
  report.check((await page.run("location.hash")) === "#/now", "the code of the link is no part of the address afterwards");
  report.check((await page.run("document.cookie")) === "", "no script can read the cookie");
  const title = "document.title";
  await page.until(`${title}.startsWith("Now")`, true, "the title says which view it is");
  report.check(true, "a link signs in, and shows what the host does");
}

async function approve(report, served, page) {
  const shell = command => call(served.server, "workspace__execute_shell", { command });
  const waiting = shell(`echo "${HOSTILE}" && echo allo''wed`);
  await page.until("document.querySelector('.badge')?.textContent ?? null", "1", "what waits is told");
  await page.until(click("nav a", "Approvals"), true, "the view of approvals");
  await page.until(has("workspace__execute_shell"), true, "the call is shown");
  report.check(await page.run(has(HOSTILE)), "with its arguments, as text");
  report.check((await page.run("document.querySelectorAll('main img, main script').length")) === 0, "none of which is a part of the page");
  report.check((await page.run("window.taken ?? null")) === null, "and nothing of them runs");
  await page.until(click(".answers button", "Allow once"), true, "allow it");
  const answer = await within(waiting, "the call runs");
  report.check(JSON.stringify(answer).includes("allowed"), "a call runs once a person allows it", answer);
  await page.until(has("No call waits for you"), true, "nothing waits any more");

  const second = shell("rm -rf .");
  await page.until(has("rm -rf ."), true, "the second call waits");
  await page.run(write(".answers input", "not on this branch"));
  await page.until(click(".answers button", "Refuse"), true, "refuse it");
  const refused = await within(second, "the call is refused");
  report.check(JSON.stringify(refused).includes("not on this branch"), "a call is refused with a reason", refused);
}

async function takeOver(report, served, page) {
  const { server } = served;
  const { terminal } = await ask(server, "POST", "/v1/terminals", {});
  await page.until(click("nav a", "Terminals"), true, "the view of terminals");
  await page.until(`document.querySelector('a[href="#/terminals/${terminal}"]') !== null`, true, "the terminal is listed");
  await page.run(`location.hash = "#/terminals/${terminal}"; 1`);
  const rows = "(document.querySelector('.xterm-rows')?.innerText ?? '').replaceAll('\\u00a0', ' ')";
  await ask(server, "POST", `/v1/terminals/${terminal}/turns`, { text: "echo by''agent", submit: true });
  await page.until(`${rows}.includes("byagent")`, true, "what the agent does is drawn");
  report.check(true, "a terminal is drawn while an agent uses it");
  await page.until(click("button", "Take over"), true, "take over");
  await page.until("document.activeElement?.className ?? ''", "xterm-helper-textarea", "the keyboard is the terminal's");
  const operation = { operation: "text", parameters: { text: "echo by''hand" } };
  await page.outcome(await ask(page.driver, "POST", `${page.path}/operations`, operation));
  const enter = { operation: "key", parameters: { key: "Enter" } };
  await page.outcome(await ask(page.driver, "POST", `${page.path}/operations`, enter));
  await page.until(`${rows}.includes("byhand")`, true, "what is typed runs");
  const screen = await ask(server, "GET", `/v1/terminals/${terminal}/screen`);
  report.check(JSON.stringify(screen).includes("byhand"), "the agent sees what a person typed", screen);
  await page.until(click(".heading a", "Recording"), true, "its recording");
  await page.until("document.querySelector('input[type=range]')?.max > 0", true, "it is loaded");
  await page.run(
    "(() => { const range = document.querySelector('input[type=range]'); range.value = range.max;" +
      " range.dispatchEvent(new Event('input', { bubbles: true })); return 1; })()",
  );
  await page.until(`${rows}.includes("byhand")`, true, "its end is drawn");
  report.check(true, "the recording of a terminal is played");
}

async function follow(report, served, page) {
  await page.until(click("nav a", "Audit"), true, "the view of the audit");
  await page.until(has("execute_shell"), true, "lines are shown");
  await page.until(click("td.wide a", "execute_shell"), true, "a call of them");
  await page.until("document.querySelectorAll('.story li').length > 1", true, "its story");
  report.check(true, "one call's story is shown with what it asked for");
  await page.until(click("nav a", "Plugins"), true, "the view of plugins");
  await page.until(has("workspace__read_file"), true, "the tools of plugins");
  await page.until(click("nav a", "Processes"), true, "the view of processes");
  await page.until("document.querySelectorAll('tbody tr').length > 0", true, "processes are listed");
  report.check(true, "plugins and processes are listed");

  const waiting = call(served.server, "workspace__execute_shell", { command: "sh -c 'sleep 999 & wait'", run_mode: "async" });
  const first = async () => (await operator(served, "GET", "/v1/operator/approvals")).approvals[0];
  for (let one; !(one = await first()) || (await operator(served, "POST", `/v1/operator/approvals/${one.id}`, { answer: "once" })).problem; );
  await within(waiting, "it runs");
  const { processes } = await operator(served, "GET", "/v1/operator/processes");
  await page.run(`location.hash = "#/processes/${processes.at(-1).id}"; 1`);
  const indent = "[...document.querySelectorAll('.tree tbody tr')].find(one => one.innerText.startsWith('sleep 999'))?.querySelector('span').style.paddingLeft";
  await page.until(`parseInt(${indent} ?? "0") >= 1`, true, "its tree");
  const bounds = await page.run("document.querySelector('.bounds').innerText");
  report.check(/namespaces|landlock/.test(bounds) && bounds.includes("memory_bytes"), "a process has its tree, its limits and what contains it", bounds);
  await page.until(click("nav a", "Plugins"), true, "the view of plugins");
  await page.until("document.querySelector('article[aria-label=\"workspace\"] details.origin') !== null", true, "what a plugin comes from");
  await page.run("document.querySelector('article[aria-label=\"workspace\"] details.origin').open = true; 1");
  await page.until("document.querySelectorAll('article[aria-label=\"workspace\"] .limits tbody tr').length > 10", true, "its limits");
  report.check(true, "a plugin has its origin and its limits");
}

async function steer(report, served, page) {
  await page.until(click("nav a", "Plugins"), true, "the view of plugins");
  await page.until(`document.querySelector('article[aria-label="planning"]') !== null`, true, "the plugin is listed");
  const acts = `'article[aria-label="planning"] h2 button'`;
  const act = words => `[...document.querySelectorAll(${acts})].find(one => one.textContent === ${JSON.stringify(words)})`;
  // A dialog is dismissed by the page that drives this one.
  await page.run("window.confirm = () => true; 1");
  await page.run(`${act("Disable")}.click(); 1`);
  await page.until(`${act("Enable")} !== undefined`, true, "it is off");
  const listed = await request(served.server, "tools/list", {});
  report.check(!JSON.stringify(listed).includes("planning__"), "a plugin that is switched off lists no tool");
  await page.run(`${act("Enable")}.click(); 1`);
  await page.until(`${act("Disable")} !== undefined`, true, "it is on again");

  await page.until(click(".chips a", "planning__create_goal"), true, "a tool is tried");
  await page.until("document.querySelector('#argument-goal') !== null", true, "its form");
  await page.run(write("#argument-goal", `Ship ${HOSTILE}`));
  await page.until(click("button.primary", "Call"), true, "call it");
  await page.until(has(`Ship ${HOSTILE}`.slice(0, 12)), true, "its answer");
  report.check((await page.run("window.taken ?? null")) === null, "a tool is tried with a form, and its answer is text");
  await page.run('location.hash = "#/grants/planning"; 1');
  const granted = `'article[aria-label="state"] .status-granted'`;
  await page.until(`document.querySelector(${granted}) !== null`, true, "what it is granted");
  await page.until(click('article[aria-label="state"] button', "Take it back"), true, "take it back");
  await page.until("document.querySelector('.difference')?.innerText.includes('grants') ?? false", true, "the difference is shown first");
  const file = () => readFileSync(served.place.configuration, "utf8");
  report.check(!file().includes("planning"), "and nothing is written yet");
  await page.until(click(".proposal button", "Write it"), true, "write it");
  await page.until(`document.querySelector(${granted}) === null`, true, "it is granted no more");
  report.check(file().startsWith(ASKS) && file().includes("[plugin.planning"), "what stood in wharf.toml stays", file());
  await page.run(`document.querySelector('article[aria-label="state"] details').open = true; 1`);
  await page.run(write("#state-reason", "keeps plans"));
  await page.until(click('article[aria-label="state"] details button', "Show what changes"), true, "grant it");
  await page.until(click(".proposal button", "Write it"), true, "write that, too");
  await page.until(`document.querySelector(${granted}) !== null`, true, "it is granted again");
  report.check(file().includes('reason = "keeps plans"'), "a grant is taken back and given, and shown first", file());
  await page.until(click("nav a", "Now"), true, "the view of now");
  await page.until("[...document.querySelectorAll('.plot figcaption')].some(one => /^p95 [1-9]|^p95 0\\.[0-9]*[1-9]/.test(one.innerText))", true, "how long calls took");
  report.check(true, "how long calls took is plotted");
  await page.until(click("nav a", "State"), true, "the view of state");
  await page.until(has("planning"), true, "what plugins keep is listed");
  report.check(true, "what plugins keep is shown beside their quotas");
}

/** A component of the project, which stands for a plugin that somebody else made. */
const COMPONENT = fileURLToPath(new URL("../../host/wharf/components/playbook.wasm", import.meta.url));

async function install(report, served, page) {
  await page.until(click("nav a", "Plugins"), true, "the view of plugins");
  await page.run(`document.querySelector('details.plugin').open = true; window.confirm = () => true; 1`);
  // A confined host reads what is beside its configuration.
  const component = path.join(path.dirname(served.place.configuration), "second.wasm");
  copyFileSync(COMPONENT, component);
  await page.run(write("#add-source", component));
  await page.run(write("#add-name", "second"));
  await page.until(click("details.plugin button", "Look at it"), true, "look at it");
  await page.until("document.querySelector('.proposal h3')?.textContent.includes('second') ?? false", true, "what it is");
  const listed = () => request(served.server, "tools/list", {}).then(JSON.stringify);
  report.check(!(await listed()).includes("second__"), "a component is looked at, and nothing is added yet");
  await page.until(click(".proposal button", "Add it"), true, "add it");
  await page.until(`document.querySelector('article[aria-label="second"]') !== null`, true, "it is there");
  report.check((await listed()).includes("second__"), "a plugin is added, and agents have its tools");
  await page.run(`document.querySelector('article[aria-label="second"] > details:last-of-type').open = true; 1`);
  await page.until(click('article[aria-label="second"] button', "Look at it"), true, "an update");
  await page.until(has("It is the component that is there."), true, "the same component");
  await page.until(click('article[aria-label="second"] button', "Remove"), true, "remove it");
  await page.until(`document.querySelector('article[aria-label="second"]') === null`, true, "it is gone");
  report.check(!(await listed()).includes("second__"), "a plugin is removed");
}

async function watch(report, served, page) {
  await call(served.server, "browser__create_session", { width: 640, height: 480 });
  const script = `document.body.textContent = ${JSON.stringify(HOSTILE)}; console.log("by the agent"); 1`;
  await call(served.server, "browser__evaluate", { script });
  await page.until(click("nav a", "Pages"), true, "the view of pages");
  await page.until(click("td.wide a", "without a title"), true, "the page is listed");
  await page.until("document.querySelector('.picture')?.naturalWidth ?? 0", 640, "its picture");
  await page.until(has("by the agent"), true, "its console");
  const first = await page.run("document.querySelector('.picture').src");
  await page.until(`document.querySelector('.picture').src !== ${JSON.stringify(first)}`, true, "another picture");
  report.check(true, "a page is watched with a picture a second and its console");
  await page.until(click(".heading button", "Close"), true, "close it");
  await page.until("document.querySelector('.picture') === null", true, "it is closed");
  report.check(true, "a page is closed");
}

const SCHEMES = ["light", "dark"];
const FOUND =
  "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations" +
  ".filter(({ impact }) => impact === 'serious' || impact === 'critical')" +
  ".map(({ id, nodes }) => id + ': ' + nodes.map(node => node.html).slice(0, 3).join(' ')))";

/** What axe finds serious, in both schemes. */
async function serious(page, view) {
  const problems = [];
  for (const scheme of SCHEMES) {
    await page.run(`document.documentElement.style.colorScheme = ${JSON.stringify(scheme)}; 1`);
    problems.push(...(await page.run(FOUND)).map(problem => `${view}, ${scheme}: ${problem}`));
  }
  return problems;
}

async function read(report, served, page) {
  const { terminals } = await operator(served, "GET", "/v1/operator/terminals");
  const waiting = call(served.server, "workspace__execute_shell", { command: "true" });
  await page.until("document.querySelector('.badge')?.textContent ?? null", "1", "a call waits");
  await load(page);
  const views = ["now", "approvals", "sessions", "terminals", "processes", "pages", "streams", "plugins", "grants", "state", "metrics", "hosts", "audit"];
  const places = [...views, `terminals/${terminals[0].id}`, "plugins/planning__create_goal", "grants/workspace", "sessions/local/agent"];
  const problems = [];
  for (const place of places) {
    await page.run(`location.hash = "#/${place}"; 1`);
    await page.until(`location.hash === "#/${place}" && document.querySelector('h1, h2') !== null`, true, place);
    await page.until("document.querySelector('main')?.innerText.includes('Loading…') ?? true", false, `${place} is there`);
    problems.push(...(await serious(page, place)));
  }
  report.check(problems.length === 0, `axe finds nothing serious in ${places.length} views, light and dark`, problems);
  const [{ id }] = (await operator(served, "GET", "/v1/operator/approvals")).approvals;
  await operator(served, "POST", `/v1/operator/approvals/${id}`, { answer: "once" });
  await within(waiting, "the call ends");
  await page.run('location.hash = "#/processes"; 1');
  await page.until("document.querySelector('h1')?.textContent ?? null", "Processes", "the view of processes");
}

/** Has the page know axe, a piece at a time: a script has a limit. */
async function load(page) {
  const source = readFileSync(process.env.WHARF_AXE, "utf8");
  for (let from = 0; from < source.length; from += 100_000) {
    const piece = JSON.stringify(source.slice(from, from + 100_000));
    await page.run(`window.axeText = (window.axeText ?? "") + ${piece}; 1`);
  }
  await page.run("(0, eval)(window.axeText); 1");
}

async function leave(report, served, page) {
  await page.until(click(".person button", "Sign out"), true, "sign out");
  await page.until("document.querySelector('#token') !== null", true, "it asks for a token");
  const status = await page.run("fetch('/v1/operator/hosts').then(answer => answer.status)");
  report.check(status === 401, "who has signed out sees nothing", status);
  report.check((await serious(page, "sign in")).length === 0, "axe finds nothing serious where one signs in");
  await page.run(write("#token", operatorToken(served)));
  await page.until("document.querySelector('form button').disabled", false, "the token can be sent");
  await page.until(click("form button", "Sign in"), true, "sign in");
  await page.until("document.querySelector('h1')?.textContent ?? null", "Processes", "the view of before");
  report.check(true, "the operator's token signs in");
}

const report = new Report();
const served = { place: new Place(ASKS + OWN + RECORDED), server: undefined };
let driving;
try {
  served.server = await Server.start(served.place);
  driving = drivingPlace(served.server);
  const driver = await Server.start(driving);
  try {
    const page = await Driven.open(driver, await consoleLink(served.place));
    for (const part of [signIn, approve, takeOver, follow, steer, install, watch, read, leave]) await part(report, served, page);
    await page.close();
  } finally {
    await driver.stop();
  }
  console.log(`console: ${report.passed} checks passed`);
} catch (error) {
  console.error(error instanceof CheckFailed ? `FAILED ${error.message}` : error);
  console.error(`The end of the host's log:\n${served.server?.log.slice(-4_000)}`);
  process.exitCode = 1;
} finally {
  await served.server?.stop();
  served.place.remove();
  driving?.remove();
}
