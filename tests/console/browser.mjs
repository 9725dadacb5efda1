// The console in a real browser, against a real host at which an agent works meanwhile. A second host has the browser:
// it drives the page by its routes of web pages.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { BARE, Driven, ask, call } from "../conformance/driven.mjs";
import { CheckFailed, Place, Report, Server, within } from "../conformance/harness.mjs";

const HOSTILE = "<img src=x onerror='window.taken = 1'><script>window.taken = 1</script>";
const ASKS = 'profile = "developer"\n[approvals]\napprove = ["workspace__execute_shell"]\n';
const OWN = '[plugin.host.grants.terminal]\nreason = "a test"\nshell = true\nprograms = ["sh"]\n';

/** The link that `wharf console` makes. */
async function link(place) {
  const wanted = ["console", "--print", "--data", place.data, "--config", place.configuration];
  return (await promisify(execFile)(place.binary, wanted)).stdout.trim();
}

const text = "document.querySelector('main')?.innerText ?? ''";
const has = words => `(${text}).includes(${JSON.stringify(words)})`;
/** Clicks the first of these that says so. */
const click = (selector, words) =>
  `(() => { const found = [...document.querySelectorAll(${JSON.stringify(selector)})]` +
  `.find(one => one.textContent.includes(${JSON.stringify(words)})); found?.click(); return Boolean(found); })()`;

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
  const reason = "document.querySelector('.answers input')";
  await page.run(`${reason}.value = 'not on this branch'; ${reason}.dispatchEvent(new Event('input', { bubbles: true })); 1`);
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
}

async function leave(report, served, page) {
  await page.until(click(".person button", "Sign out"), true, "sign out");
  await page.until("document.querySelector('#token') !== null", true, "it asks for a token");
  const status = await page.run("fetch('/v1/operator/hosts').then(answer => answer.status)");
  report.check(status === 401, "who has signed out sees nothing", status);
  const token = readFileSync(path.join(served.place.data, "operator-token"), "utf8").trim();
  await page.run(
    `(() => { const field = document.querySelector('#token'); field.value = ${JSON.stringify(token)};` +
      " field.dispatchEvent(new Event('input', { bubbles: true })); return 1; })()",
  );
  await page.until("document.querySelector('form button').disabled", false, "the token can be sent");
  await page.until(click("form button", "Sign in"), true, "sign in");
  await page.until("document.querySelector('h1')?.textContent ?? null", "Processes", "the view of before");
  report.check(true, "the operator's token signs in");
}

const report = new Report();
const served = { place: new Place(ASKS + OWN), server: undefined };
let driving;
try {
  served.server = await Server.start(served.place);
  const origins = JSON.stringify([served.server.url.origin]);
  driving = new Place(`${BARE}[plugin.host.grants.webview]\nreason = "a test"\norigins = ${origins}\nprivate_addresses = true\n`);
  const driver = await Server.start(driving);
  try {
    const page = await Driven.open(driver, await link(served.place));
    for (const part of [signIn, approve, takeOver, follow, leave]) await part(report, served, page);
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
