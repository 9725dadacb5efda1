// The one way to the host: arguments are checked before, errors and results converted after.

import { hostError, ToolError } from "./error.js";
import { isRunning } from "./phase.js";
import { lift, lower, type Shape } from "./shape.js";

/** Names of parameters, and what each is checked by. */
type Parameters = ReadonlyArray<readonly [string, Shape]>;

/**
 * Calls a function of the host.
 *
 * Fails with `invalid` where an argument is of another type than the contract says; with the host's own
 * error; and with `internal` at the top level of a module, where a missing host would end the build
 * with nothing but a backtrace.
 */
export function invoke(receiver: any, method: string, parameters: Parameters, values: readonly unknown[]): unknown {
  return lift(invokeForHandle(receiver, method, parameters, values));
}

/** The same for a function that returns a handle of the host, which stays as it is. */
export function invokeForHandle(receiver: any, method: string, parameters: Parameters, values: readonly unknown[]): object {
  if (!isRunning()) {
    throw ToolError.internal(
      `\`${method}\` was called while no call runs: the top level of a module runs at build, without a host; a test uses TestHost of @wharf/sdk/testing`,
    );
  }
  const lowered = parameters.map(([name, shape], index) => lower(shape, values[index], name));
  try {
    return receiver[method](...lowered);
  } catch (thrown) {
    throw hostError(thrown);
  }
}

/**
 * Lets go of a handle, which costs one of the call's 1,024. Engines drop it with the garbage otherwise,
 * which a short call never collects.
 */
export function dispose(handle: object): void {
  const { dispose: symbol } = Symbol as { dispose?: symbol };
  const act = symbol === undefined ? undefined : (handle as Record<symbol, unknown>)[symbol];
  if (typeof act === "function") act.call(handle);
}
