import assert from "node:assert/strict";
import { test } from "node:test";

import { Utf8Decoder, Utf8Encoder } from "../dist/encoding.js";
import { decodeByHand, decodeInChunks, encodeByHand, encodeInChunks, wellFormed } from "../dist/utf8.js";

/** Texts and bytes around every boundary of UTF-8, and some that are none. */
const points = [0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfeff, 0xffff, 0x10000, 0x10ffff];
const texts = ["", "a", "grüß", "한국어", "🙂", "%41 %zz + /", ...points.map((point) => `x${String.fromCodePoint(point)}y`)];
const lone = ["\ud800", "\udfff", "a\ud800b", "\udc00\ud800", "\ud800\ud800\udc00", "🙂\ud83d"];

/** Two bytes exhaustively after each lead, and random ones: the same seed each time. */
function* malformed() {
  for (const first of [0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff]) {
    for (const second of [0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc2, 0xff]) {
      for (const rest of [[], [0x80], [0x41], [0x80, 0x80], [0x80, 0x41], [0xf0, 0x9f]]) yield Uint8Array.of(first, second, ...rest);
    }
  }
  let seed = 1;
  for (let round = 0; round < 2_000; round++) {
    yield Uint8Array.from({ length: round % 9 }, () => (seed = (seed * 48_271) % 2_147_483_647) & 0xff);
  }
}

test("text becomes the bytes that the platform makes of it, lone surrogates U+FFFD", () => {
  for (const text of [...texts, ...lone]) {
    const expected = new TextEncoder().encode(text);
    assert.deepEqual(encodeByHand(text), expected, JSON.stringify(text));
    assert.deepEqual(Buffer.from(new Utf8Encoder().encode(text)), Buffer.from(expected));
    assert.equal(wellFormed(text), text.toWellFormed());
  }
});

test("bytes become the text that the platform makes of them", () => {
  for (const bytes of malformed()) {
    const expected = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    assert.equal(decodeByHand(bytes), expected, Buffer.from(bytes).toString("hex"));
    assert.equal(new Utf8Decoder("utf-8", { ignoreBOM: true }).decode(bytes), expected);
  }
});

test("a fatal decoder refuses what is no UTF-8, and nothing else", () => {
  const verdict = (Decoder, bytes) => {
    try {
      return new Decoder("utf-8", { fatal: true }).decode(bytes);
    } catch (error) {
      return error.constructor.name;
    }
  };
  for (const bytes of malformed()) assert.equal(verdict(Utf8Decoder, bytes), verdict(TextDecoder, bytes));
});

test("a text in pieces is the same text, wherever it is cut", () => {
  for (const bytes of [...texts.map((text) => new TextEncoder().encode(text)), ...malformed()].filter((bytes) => bytes.length < 9)) {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const pieces = (decoder) =>
        decoder.decode(bytes.subarray(0, cut), { stream: true }) + decoder.decode(bytes.subarray(cut), { stream: true }) + decoder.decode();
      assert.equal(pieces(new Utf8Decoder()), pieces(new TextDecoder()), `${Buffer.from(bytes).toString("hex")} at ${cut}`);
    }
  }
});

test("a byte order mark goes away unless it is kept", () => {
  const bytes = Uint8Array.of(0xef, 0xbb, 0xbf, 0x61);
  assert.equal(new Utf8Decoder().decode(bytes), "a");
  assert.equal(new Utf8Decoder("utf8", { ignoreBOM: true }).decode(bytes), "\ufeffa");
});

test("views and buffers are decoded, anything else and other encodings refused", () => {
  const bytes = new TextEncoder().encode("-abc-");
  assert.equal(new Utf8Decoder().decode(bytes.buffer), "-abc-");
  assert.equal(new Utf8Decoder().decode(new DataView(bytes.buffer, 1, 3)), "abc");
  assert.throws(() => new Utf8Decoder().decode("text"), TypeError);
  assert.throws(() => new Utf8Decoder("latin1"), RangeError);
});

test("encodeInto writes whole characters alone", () => {
  const target = new Uint8Array(4);
  assert.deepEqual(new Utf8Encoder().encodeInto("aü🙂", target), { read: 2, written: 3 });
  assert.deepEqual([...target], [0x61, 0xc3, 0xbc, 0]);
});

test("a long text is the same text, whatever stands where it is cut", () => {
  for (const unit of ["a", "ü", "한", "🙂", "\ud800", "a🙂"]) {
    for (let offset = 0; offset < 5; offset++) {
      const text = "x".repeat(65_533 + offset) + unit.repeat(70_000);
      const bytes = new TextEncoder().encode(text);
      assert.deepEqual(Buffer.compare(encodeInChunks(text), bytes), 0, `${unit} at ${offset}`);
      assert.ok(decodeInChunks(bytes) === wellFormed(text), `${unit} at ${offset}`);
    }
  }
  for (const filling of malformed()) {
    const bytes = new Uint8Array(65_600).fill(0x61);
    for (let at = 65_530; at + filling.length < 65_542; at += Math.max(1, filling.length)) bytes.set(filling, at);
    assert.ok(decodeInChunks(bytes) === new TextDecoder().decode(bytes), Buffer.from(filling).toString("hex"));
  }
});
