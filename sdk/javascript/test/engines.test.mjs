// What both engines take and return, as their tools were seen to.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { bucket } from "@wharf/sdk/state";
import { consoleOf, inspect } from "../dist/console.js";
import { forgetEngine } from "../dist/engine.js";
import { hostError } from "../dist/error.js";
import { lift, lower } from "../dist/shape.js";
import { within } from "../dist/testing/current.js";

afterEach(forgetEngine);

/** A host as an engine shows it: 64-bit numbers are `wide(number)`, what is absent is `none`. */
function engine(wide, none, seen) {
  return {
    fake: (name) =>
      name === "caller"
        ? { remaining: () => wide(5) }
        : {
            Bucket: {
              open: () => ({
                getMany: () => [none, { key: "k", value: Uint8Array.of(1), revision: wide(7) }],
                apply: (changes) => (seen.push(...changes), [wide(8)]),
                scan: () => ({ entries: [], next: none }),
              }),
            },
          },
  };
}

test("64-bit numbers and what is absent look the same on both engines", () => {
  for (const [wide, none] of [[BigInt, undefined], [Number, null]]) {
    forgetEngine();
    const seen = [];
    within(engine(wide, none, seen), () => {
      const opened = bucket("session", "n");
      assert.deepEqual(opened.getMany(["a", "k"]), [undefined, { key: "k", value: Uint8Array.of(1), revision: 7 }]);
      assert.deepEqual(opened.apply([{ key: "k", ifRevision: 7 }]), [8]);
      assert.equal(opened.page("", undefined, 1).next, undefined);
    });
    assert.deepEqual(seen, [{ key: "k", value: undefined, ifRevision: wide(7) }]);
  }
});

test("a list of 64-bit numbers and bytes of another realm are ours", () => {
  assert.deepEqual(lift(new BigUint64Array([1n, 2n])), [1, 2]);
  const { runInNewContext } = process.getBuiltinModule("node:vm");
  const foreign = lift(runInNewContext("({ value: Uint8Array.of(1, 2), big: [3n] })"));
  assert.ok(foreign.value instanceof Uint8Array);
  assert.deepEqual(foreign, { value: Uint8Array.of(1, 2), big: [3] });
});

test("what either engine would end the instance for is refused or mended", () => {
  const invalid = { code: "invalid" };
  assert.equal(lower("string", "a\ud800", "x"), "a\ufffd");
  for (const [shape, value] of [
    ["string", 1], ["string", undefined], ["bool", "yes"], ["bytes", [1]], ["f64", "1"], ["f64", 1n],
    ["u8", 256], ["u8", -1], ["u16", 1.5], ["u32", NaN], ["u32", 2 ** 32], ["u64", -1], ["u64", 2 ** 53], ["u64", 1n], ["s32", 2 ** 31],
    [{ list: "u8" }, { length: 1 }], [{ tuple: ["u8", "u8"] }, [1]], [{ record: { a: "u8" } }, null], [{ record: { a: "u8" } }, []],
    [{ record: { a: "u8" } }, { a: 1, b: 2 }], [{ list: "string" }, new Array(2)],
  ]) {
    assert.throws(() => lower(shape, value, "x"), invalid, JSON.stringify([shape, String(value)]));
  }
  assert.throws(() => lower({ list: { record: { name: "string" } } }, [{ name: 1 }], "x"), { message: "`x[0].name` must be a string, not 1" });
  assert.equal(lower({ option: "u8" }, null, "x"), undefined);
});

test("an error of the host is a ToolError, and others stay what they are", () => {
  const thrown = hostError(Object.assign(new Error("[object Object]"), { payload: { code: "limit", message: "full", retryable: true } }));
  assert.deepEqual([thrown.code, thrown.message, thrown.retryable], ["limit", "full", true]);
  const other = new RangeError("no");
  assert.equal(hostError(other), other);
  assert.equal(hostError("text"), "text");
});

test("console lines have their level, and show any value in bounds", () => {
  const lines = [];
  const made = consoleOf((level, message) => lines.push([level, message]));
  made.log("a", 1, { b: [true, null] });
  made.warn(new Map([["k", 1n]]), new Set(["s"]), Uint8Array.of(1), () => 1);
  made.error("x".repeat(20_000));
  assert.deepEqual(lines.slice(0, 2), [
    ["info", "a 1 { b: [true, null] }"],
    ["warn", 'Map [["k", 1n]] Set ["s"] Uint8Array(1) [function ]'],
  ]);
  assert.equal(lines[2][1].length, 8_192);
  const circle = { deep: { deep: { deep: { deep: { deep: 1 } } } } };
  circle.self = circle;
  assert.equal(inspect(circle), "{ deep: { deep: { deep: { deep: {…} } } }, self: [circle] }");
  assert.match(inspect({ get a() { throw new Error("no"); } }), /cannot be shown/);
  assert.match(inspect(new Array(1_000).fill(0)), /… 950 more/);
});
