import assert from "node:assert/strict";
import { test } from "node:test";

import { listDirectory, makeDirectory, readFile, readText, removeDirectory, removeFile, writeFile } from "@wharf/sdk/files";
import { TestHost } from "@wharf/sdk/testing";
import * as workspace from "@wharf/sdk/workspace";

test("what is written is read, and each session has files of its own", () => {
  const host = new TestHost({ session: "a" });
  host.enter(() => {
    writeFile("note.txt", "a long first text");
    writeFile("note.txt", "grüß");
    makeDirectory("folder");
    writeFile("folder/large", new Uint8Array(600_000).fill(7));
    assert.equal(readText("note.txt"), "grüß");
    assert.equal(readFile("folder/large").length, 600_000);
    assert.deepEqual(listDirectory().map(({ name, type }) => `${name} ${type}`).sort(), ["folder directory", "note.txt regular-file"]);
    assert.equal(workspace.measure().entries, 3);
    assert.throws(() => removeDirectory("folder"), { code: "conflict" });
    removeFile("folder/large");
    removeDirectory("folder");
  });
  assert.deepEqual(host.files.names, ["note.txt"]);
  host.with({ session: "b" }).enter(() => assert.throws(() => readText("note.txt"), { code: "not-found" }));
});

test("what cannot be read or written has a code", () => {
  const host = new TestHost();
  host.files.add("folder/a.txt", "a");
  host.enter(() => {
    const codes = { "../x": "denied", "/etc/passwd": "denied", "no/file": "not-found", folder: "invalid" };
    for (const [path, code] of Object.entries(codes)) assert.throws(() => readText(path), { code }, path);
    assert.throws(() => readText(7), { code: "invalid" });
    assert.throws(() => writeFile("a.txt", { data: 1 }), { code: "invalid" });
    assert.throws(() => writeFile("nowhere/a.txt", "a"), { code: "not-found" });
    assert.throws(() => makeDirectory("folder"), { code: "conflict" });
    assert.throws(() => listDirectory("folder/a.txt"), { code: "invalid" });
  });
  const denied = host.with({ denied: ["workspace"] });
  assert.throws(() => denied.enter(() => readText("folder/a.txt")), { code: "denied" });
});

test("a file of more than 8 MiB is not read whole", () => {
  const host = new TestHost();
  host.files.add("huge", new Uint8Array(8_388_609));
  assert.throws(() => host.enter(() => readFile("huge")), { code: "limit" });
});
