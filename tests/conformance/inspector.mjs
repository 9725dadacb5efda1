// The Inspector's command line: what a developer looks at a server with. `--strict` fails on schemas that some clients
// cannot take.

import { createRequire } from "node:module";
import path from "node:path";

import { PATIENCE_MILLISECONDS, run } from "./harness.mjs";

const ERAS = ["legacy", "modern"];

function launcher() {
  const require = createRequire(import.meta.url);
  const home = path.dirname(require.resolve("@modelcontextprotocol/inspector/package.json"));
  return path.join(home, "clients", "launcher", "build", "index.js");
}

/** Looks at the bundled plugins through `wharf serve --stdio`, or at a server on HTTP. */
export async function check(report, place, server) {
  const script = launcher();
  const ways = [
    ["standard streams", () => ["--", place.binary, ...place.arguments("--stdio", "--profile", "developer")]],
    ["HTTP", () => ["--server-url", server.url.href, "--transport", "http", "--header", `Authorization: Bearer ${server.token}`]],
  ];
  for (const [way, target] of ways) {
    for (const era of ERAS) {
      const ask = (...what) => run(script, ["--cli", "--connect-timeout", String(PATIENCE_MILLISECONDS), "--protocol-era", era, "--format", "json", ...what, ...target()]);
      const strict = await ask("--strict", "--method", "tools/list");
      report.check(strict.code === 0, `the Inspector finds no schema that clients refuse (${way}, ${era})`, strict.errors.slice(-2_000));
      const tools = JSON.parse(strict.output).result?.tools ?? JSON.parse(strict.output).tools;
      report.check(tools.length > 10, `the Inspector lists the tools (${way}, ${era})`, strict.output.slice(0, 500));
      const called = await ask("--method", "tools/call", "--tool-name", tools[0].name);
      report.check([0, 5].includes(called.code), `the Inspector calls ${tools[0].name} (${way}, ${era})`, called);
    }
  }
}
