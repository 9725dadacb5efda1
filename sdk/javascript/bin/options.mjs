// The command line of wharf-componentize.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** Something that the author of a plugin can change: shown without a stack. */
export class BuildError extends Error {}

/** What a plugin can ask for or offer, beside its tools. */
export const CAPABILITIES = ["state", "events", "settings", "process", "workspace", "terminal", "webview", "http"];
export const OFFERS = ["prompts", "resources", "completion"];

export const HELP = `Makes a component of a plugin in JavaScript or TypeScript.

Usage: wharf-componentize FILE [OPTIONS]

  --output FILE          Where the component goes [default: FILE with .wasm]
  --engine ENGINE        quickjs (2 MB, synchronous) or spidermonkey (12 MB, async, fetch) [default: quickjs]
  --with NAME,…          What the plugin may use: ${[...CAPABILITIES, ...OFFERS].join(", ")}
                         [default: what it imports; with this option, importing another one is an error]
  --reason NAME=TEXT     Why it asks for a capability, at most 300 bytes; for the person who grants it
  --version              Print the contract that the kit was made for
  --help                 Print this`;

const OPTIONS = {
  output: { type: "string", short: "o" },
  engine: { type: "string", default: "quickjs" },
  with: { type: "string", multiple: true },
  reason: { type: "string", multiple: true, default: [] },
  help: { type: "boolean", short: "h", default: false },
  version: { type: "boolean", short: "V", default: false },
};

/** Reads the command line. Fails with `BuildError`. */
export function optionsOf(args) {
  let parsed;
  try {
    parsed = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new BuildError(error.message);
  }
  const { values, positionals } = parsed;
  const asked = { help: values.help, version: values.version };
  if (asked.help || asked.version) return asked;
  if (positionals.length !== 1) throw new BuildError("one FILE has to be named; --help says more");
  const file = resolve(positionals[0]);
  if (!existsSync(file)) throw new BuildError(`${positionals[0]} does not exist`);
  if (!["quickjs", "spidermonkey"].includes(values.engine)) {
    throw new BuildError(`--engine is quickjs or spidermonkey, not ${values.engine}`);
  }
  const output = values.output ?? file.replace(/\.[a-z]+$/, "") + ".wasm";
  return { ...asked, file, engine: values.engine, output, allowed: allowedOf(values.with), reasons: reasonsOf(values.reason) };
}

function allowedOf(given) {
  if (given === undefined) return undefined;
  const names = given.flatMap((list) => list.split(",")).map((name) => name.trim()).filter((name) => name !== "");
  for (const name of names) requireKnown(name, "--with", [...CAPABILITIES, ...OFFERS]);
  return new Set(names);
}

function reasonsOf(given) {
  const reasons = {};
  for (const pair of given) {
    const at = pair.indexOf("=");
    if (at < 1) throw new BuildError(`--reason is NAME=TEXT, not ${pair}`);
    const name = pair.slice(0, at);
    const text = pair.slice(at + 1);
    requireKnown(name, "--reason", CAPABILITIES);
    if (text === "" || Buffer.byteLength(text) > 300) throw new BuildError(`the reason for ${name} has 1 to 300 bytes`);
    reasons[name] = text;
  }
  return reasons;
}

function requireKnown(name, option, known) {
  if (!known.includes(name)) throw new BuildError(`${option} does not know ${name}; there are ${known.join(", ")}`);
}
