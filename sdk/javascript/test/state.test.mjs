import assert from "node:assert/strict";
import { test } from "node:test";

import { bucket, putJson } from "@wharf/sdk/state";
import { TestHost } from "@wharf/sdk/testing";

const within = (act, options) => new TestHost(options).enter(act);

test("what is put is got, as bytes, text and JSON", () =>
  within(() => {
    const notes = bucket("session", "notes");
    assert.equal(notes.get("a"), undefined);
    const first = notes.put("a", "grüß");
    assert.deepEqual([...notes.get("a").value], [...Buffer.from("grüß")]);
    assert.ok(notes.put("a", Uint8Array.of(1)) > first);
    notes.putJson("b", { x: [1] });
    assert.deepEqual(notes.getJson("b"), { x: [1] });
    assert.throws(() => notes.getJson("a"), { code: "internal" });
    assert.deepEqual(notes.getMany(["z", "b"]).map((entry) => entry?.key), [undefined, "b"]);
    notes.delete("a");
    assert.deepEqual(notes.usage(), { entries: 1, bytes: 10, quotaBytes: 67_108_864 });
  }));

test("scopes are apart", () => {
  const host = new TestHost({ session: "a", assistant: "x" });
  const other = host.with({ session: "b" });
  const put = (at, scope) => at.enter(() => bucket(scope, "n").put("k", "v"));
  const seen = (at, scope) => at.enter(() => bucket(scope, "n").get("k") !== undefined);
  for (const scope of ["session", "assistant", "plugin", "thread"]) put(host, scope);
  assert.deepEqual(["session", "assistant", "plugin", "thread", "default"].map((scope) => seen(other, scope)), [false, true, true, false, false]);
  assert.equal(seen(host, "default"), true);
  assert.throws(() => put(new TestHost(), "assistant"), { code: "invalid" });
  assert.throws(() => put(host, "world"), { code: "invalid" });
});

test("changes are all made or none", () =>
  within(() => {
    const notes = bucket("session", "notes");
    notes.put("a", "1");
    assert.throws(() => notes.apply([putJson("b", 1), { ...putJson("a", 2), ifRevision: 999 }]), { code: "conflict" });
    assert.equal(notes.get("b"), undefined);
    assert.throws(() => notes.apply([putJson("b", 1), putJson("b", 2)]), { code: "invalid" });
  }));

test("an update begins again where a rival wrote, and sees what it wrote", () => {
  const host = new TestHost();
  let rivals = 3;
  host.beforeApply(() => {
    if (rivals-- > 0) host.enter(() => bucket("session", "n").putJson("k", 10 * (rivals + 1)));
  });
  assert.equal(host.enter(() => bucket("session", "n").update("k", (count = 0) => count + 1)), 11);
});

test("an update gives up after a bounded number of attempts, or where the time is for the answer", () => {
  for (const [remaining, expected] of [[30_000, 500], [100, 1]]) {
    const host = new TestHost({ remaining });
    let attempts = 0;
    host.beforeApply(() => host.enter(() => bucket("session", "n").putJson("k", 0)));
    const act = () => bucket("session", "n").update("k", () => ++attempts);
    assert.throws(() => host.enter(act), { code: "conflict", retryable: true });
    assert.equal(attempts, expected);
  }
});

test("an update that returns nothing or fails writes nothing", () =>
  within(() => {
    const notes = bucket("session", "notes");
    notes.putJson("k", 1);
    assert.throws(() => notes.update("k", () => {}), { code: "internal" });
    assert.throws(() => notes.update("k", () => { throw new RangeError("no"); }), RangeError);
    assert.equal(notes.getJson("k"), 1);
  }));

test("a transaction of several keys expects each as it was seen", () =>
  within(() => {
    const notes = bucket("session", "notes");
    notes.putJson("a", 5);
    const moved = notes.transact(["a", "b"], ([from, to]) => ({
      changes: [{ key: "a", value: undefined }, putJson("b", 5)],
      result: [from?.key, to],
    }));
    assert.deepEqual(moved, ["a", undefined]);
    assert.deepEqual([notes.get("a"), notes.getJson("b")], [undefined, 5]);
    assert.equal(notes.transact(["b"], () => ({ changes: [], result: "as it was" })), "as it was");
  }));

test("a scan goes over all pages, in the order of the keys' bytes", () =>
  within(() => {
    const notes = bucket("session", "notes");
    const keys = ["b", "a", "\uffff", "\u{10000}", ...Array.from({ length: 50 }, (_, index) => `n${index + 10}`)];
    for (const key of keys) notes.put(key, "");
    assert.deepEqual(Array.from(notes.scan("", 7), (entry) => entry.key), [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    assert.equal([...notes.scan("n1")].length, 10);
    assert.equal(notes.page("n", "n20", 5).entries[0].key, "n21");
  }));

test("a full bucket says what makes room", () => {
  const host = new TestHost().quota(10);
  const act = () => bucket("session", "n").whenFull("clear_notes makes room").put("key", "a long value");
  assert.throws(() => host.enter(act), (error) => error.code === "limit" && error.message.endsWith("; clear_notes makes room"));
});

test("an expired scope is empty, and says when it expired until it is written", () => {
  const host = new TestHost();
  const notes = host.enter(() => bucket("session", "n"));
  host.enter(() => notes.put("k", "v"));
  host.expire("session");
  host.enter(() => {
    assert.equal(notes.get("k"), undefined);
    assert.match(notes.expiredAt(), /^\d{4}-/);
    notes.put("k", "v");
    assert.equal(notes.expiredAt(), undefined);
  });
});

test("odd arguments are refused before the host sees them", () =>
  within(() => {
    const notes = bucket("session", "notes");
    const invalid = { code: "invalid" };
    assert.throws(() => bucket("session", undefined), { message: "`name` must be a string, not undefined" });
    assert.throws(() => bucket("session", "a/b"), invalid);
    assert.throws(() => notes.get(""), invalid);
    assert.throws(() => notes.get("x".repeat(513)), invalid);
    assert.throws(() => notes.put("k", { a: 1 }), { message: "`changes[0].value` must be a Uint8Array, not an object" });
    assert.throws(() => notes.apply([{ key: "k", ifRevison: 1 }]), /`changes\[0\].ifRevison` is not known/);
    assert.throws(() => notes.putJson(7, 1), invalid);
    assert.throws(() => notes.put("k", new Uint8Array(1_048_577)), invalid);
    assert.throws(() => notes.putJson("k", undefined), { code: "internal" });
    assert.throws(() => notes.page("", undefined, -1), invalid);
    assert.throws(() => notes.page("", undefined, 1.5), invalid);
  }));

test("state that is not granted is `denied`", () => {
  assert.throws(() => within(() => bucket("session", "n"), { denied: ["state"] }), { code: "denied" });
});
