import assert from "node:assert/strict";
import { test } from "node:test";

import { TestHost } from "@wharf/sdk/testing";
import { load } from "../../test/load.mjs";

const builder = await load("examples/builder/builder.ts");

test("a file that compiles ends with code 0, and a later call follows the same build", async () => {
  let started;
  const host = new TestHost().program("cc", (start) => ((started = start), {}));
  const { structured } = await host.run(builder, "build", { file: "hello.c" });
  assert.deepEqual(started.args, ["-Wall", "-o", "hello", "hello.c"]);
  assert.deepEqual({ ...structured, id: "" }, { id: "", status: "finished", exit_code: 0, output: "", next: 0 });
  assert.equal((await host.run(builder, "follow", { id: structured.id })).structured.exit_code, 0);
});

test("what the compiler says is answered and told as progress", async () => {
  const host = new TestHost().program("cc", () => ({ stderr: "hello.c:1: error\n", code: 1 }));
  const answer = await host.run(builder, "build", { file: "hello.c" });
  assert.equal(answer.text, "cc ended with code 1.\nhello.c:1: error");
  assert.equal(answer.structured.status, "failed");
  assert.equal(host.told.progressed[0].done, 17);
});

test("a build goes on where progress is not granted", async () => {
  const host = new TestHost({ denied: ["events"] }).program("cc", () => ({ stderr: "a warning\n" }));
  assert.equal((await host.run(builder, "build", { file: "hello.c" })).structured.exit_code, 0);
});

test("a name that `cc` would take for an option is refused", async () => {
  await assert.rejects(new TestHost().run(builder, "build", { file: "-shared.c" }), { code: "invalid" });
});

test("without a grant the host's error is passed on", async () => {
  await assert.rejects(new TestHost().run(builder, "build", { file: "a.c" }), { code: "denied" });
});
