import assert from "node:assert/strict";
import { test } from "node:test";

import { TestHost } from "@wharf/sdk/testing";
import { load } from "../../test/load.mjs";

const greeter = await load("examples/greeter/greeter.ts");

test("visits are counted, and each session has its own", async () => {
  const host = new TestHost({ session: "a" });
  assert.equal((await host.run(greeter, "greet", { name: "Ada" })).text, "Welcome, Ada. Visit 1.");
  assert.deepEqual((await host.run(greeter, "greet", { name: "Ada" })).structured, { count: 2 });
  assert.equal((await host.with({ session: "b" }).run(greeter, "greet", { name: "Ada" })).text, "Welcome, Ada. Visit 1.");
});

test("who was never here cannot be forgotten", async () => {
  const host = new TestHost();
  await assert.rejects(host.run(greeter, "forget", { name: "Ada" }), { code: "not-found", message: "Ada was never here" });
});

test("visitors are listed until they are forgotten", async () => {
  const host = new TestHost();
  for (const name of ["Grace", "Ada"]) await host.run(greeter, "greet", { name });
  await host.run(greeter, "forget", { name: "Grace" });
  assert.deepEqual((await host.run(greeter, "visitors")).structured, { names: ["Ada"] });
});
