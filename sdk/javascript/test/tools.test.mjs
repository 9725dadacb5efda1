import assert from "node:assert/strict";
import { test } from "node:test";

import { answer, content, plugin, reply, tool, ToolError, Type } from "@wharf/sdk";
import { TestHost } from "@wharf/sdk/testing";

const named = (run, more = {}) => plugin({ tools: [tool({ name: "it", description: "Does it.", ...more }, run)] });
const run = (made, input, host = new TestHost()) => host.run(made, "it", input);

test("a description becomes the record of the contract, with its hints", () => {
  const made = named(() => "", { title: "It", readOnly: true, idempotent: false, timeoutMilliseconds: 5_000, output: Type.Object({}) });
  const [definition] = made.tools.listTools();
  assert.deepEqual(JSON.parse(definition.meta), {
    title: "It",
    annotations: { readOnlyHint: true, idempotentHint: false },
    timeoutMilliseconds: 5_000,
  });
  assert.deepEqual(JSON.parse(definition.inputSchema), { type: "object", properties: {}, additionalProperties: false });
  assert.deepEqual(JSON.parse(definition.outputSchema), { type: "object", properties: {} });
});

test("text, structure, a reply and whole answers are answers", async () => {
  assert.equal((await run(named(() => "grüß"))).text, "grüß");
  const output = Type.Object({ count: Type.Integer() });
  assert.deepEqual((await run(named(() => ({ count: 1 }), { output }))).text, '{"count":1}');
  const replied = await run(named(() => reply("one", { count: 1 }), { output }));
  assert.deepEqual([replied.text, replied.structured], ["one", { count: 1 }]);
  const whole = await run(
    named(() => answer({ content: ["a", content("image/png", Uint8Array.of(1, 2), { uri: "x:1" })], isError: true, meta: { a: 1 } })),
  );
  assert.deepEqual([...whole.wit.content[1].data], [1, 2]);
  assert.equal(whole.wit.content[1].meta, '{"uri":"x:1"}');
  assert.deepEqual([whole.text, whole.isError, whole.meta], ["a", true, { a: 1 }]);
});

test("asynchronous tools answer and fail like others", async () => {
  assert.equal((await run(named(async () => "later"))).text, "later");
  await assert.rejects(run(named(async () => { throw ToolError.gone("it left"); })), { code: "gone", message: "it left" });
});

test("an error keeps its code, message and whether to try again", async () => {
  await assert.rejects(run(named(() => { throw new ToolError("conflict", "twice"); })), { code: "conflict", retryable: true });
  await assert.rejects(run(named(() => { throw new ToolError("timeout", "x", { retryable: false }); })), { retryable: false });
  await assert.rejects(run(named(() => { throw ToolError.conflict("it runs").withAdvice("stop_it ends it"); })), { message: "it runs; stop_it ends it" });
});

test("an error whose members are of other types than the contract's is mended", async () => {
  const odd = Object.assign(ToolError.gone("x"), { message: 7, retryable: "yes", code: 9 });
  await assert.rejects(run(named(() => { throw odd; })), { code: "9", message: "7", retryable: false });
});

test("an unexpected exception is `internal` with its message, and its stack goes to the log alone", async () => {
  const host = new TestHost();
  await assert.rejects(run(named(() => null.x), {}, host), (error) => {
    assert.equal(error.code, "internal");
    assert.match(error.message, /null/);
    assert.doesNotMatch(error.message, /tools\.test/);
    return true;
  });
  assert.match(host.lines[0].message, /TypeError: .*\n.*tools\.test\.mjs/s);
});

test("whatever is thrown is an error of the contract", async () => {
  const hostile = { toString() { throw new Error("no"); } };
  const unreadable = Object.defineProperty(new Error(), "message", { get() { throw new Error("no"); } });
  for (const thrown of [unreadable, "text", undefined, null, 7, Symbol("s"), hostile, Object.create(null), new Error("")]) {
    await assert.rejects(run(named(() => { throw thrown; })), { code: "internal" });
  }
});

test("what a tool cannot return is `internal`, and says what it was", async () => {
  const circle = {};
  circle.it = circle;
  const cases = [[undefined, /undefined/], [null, /null/], [7, /7/], [[1], /an array/], [circle, /cannot be JSON/], [{ big: 1n }, /BigInt/]];
  for (const [value, message] of cases) {
    await assert.rejects(run(named(() => value)), (error) => error.code === "internal" && message.test(error.message));
  }
  const odd = named(() => answer({ content: [{ mimeType: "image/png", data: "text" }] }));
  await assert.rejects(run(odd), { code: "internal", message: "`answer.content[0].data` must be a Uint8Array, not a string" });
});

test("arguments and answers are checked as the host does", async () => {
  const input = Type.Object({ times: Type.Integer({ minimum: 1 }) }, { additionalProperties: false });
  const made = named((_call, { times }) => ({ times: String(times) }), { input, output: Type.Object({ times: Type.Integer() }) });
  await assert.rejects(run(made, { times: 0 }), { code: "invalid" });
  await assert.rejects(run(made, { times: 1, more: 1 }), { code: "invalid" });
  await assert.rejects(run(made, { times: 1 }), { code: "internal" });
});

test("a description that breaks a rule of the contract is refused where it is made", () => {
  const invalid = { code: "invalid" };
  for (const name of ["", "two__underscores", "a b", "x".repeat(65), undefined, 7]) {
    assert.throws(() => named(() => "", { name }), invalid);
  }
  assert.throws(() => named(() => "", { description: "" }), invalid);
  assert.throws(() => named(() => "", { description: "é".repeat(5_000) }), invalid);
  assert.throws(() => named(() => "", { input: Type.String() }), invalid);
  assert.throws(() => named(() => "", { timeoutMilliseconds: -1 }), invalid);
  assert.throws(() => named(undefined), invalid);
  const twice = tool({ name: "it", description: "Does it." }, () => "");
  assert.throws(() => plugin({ tools: [twice, twice] }), invalid);
});

test("an unknown tool and arguments that are no object have codes", async () => {
  const host = new TestHost();
  const made = named(() => "");
  for (const [name, text, code] of [["other", "{}", "not-found"], ["it", "[]", "invalid"], ["it", "{", "invalid"], ["it", "null", "invalid"]]) {
    assert.throws(() => host.enter(() => made.tools.callTool(name, text)), { code });
  }
});

test("the call says on whose behalf it runs", async () => {
  const seen = [];
  const made = named((call) => {
    seen.push(call.session, call.assistant, call.thread, call.remaining(), call.requestMeta);
    call.log("warn", "a line");
    return "";
  });
  const host = new TestHost({ session: "s", thread: "t", remaining: 5, requestMeta: { a: 1 } });
  await run(made, {}, host);
  assert.deepEqual(seen, ["s", undefined, "t", 5, { a: 1 }]);
  assert.deepEqual(host.lines, [{ level: "warn", message: "a line" }]);
});

test("without a host, the error says what to use", async () => {
  const { bucket } = await import("@wharf/sdk/state");
  assert.throws(() => bucket("session", "x"), /TestHost/);
});

test("two hosts at once do not see each other's calls", async () => {
  const made = named(async (call) => {
    await new Promise((resolve) => setImmediate(resolve));
    return call.session;
  });
  const answers = await Promise.all(["a", "b", "c"].map((session) => run(made, {}, new TestHost({ session }))));
  assert.deepEqual(answers.map((answer) => answer.text), ["a", "b", "c"]);
});
