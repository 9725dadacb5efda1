import assert from "node:assert/strict";
import { test } from "node:test";

import { TestHost } from "@wharf/sdk/testing";
import reader from "./page-reader.js";

const site = (pages) => new TestHost().site((url) => pages[url]);

test("a page is read, and closed behind", async () => {
  const host = site({ "https://example.com/": { title: "Harbour news", run: () => "Three ships came in." } });
  const { text, structured } = await host.run(reader, "read", { url: "https://example.com/" });
  assert.equal(text, "Harbour news\n\nThree ships came in.");
  assert.deepEqual(structured, { url: "https://example.com/", title: "Harbour news", text: "Three ships came in.", cut: false });
  for (let page = 0; page < 20; page++) await host.run(reader, "read", { url: "https://example.com/" });
});

test("a long text is cut, and the answer says so", async () => {
  const host = site({ "https://example.com/": { run: () => "x".repeat(30_000) } });
  const { structured } = await host.run(reader, "read", { url: "https://example.com/" });
  assert.equal(structured.text.length, 20_000);
  assert.equal(structured.cut, true);
});

test("a server that is not reached is `unavailable`, and the page is closed all the same", async () => {
  const host = site({});
  for (let page = 0; page < 20; page++) {
    await assert.rejects(host.run(reader, "read", { url: "https://example.com/" }), { code: "unavailable" });
  }
});

test("other schemes are refused", async () => {
  await assert.rejects(new TestHost().run(reader, "read", { url: "file:///etc/passwd" }), { code: "invalid" });
});
