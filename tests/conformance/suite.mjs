// The official conformance suite, against the real host and a plugin that offers what the suite looks for.

import { createRequire } from "node:module";
import http from "node:http";
import path from "node:path";

import { run } from "./harness.mjs";

const REVISIONS = [["2025-11-25", 30], ["2026-07-28", 37]];

/**
 * Hands requests on with the token, which the suite cannot send. All else stays as it is: the suite forges hosts and
 * origins.
 */
async function withToken(server) {
  const forwarder = http.createServer((request, response) => {
    const headers = [...request.rawHeaders, "Authorization", `Bearer ${server.token}`];
    const onwards = http.request({
      host: server.url.hostname, port: server.url.port, path: request.url, method: request.method, headers, setHost: false,
    });
    onwards.on("response", answer => {
      response.writeHead(answer.statusCode, answer.rawHeaders);
      response.flushHeaders();
      answer.pipe(response);
    });
    onwards.on("error", () => response.destroy());
    response.on("close", () => onwards.destroy());
    request.pipe(onwards);
  });
  // The host's own port counts for what it is called by, so both have to agree on the name alone.
  await new Promise(resolve => forwarder.listen(0, "127.0.0.1", resolve));
  return forwarder;
}

/** The verdict on each scenario, as the suite's summary has it. */
export function read(output) {
  const summary = output.slice(output.indexOf("=== SUMMARY ==="));
  const [scored, others = ""] = summary.split("Not scored for");
  const lines = [...scored.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed/gm)];
  const unscored = new Set([...others.matchAll(/^\s+[✓✗] (\S+) \(/gm)].map(([, name]) => name));
  return lines
    .filter(([, , name]) => !unscored.has(name))
    .map(([, mark, name, , failed]) => ({ name, passed: mark === "✓" && failed === "0" }));
}

export async function check(report, server) {
  const require = createRequire(import.meta.url);
  const suite = path.join(path.dirname(require.resolve("@modelcontextprotocol/conformance/package.json")), "dist", "index.js");
  const forwarder = await withToken(server);
  try {
    const url = `http://127.0.0.1:${forwarder.address().port}${server.url.pathname}`;
    for (const [revision, wanted] of REVISIONS) {
      const { code, output, errors } = await run(suite, ["server", "--url", url, "--requirements", revision]);
      const verdicts = read(output);
      const passed = verdicts.filter(verdict => verdict.passed).length;
      const failed = verdicts.filter(verdict => !verdict.passed).map(verdict => verdict.name);
      console.log(`conformance ${revision}: ${passed} of ${wanted} scored scenarios pass`);
      if (failed.length > 0 || code !== 0) console.log(output, errors);
      report.check(failed.length === 0, `conformance ${revision}: no scored scenario fails`, failed);
      report.check(passed === wanted, `conformance ${revision}: all ${wanted} scored scenarios were run and pass`, passed);
      report.check(code === 0, `conformance ${revision}: the suite says so itself`, code);
    }
  } finally {
    forwarder.closeAllConnections();
    forwarder.close();
  }
}
