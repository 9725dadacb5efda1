// Every block of code in README.md works.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import * as esbuild from "esbuild";

import { optionsOf } from "../bin/options.mjs";
import { contractVersion } from "../bin/world.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = (language) => Array.from(readme.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm")), ([, text]) => text);

// Beside the tests: what is below `node_modules` does not find this package by its name.
const folder = mkdtempSync(join(root, "test", ".readme-"));
after(() => rmSync(folder, { recursive: true }));

test("the first plugin passes the test that stands there", () => {
  const [plugin] = blocks("ts");
  const [tests] = blocks("js");
  const { code } = esbuild.transformSync(plugin, { loader: "ts", format: "esm" });
  writeFileSync(join(folder, "greeter.js"), code);
  writeFileSync(join(folder, "greeter.test.js"), tests);
  writeFileSync(join(folder, "greeter.ts"), plugin);
  // A test that runs tests would otherwise be told to report to this one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  assert.match(execFileSync(process.execPath, ["--test", join(folder, "greeter.test.js")], { encoding: "utf8", env }), /pass 1/);
});

test("the commands name options that there are", () => {
  const commands = blocks("sh").join("").match(/npx wharf-componentize .*/g);
  for (const command of commands) {
    const args = command.split(" ").slice(2).join(" ").match(/(?:[^\s"]|"[^"]*")+/g).map((word) => word.replaceAll('"', ""));
    const options = optionsOf(args.map((word) => (word === "greeter.ts" ? join(folder, word) : word)));
    assert.deepEqual(options.reasons, { state: "counts visits" });
  }
});

test("the contract that is named is the one that the package carries", () => {
  assert.ok(readme.includes(`wharf:plugin@${contractVersion()}`));
});

test("every entry point is named", () => {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const name of Object.keys(exports).map((path) => path.slice(1)).filter((path) => path !== "" && path !== "/globals" && path !== "/package.json")) {
    assert.ok(readme.includes(`@wharf/sdk${name}`) || readme.includes(`\`${name}\``), name);
  }
});
