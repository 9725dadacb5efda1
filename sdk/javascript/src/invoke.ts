// The one way to the host: arguments are checked before, errors and results converted after.

import { hostError } from "./error.js";
import { lift, lower, type Shape } from "./shape.js";

/** Names of parameters, and what each is checked by. */
type Parameters = ReadonlyArray<readonly [string, Shape]>;

/**
 * Calls a function of the host.
 *
 * Fails with `invalid` where an argument is of another type than the contract says, and with the
 * host's own error.
 */
export function invoke(receiver: any, method: string, parameters: Parameters, values: readonly unknown[]): unknown {
  return lift(invokeForHandle(receiver, method, parameters, values));
}

/** The same for a function that returns a handle of the host, which stays as it is. */
export function invokeForHandle(receiver: any, method: string, parameters: Parameters, values: readonly unknown[]): object {
  const lowered = parameters.map(([name, shape], index) => lower(shape, values[index], name));
  try {
    return receiver[method](...lowered);
  } catch (thrown) {
    throw hostError(thrown);
  }
}
