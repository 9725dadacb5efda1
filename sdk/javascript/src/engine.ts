// What differs between the engines that run a plugin.

import { host } from "#wit/caller";

let bigIntegers: boolean | undefined;

/**
 * Whether the engine takes a 64-bit number as a BigInt (SpiderMonkey) or as a number (QuickJS). The
 * wrong one ends the instance, so it is found out from what the engine returns, not from its name.
 */
export function takesBigIntegers(): boolean {
  bigIntegers ??= typeof host.remaining() === "bigint";
  return bigIntegers;
}

/** Forgets what was found out: for tests, which play both engines in one process. */
export function forgetEngine(): void {
  bigIntegers = undefined;
}

/** Whether an exported function may return a promise. QuickJS takes the promise for the answer. */
export function awaitsPromises(): boolean {
  return !("__cqjs" in globalThis);
}
