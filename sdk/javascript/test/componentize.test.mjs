// The builder as far as it goes without an engine.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { bundle } from "../bin/bundle.mjs";
import { BuildError, optionsOf } from "../bin/options.mjs";
import { withSection } from "../bin/section.mjs";
import { contractVersion, writeWorld } from "../bin/world.mjs";
import { contractVersion as ofModule } from "@wharf/sdk";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
mkdirSync(join(root, "node_modules"), { recursive: true });
// Below the package, where `@wharf/sdk` is found.
const folder = mkdtempSync(join(root, "node_modules", ".test-"));
after(() => rmSync(folder, { recursive: true }));

const bundled = async (source, options = {}) => {
  const file = join(folder, "plugin.ts");
  writeFileSync(file, source);
  const { used, source: text } = await bundle({ file, engine: "quickjs", ...options });
  return { text, ...Object.fromEntries(Object.entries(used).map(([name, set]) => [name, [...set].sort()])) };
};

test("a plugin asks for what its code uses, and not for what it merely imports", async () => {
  const source = `
    import { plugin, tool } from "@wharf/sdk";
    import { bucket } from "@wharf/sdk/state";
    import { spawn } from "@wharf/sdk/process";
    export default plugin({ tools: [tool({ name: "a", description: "A." }, () => String(bucket("session", "n").usage().bytes))] });`;
  assert.deepEqual((await bundled(source)).capabilities, ["state"]);
});

test("what --with does not name is refused, and what it names is there", async () => {
  const source = `
    import { plugin, tool } from "@wharf/sdk";
    import { progress } from "@wharf/sdk/events";
    export default plugin({ tools: [tool({ name: "a", description: "A." }, () => (progress(1), ""))] });`;
  await assert.rejects(bundled(source, { allowed: new Set(["state"]) }), { message: "the plugin uses events, which --with does not name" });
  assert.deepEqual((await bundled(source, { allowed: new Set(["state", "events"]) })).capabilities, ["events", "state"]);
});

test("what is offered beside tools is exported", async () => {
  const source = `
    import { plugin } from "@wharf/sdk";
    import { prompt, prompts } from "@wharf/sdk/prompts";
    export default plugin({ prompts: prompts(prompt({ name: "a", description: "A." }, () => "a")) });`;
  const { offers, text } = await bundled(source);
  assert.deepEqual(offers, ["prompts"]);
  assert.match(text, /export \{\s*prompts\d*( as prompts)?,\s*tools/);
});

test("fetch is for SpiderMonkey", async () => {
  const source = `
    import { plugin, tool } from "@wharf/sdk";
    import { fetch } from "@wharf/sdk/http";
    export default plugin({ tools: [tool({ name: "a", description: "A." }, async () => (await fetch("https://a/")).text())] });`;
  await assert.rejects(bundled(source), /--engine spidermonkey/);
  assert.deepEqual((await bundled(source, { engine: "spidermonkey" })).capabilities, ["http"]);
});

test("a module that cannot be bundled says where, and one of Node.js what is there instead", async () => {
  await assert.rejects(bundled("import x from './nothing.js'; export default x;"), (error) => error instanceof BuildError && /nothing\.js/.test(error.message));
  await assert.rejects(bundled("import fs from 'node:fs'; export default fs;"), /a component has none/);
  await assert.rejects(bundled("export default {"), BuildError);
});

test("a world has the contract's text and includes what is used", () => {
  const used = { interfaces: new Set(["state"]), wasi: new Set(), offers: new Set(["prompts"]) };
  const world = writeWorld("", used);
  const text = readFileSync(join(world.wit, "world.wit"), "utf8");
  assert.deepEqual(text.match(/include .*;/g), ["plugin", "with-state", "with-prompts"].map((name) => `include wharf:plugin/${name}@${contractVersion()};`));
  assert.match(readFileSync(join(world.wit, "deps", "wharf-plugin", "state.wit"), "utf8"), /interface state/);
  world.remove();
  assert.equal(ofModule, contractVersion());
});

test("reasons are a custom section at the end", () => {
  const component = withSection(Buffer.from([0, 97]), { capabilities: new Set(["state", "http"]) }, { state: "x".repeat(200) });
  // The length of the section takes two bytes, since it is above 127.
  const length = (component[3] & 0x7f) + component[4] * 128;
  assert.deepEqual([...component.subarray(0, 3), component[5]], [0, 97, 0, "wharf-plugin".length]);
  assert.equal(component.length, 5 + length);
  assert.deepEqual(JSON.parse(component.subarray(18)), { reasons: { state: "x".repeat(200), http: "sends HTTP requests" } });
  assert.equal(withSection(component, { capabilities: new Set(["state"]) }, {}), component);
});

test("a wrong command line says what is accepted", () => {
  const file = join(root, "package.json");
  for (const args of [[], ["nothing.ts"], [file, "--engine", "v8"], [file, "--with", "everything"], [file, "--reason", "state"], [file, "--reason", `state=${"x".repeat(301)}`], [file, "--odd"], [file, file]]) {
    assert.throws(() => optionsOf(args), BuildError, args.join(" "));
  }
  assert.deepEqual([...optionsOf([file, "--with", "state, events", "--with", "http"]).allowed], ["state", "events", "http"]);
});
