// The greeting, as the host calls it, without Wasm.

import assert from "node:assert/strict";
import { test } from "node:test";

import { TestHost } from "@wharf/sdk/testing";
import plugin from "../dist/plugin.mjs";

test("somebody is greeted by name", async () => {
  const { text } = await new TestHost().run(plugin, "greet", { name: "Ada" });
  assert.equal(text, "Welcome, Ada.");
});
