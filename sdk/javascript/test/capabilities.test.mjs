import assert from "node:assert/strict";
import { test } from "node:test";

import * as events from "@wharf/sdk/events";
import { canFetch, fetch } from "@wharf/sdk/http";
import * as process from "@wharf/sdk/process";
import { settings } from "@wharf/sdk/settings";
import * as terminal from "@wharf/sdk/terminal";
import { TestHost } from "@wharf/sdk/testing";
import * as webview from "@wharf/sdk/webview";

const within = (act, host = new TestHost()) => host.enter(act);

test("progress and messages are told, and what makes no sense is refused", () => {
  const host = new TestHost();
  within(() => {
    events.progress(1, 10, "one");
    assert.throws(() => events.progress(1), { code: "invalid" });
    assert.throws(() => events.progress(NaN), { code: "invalid" });
    events.message("info", { a: 1 });
    assert.throws(() => events.message("info", undefined), { code: "internal" });
    const stream = events.openStream("a build", { preset: "build" });
    stream.status("processing");
    stream.advance("linking", 50);
    stream.complete();
    stream.complete();
    assert.throws(() => stream.say("more"), { code: "gone" });
    events.changed("resources");
    events.updated("notes:1");
  }, host);
  assert.deepEqual(host.told.progressed, [{ done: 1, total: 10, message: "one" }]);
  assert.deepEqual(host.told.messages, [{ level: "info", data: { a: 1 } }]);
  assert.deepEqual(host.told.streams.get("stream-1").told, ["processing", "linking 50%"]);
  assert.deepEqual(host.told.changes, ["resources", "notes:1"]);
});

test("settings have defaults, and a misspelt one does not pass", () => {
  const of = (given) => within(() => settings({ greeting: "Hello", loud: false }), new TestHost({ settings: given }));
  assert.deepEqual(of({ greeting: "Ahoy" }), { greeting: "Ahoy", loud: false });
  assert.throws(() => of({ greting: "Ahoy" }), { code: "unavailable", retryable: false });
  assert.throws(() => of({ greeting: 7 }), /`greeting` must be a string, not a number/);
});

test("a program is run to its end, and followed in pieces that split no character", () => {
  const host = new TestHost().program("talk", ({ args }) => ({ stdout: args[0], stderr: "hm\n", code: 3 }));
  within(() => {
    const ended = process.run("talk", ["grüße\nende\n"]);
    assert.deepEqual([ended.stdout, ended.stderr, ended.process.outcome.code], ["grüße\nende\n", "hm\n", 3]);
    const id = process.spawn("talk", ["üüü"]);
    assert.deepEqual([...process.follow(id, "stdout", { maxBytes: 3 })].map(process.textOf), ["ü", "ü", "ü"]);
    assert.deepEqual([...process.follow(id, "stdout", { from: 4 })].map(process.textOf), ["ü"]);
    assert.deepEqual(process.wait(id, { pattern: [{ stream: "stdout", cursor: 2 }, "ü$"] }).found, [2, 6].map((n, i) => (i === 0 ? 4 : 6)));
    assert.equal(process.textOf(process.tail(process.list()[0].id, "stdout", 1, 100)), "ende\n");
    assert.equal(process.textOf(process.head(process.list()[0].id, "stdout", 1, 100)), "grüße\n");
  }, host);
});

test("what cannot start a process is refused", () =>
  within(() => {
    assert.throws(() => process.spawn("other"), { code: "denied" });
    assert.throws(() => process.spawn("x", "not an array"), { message: "`arguments` must be an array, not a string" });
    assert.throws(() => process.spawn("x", [], { lifetimeSeconds: 1 }), /`launch.lifetimeSeconds` is not known/);
    assert.throws(() => process.spawn("x", [], { environment: { A: 1 } }), /`launch.environment\[0\]\[1\]` must be a string/);
    assert.throws(() => process.read("nobody", { stream: "stdout", cursor: 0 }, 1), { code: "not-found" });
  }));

test("a failed request of a page has the code of its kind", () => {
  const played = { title: "T", run: (script) => { if (script === "throw") throw new Error("thrown"); return { script }; } };
  const host = new TestHost().site((url) => (url === "https://a/" ? played : undefined));
  within(() => {
    const { id } = webview.open({ width: 800 });
    assert.deepEqual(webview.navigate(id, "https://a/").title, "T");
    assert.deepEqual(webview.run(id, "1 + 1"), { script: "1 + 1" });
    assert.throws(() => webview.run(id, "throw"), { code: "invalid", message: "exception: Error: thrown" });
    assert.throws(() => webview.navigate(id, "https://b/"), { code: "unavailable", retryable: false });
    assert.throws(() => webview.open({ width: "wide" }), { code: "invalid" });
    const request = webview.executeScript(id, "2");
    webview.resultOf(request);
    assert.throws(() => webview.resultOf(request), { code: "gone" });
    webview.close(id);
    assert.throws(() => webview.get(id), { code: "not-found" });
  }, host);
});

test("a result that was cut is read to its end, and one that is too large is refused", () => {
  const pieces = (bytes) => ({
    wait: () => ({ state: "done", mimeType: "image/png", data: Uint8Array.of(1, 2), bytes }),
    readResult: (_request, from) => ({ start: from, next: from + 1, bytes, data: Uint8Array.of(from) }),
    acknowledge: () => {},
  });
  const of = (bytes) => within(() => webview.resultOf("r"), new TestHost().play("webview", pieces(bytes)));
  assert.deepEqual([...of(5).data], [1, 2, 2, 3, 4]);
  assert.throws(() => of(8_388_609), { code: "limit" });
});

test("a request that is pending or waits for a dialog says so", () => {
  const of = (outcome) => within(() => webview.resultOf("r"), new TestHost().play("webview", { wait: () => outcome }));
  assert.throws(() => of({ state: "pending" }), { code: "timeout" });
  assert.throws(() => of({ state: "pending", dialog: { message: "Sure?" } }), { code: "conflict", message: /Sure\?/ });
});

test("a turn of a terminal is followed to its end, and no further than asked", () => {
  const output = [..."one two three"];
  const played = {
    send: (_id, input) => ({ number: 1, start: 0, cancelled: false, typed: input }),
    follow: (_id, _turn, from, maxBytes) => {
      const data = Buffer.from(output.slice(from, from + Math.min(maxBytes, 4)).join(""));
      return { piece: { start: from, next: from + data.length, end: 13, data }, turn: { number: 1, start: 0, end: 13 } };
    },
  };
  const ask = (options) => within(() => terminal.ask("t", "go", options), new TestHost().play("terminal", played));
  assert.deepEqual([ask().text, ask().isCut], ["one two three", false]);
  assert.deepEqual([ask({ maxBytes: 6 }).text, ask({ maxBytes: 6 }).isCut], ["one tw", true]);
  assert.throws(() => ask({ maxBytes: 0 }), { code: "invalid" });
});

test("a request that is not answered has a code, and an engine without fetch says so", async () => {
  assert.equal(canFetch(), true);
  await assert.rejects(fetch("http://127.0.0.1:1/"), { code: "unavailable", retryable: true });
  const native = globalThis.fetch;
  delete globalThis.fetch;
  try {
    await assert.rejects(fetch("http://127.0.0.1:1/"), { code: "unavailable", message: /--engine spidermonkey/ });
  } finally {
    globalThis.fetch = native;
  }
});
