// Runs the official tools of the Model Context Protocol against the built `wharf` binary: the conformance suite, the
// Inspector and the TypeScript client. Prints one line for each check, and stops with exit code 1 at the first that fails.

import * as client from "./client.mjs";
import { CheckFailed, environment, Place, Report, Server } from "./harness.mjs";
import * as inspector from "./inspector.mjs";
import * as suite from "./suite.mjs";

const BUNDLED = ["browser", "content-store", "planning", "playbook", "terminal", "workspace"];

/** The plugin that offers what the suite looks for, under the very names, and nothing else. */
function fixtures() {
  const off = BUNDLED.map(name => `[plugin.${name}]\nenabled = false\n`).join("");
  return `${off}[plugin.conformance]
source = ${JSON.stringify(environment("WHARF_CONFORMANCE_PLUGIN"))}
prefix = false
[plugin.conformance.grants.events]
reason = "the suite looks for progress, messages and changes"
`;
}

async function served(configuration, work) {
  const place = new Place(configuration);
  try {
    const server = await Server.start(place);
    try {
      await work(place, server);
    } catch (error) {
      console.error(`The end of the server's log:\n${server.log.slice(-4_000)}`);
      throw error;
    } finally {
      await server.stop();
    }
  } finally {
    place.remove();
  }
}

const report = new Report();
try {
  const only = process.argv[2];
  const wanted = part => only === undefined || only === part;
  if (wanted("suite") || wanted("client")) {
    await served(fixtures(), async (place, server) => {
      if (wanted("client")) await client.check(report, place, server);
      if (wanted("suite")) await suite.check(report, server);
    });
  }
  if (wanted("inspector")) {
    await served("profile = \"developer\"\n", (place, server) => inspector.check(report, place, server));
  }
  console.log(`${report.passed} checks passed`);
} catch (error) {
  console.error(error instanceof CheckFailed ? `FAILED ${error.message}` : error);
  process.exitCode = 1;
}
