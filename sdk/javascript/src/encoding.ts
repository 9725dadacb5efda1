// TextEncoder and TextDecoder where the engine has none: of UTF-8, which is all that plugins meet.

import { decodeOne, decodeInChunks, encodeInChunks } from "./utf8.js";

/** Encodes text as UTF-8. A lone surrogate becomes U+FFFD. */
export class Utf8Encoder {
  readonly encoding = "utf-8";

  encode(text = ""): Uint8Array {
    return encodeInChunks(String(text));
  }

  /** Encodes as many whole characters as `target` has room for. */
  encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
    let read = 0;
    let written = 0;
    for (const character of String(text)) {
      const bytes = encodeInChunks(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

const LABELS = new Set(["utf-8", "utf8", "unicode-1-1-utf-8"]);

/** Decodes UTF-8, in one piece or several. */
export class Utf8Decoder {
  readonly encoding = "utf-8";
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  #rest = new Uint8Array(0);
  #begun = false;

  /** Fails with a RangeError for another encoding. */
  constructor(label = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    if (!LABELS.has(String(label).trim().toLowerCase())) {
      throw new RangeError(`the encoding ${JSON.stringify(String(label))} is not known; there is utf-8`);
    }
    this.fatal = options.fatal === true;
    this.ignoreBOM = options.ignoreBOM === true;
  }

  /** Fails with a TypeError where `fatal` is set and the bytes are no UTF-8. */
  decode(input?: ArrayBuffer | ArrayBufferView, options: { stream?: boolean } = {}): string {
    const given = bytesOf(input);
    const bytes = new Uint8Array(this.#rest.length + given.length);
    bytes.set(this.#rest);
    bytes.set(given, this.#rest.length);
    const stop = options.stream === true ? wholeCharacters(bytes) : bytes.length;
    this.#rest = bytes.slice(stop);
    const whole = bytes.subarray(0, stop);
    if (this.fatal) this.#refuseMalformed(whole);
    return this.#withoutMark(decodeInChunks(whole), options.stream === true);
  }

  #refuseMalformed(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const { code, next } = decodeOne(bytes, at);
      if (code === undefined) {
        this.#rest = new Uint8Array(0);
        this.#begun = false;
        throw new TypeError("the bytes are not UTF-8");
      }
      at = next;
    }
  }

  #withoutMark(text: string, streaming: boolean): string {
    const isFirst = !this.#begun && text !== "";
    this.#begun = streaming && (this.#begun || text !== "");
    return isFirst && !this.ignoreBOM && text.startsWith("\uFEFF") ? text.slice(1) : text;
  }
}

function bytesOf(input: ArrayBuffer | ArrayBufferView | undefined): Uint8Array {
  if (input === undefined) return new Uint8Array(0);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw new TypeError("only an ArrayBuffer or a view of one can be decoded");
}

/** How many bytes are left once an incomplete last character, of at most three bytes, is taken off. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let at = Math.max(0, bytes.length - 3); at < bytes.length; at++) {
    const isContinuation = ((bytes[at] as number) & 0xc0) === 0x80;
    if (!isContinuation && decodeOne(bytes, at).incomplete) return at;
  }
  return bytes.length;
}
