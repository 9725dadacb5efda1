// The one way to the host: arguments are checked before, errors and results converted after.

import { hostError } from "./error.js";
import { lift, lower, type Shape } from "./shape.js";

/**
 * Calls a function of the host.
 *
 * Fails with `invalid` where an argument is of another type than the contract says, and with the
 * host's own error.
 */
export function invoke(
  receiver: any,
  method: string,
  parameters: ReadonlyArray<readonly [string, Shape]>,
  values: readonly unknown[],
): unknown {
  const lowered = parameters.map(([name, shape], index) => lower(shape, values[index], name));
  try {
    return lift(receiver[method](...lowered));
  } catch (thrown) {
    throw hostError(thrown);
  }
}
