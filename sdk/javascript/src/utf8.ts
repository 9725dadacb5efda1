// UTF-8, in both directions. QuickJS has no TextEncoder, and walking over a megabyte in an
// interpreter takes a tenth of a second, so what engines have natively is used where it is there: in
// chunks, since a detour by base64 takes several times the memory of the text.

/** Functions that only some engines have. */
interface NativeBytes extends Uint8Array {
  toBase64?: () => string;
}
const Bytes = Uint8Array as typeof Uint8Array & { fromBase64?: (text: string) => Uint8Array };
declare function escape(text: string): string;
declare function unescape(text: string): string;

/** A surrogate without its other half, which UTF-8 cannot say. */
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** The text with U+FFFD in place of each lone surrogate. */
export function wellFormed(text: string): string {
  const native = (text as string & { toWellFormed?: () => string }).toWellFormed;
  return native === undefined ? text.replace(LONE_SURROGATE, "\uFFFD") : native.call(text);
}

/** The engine's own, before `globals` puts ours in its place. */
const nativeEncoder = typeof TextEncoder === "function" ? new TextEncoder() : undefined;
const nativeDecoder = typeof TextDecoder === "function" ? new TextDecoder("utf-8", { ignoreBOM: true }) : undefined;

/** Characters or bytes of one chunk. */
const CHUNK = 65_536;

/** The UTF-8 of a text. A lone surrogate becomes U+FFFD. */
export function encodeUtf8(text: string): Uint8Array {
  return nativeEncoder?.encode(text) ?? encodeInChunks(text);
}

/** The same without TextEncoder. */
export function encodeInChunks(text: string): Uint8Array {
  if (text.length <= CHUNK) return encodeChunk(text);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let at = 0; at < text.length; ) {
    const end = Math.min(at + CHUNK, text.length);
    const last = text.charCodeAt(end - 1);
    // A pair of surrogates stays together.
    const cut = end < text.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
    const chunk = encodeChunk(text.slice(at, cut));
    chunks.push(chunk);
    length += chunk.length;
    at = cut;
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function encodeChunk(text: string): Uint8Array {
  if (Bytes.fromBase64 !== undefined && typeof btoa === "function" && typeof unescape === "function") {
    return Bytes.fromBase64(btoa(unescape(encodeURIComponent(wellFormed(text)))));
  }
  return encodeByHand(text);
}

/** The same without anything of the engine's. */
export function encodeByHand(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    let code = text.codePointAt(index) as number;
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
    if (code < 0x80) {
      bytes[length++] = code;
    } else if (code < 0x800) {
      bytes[length++] = 0xc0 | (code >> 6);
      bytes[length++] = 0x80 | (code & 0x3f);
    } else if (code < 0x10000) {
      bytes[length++] = 0xe0 | (code >> 12);
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f);
      bytes[length++] = 0x80 | (code & 0x3f);
    } else {
      index++;
      bytes[length++] = 0xf0 | (code >> 18);
      bytes[length++] = 0x80 | ((code >> 12) & 0x3f);
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f);
      bytes[length++] = 0x80 | (code & 0x3f);
    }
  }
  return bytes.slice(0, length);
}

/** The text of UTF-8 bytes. What is no UTF-8 becomes U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  return nativeDecoder?.decode(bytes) ?? decodeInChunks(bytes);
}

/** The same without TextDecoder. */
export function decodeInChunks(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = cutBefore(bytes, at + CHUNK);
    parts.push(decodeChunk(bytes.subarray(at, end)));
    at = end;
  }
  return parts.join("");
}

/** A place at or up to three bytes before `end` that is within no character. */
function cutBefore(bytes: Uint8Array, end: number): number {
  if (end >= bytes.length) return bytes.length;
  for (let cut = end; cut > end - 4; cut--) {
    if (((bytes[cut] as number) & 0xc0) !== 0x80) return cut;
  }
  return end;
}

function decodeChunk(bytes: Uint8Array): string {
  const native = (bytes as NativeBytes).toBase64;
  if (native !== undefined && typeof atob === "function" && typeof escape === "function") {
    try {
      return decodeURIComponent(escape(atob(native.call(bytes))));
    } catch {
      // Not all of it is UTF-8: the slow way says where.
    }
  }
  return decodeByHand(bytes);
}

/** How many bytes follow this first byte, and the range of the second; none where it begins nothing. */
function sequence(first: number): readonly [number, number, number] | undefined {
  if (first >= 0xc2 && first <= 0xdf) return [1, 0x80, 0xbf];
  if (first === 0xe0) return [2, 0xa0, 0xbf];
  if (first === 0xed) return [2, 0x80, 0x9f];
  if (first >= 0xe1 && first <= 0xef) return [2, 0x80, 0xbf];
  if (first === 0xf0) return [3, 0x90, 0xbf];
  if (first === 0xf4) return [3, 0x80, 0x8f];
  if (first >= 0xf1 && first <= 0xf3) return [3, 0x80, 0xbf];
  return undefined;
}

/** One character, or what is none, from a byte on. */
export interface Decoded {
  /** The code point; none where the bytes are no UTF-8. */
  code: number | undefined;
  /** The byte to go on from. */
  next: number;
  /** The bytes end within a character. */
  incomplete: boolean;
}

/** Decodes one character, under the rules of the Encoding Standard. */
export function decodeOne(bytes: Uint8Array, at: number): Decoded {
  const first = bytes[at] as number;
  if (first < 0x80) return { code: first, next: at + 1, incomplete: false };
  const found = sequence(first);
  if (found === undefined) return { code: undefined, next: at + 1, incomplete: false };
  const [count, least, greatest] = found;
  let code = first & (0x3f >> count);
  for (let offset = 1; offset <= count; offset++) {
    const byte = bytes[at + offset];
    if (byte === undefined) return { code: undefined, next: at + offset, incomplete: true };
    const isLegal = offset === 1 ? byte >= least && byte <= greatest : byte >= 0x80 && byte <= 0xbf;
    if (!isLegal) return { code: undefined, next: at + offset, incomplete: false };
    code = (code << 6) | (byte & 0x3f);
  }
  return { code, next: at + count + 1, incomplete: false };
}

/** The same as `decodeUtf8` without anything of the engine's. */
export function decodeByHand(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { code, next } = decodeOne(bytes, at);
    parts.push(String.fromCodePoint(code ?? 0xfffd));
    at = next;
  }
  return parts.join("");
}
