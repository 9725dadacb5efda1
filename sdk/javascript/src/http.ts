// HTTP requests. The engine's own `fetch` sends them through `wasi:http`, under the grant of `http`.

import { ToolError } from "./error.js";

/** Whether the engine can send requests: SpiderMonkey can, QuickJS cannot. */
export function canFetch(): boolean {
  return typeof globalThis.fetch === "function";
}

/**
 * Sends a request, as the Fetch standard says. A redirect is an answer: the host follows none.
 *
 * Fails with `unavailable` where the engine has no `fetch`, which is never so in a component that
 * `wharf-componentize` made; where the operator did not grant the request; and where the server was not
 * reached.
 */
export async function fetch(url: string | URL, options?: RequestInit): Promise<Response> {
  if (!canFetch()) {
    throw new ToolError("unavailable", "this engine has no fetch; build the plugin with `--engine spidermonkey`", { retryable: false });
  }
  try {
    return await globalThis.fetch(url, options);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ToolError("unavailable", `the request was not answered: ${reason}; the operator's log says whether it was granted`, { cause });
  }
}
