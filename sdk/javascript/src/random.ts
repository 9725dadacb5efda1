// Randomness on QuickJS. A component keeps what its engine was when it was built, so that its own
// `Math.random` begins with the same number in each call; and it has no `crypto`.

import { host } from "#wit/random";
import { isRunning } from "./phase.js";

/** The most bytes of one `getRandomValues`, as in browsers. */
const MOST_BYTES = 65_536;

type Integers = Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array;

const bytes = (length: number): Uint8Array => Uint8Array.from(host.getRandomBytes(length));

/** A `Math.random` whose numbers are new in each call; `before` serves the build, which has no host. */
export function randomOf(before: () => number): () => number {
  // Each call begins with a copy of what is here at build: nothing.
  let state: Uint32Array | undefined;
  return () => {
    if (!isRunning()) return before();
    state ??= new Uint32Array(bytes(16).buffer);
    // 53 bits, as a number holds.
    return ((next(state) >>> 5) * 67_108_864 + (next(state) >>> 6)) / 9_007_199_254_740_992;
  };
}

/**
 * The next 32 bits of sfc32, the small fast counting generator of Chris Doty-Humphrey's PractRand. It is
 * not for secrets: `crypto` is.
 */
function next(state: Uint32Array): number {
  const [a, b, c, counter] = state as unknown as [number, number, number, number];
  const sum = (a + b + counter) | 0;
  state[3] = counter + 1;
  state[0] = b ^ (b >>> 9);
  state[1] = c + (c << 3);
  state[2] = ((c << 21) | (c >>> 11)) + sum;
  return sum >>> 0;
}

/** The part of `crypto` that makes random values; those of the host in each call. */
export const crypto = {
  /** Fills an array of integers, of at most 65,536 bytes. */
  getRandomValues<T extends Integers>(array: T): T {
    if (array.byteLength > MOST_BYTES) throw new RangeError(`at most ${MOST_BYTES} bytes are made at once, not ${array.byteLength}`);
    if (!isRunning()) throw new Error("nothing random can be had while a component is built: it would be the same in each call");
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes(array.byteLength));
    return array;
  },

  /** A random UUID, of version 4. */
  randomUUID(): string {
    const made = this.getRandomValues(new Uint8Array(16));
    made[6] = (made[6]! & 0x0f) | 0x40;
    made[8] = (made[8]! & 0x3f) | 0x80;
    const hexadecimal = Array.from(made, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hexadecimal.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  },
};
