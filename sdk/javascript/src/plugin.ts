// What a module exports to be a plugin, made of its tools and of whatever else it offers.

import { answerShape, type Answer as WitAnswer, type Tool as WitTool } from "./generated/tools.js";
import type { Error as WitError } from "./generated/types.js";
import { write } from "./generated/log.js";
import { answerOf } from "./answer.js";
import { currentCall } from "./call.js";
import type { CompletionExports } from "./completion.js";
import { awaitsPromises } from "./engine.js";
import { hostError, thrownMessage, ToolError } from "./error.js";
import { begin } from "./phase.js";
import type { PromptExports } from "./prompts.js";
import type { ResourceExports } from "./resources.js";
import { lower, type Shape } from "./shape.js";
import type { Tool } from "./tool.js";
import { wellFormed } from "./utf8.js";

/** What a plugin offers. */
export interface PluginParts {
  /** Its tools, at most 256. */
  readonly tools?: readonly Tool[];
  /** What `prompts(…)` of `@wharf/sdk/prompts` made. */
  readonly prompts?: PromptExports;
  /** What `resources(…)` of `@wharf/sdk/resources` made. */
  readonly resources?: ResourceExports;
  /** What `completion(…)` of `@wharf/sdk/completion` made. */
  readonly completion?: CompletionExports;
}

/** The export `tools` of the contract. */
export interface ToolExports {
  listTools(): WitTool[];
  callTool(name: string, text: string): WitAnswer | Promise<WitAnswer>;
}

/** What the module exports by the names that engines look for. */
export interface Plugin {
  readonly tools: ToolExports;
  readonly prompts: PromptExports | undefined;
  readonly resources: ResourceExports | undefined;
  readonly completion: CompletionExports | undefined;
}

/**
 * The plugin of these parts: the default export of an author's module.
 *
 * Fails with `invalid` where two tools have one name or there are more than 256, and, for QuickJS,
 * where a tool is an `async` function. That is at build.
 */
export function plugin(parts: PluginParts): Plugin {
  const tools = new Map<string, Tool>();
  for (const tool of parts.tools ?? []) {
    const { name } = tool.definition;
    if (tools.has(name)) throw ToolError.invalid(`two tools have the name \`${name}\``);
    refuseAsyncFunction(tool.run, name);
    tools.set(name, tool);
  }
  if (tools.size > 256) throw ToolError.invalid(`a plugin has at most 256 tools, not ${tools.size}`);
  return {
    tools: {
      listTools: () => answering(() => [...tools.values()].map((tool) => tool.definition)) as WitTool[],
      callTool: (name, text) => answering(() => callTool(tools, name, text), finish) as WitAnswer | Promise<WitAnswer>,
    },
    prompts: parts.prompts,
    resources: parts.resources,
    completion: parts.completion,
  };
}

function callTool(tools: ReadonlyMap<string, Tool>, name: string, text: string): unknown {
  const tool = tools.get(name);
  if (tool === undefined) throw ToolError.notFound(`there is no tool \`${name}\``);
  return tool.run(currentCall, argumentsOf(text) as never);
}

/** The host sends an object that conforms; whoever else calls is told what is wrong. */
export function argumentsOf(text: string): unknown {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw ToolError.invalid("the arguments are not JSON");
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw ToolError.invalid("the arguments are not a JSON object");
  }
  return given;
}

function finish(returned: unknown): unknown {
  return produced(answerShape, answerOf(returned), "answer");
}

/** What goes to the host as an answer. Where it is malformed, the tool has the defect and not its caller. */
export function produced(shape: Shape, value: unknown, path: string): unknown {
  try {
    return lower(shape, value, path);
  } catch (thrown) {
    throw new ToolError("internal", thrownMessage(thrown), { cause: thrown });
  }
}

/**
 * Runs what the host asked for. Whatever goes wrong becomes the record of the contract, which both
 * engines take when it is thrown; anything else that is thrown ends the instance.
 */
export function answering(run: () => unknown, finished: (returned: unknown) => unknown = (same) => same): unknown {
  begin();
  try {
    const returned = run();
    if (!isPromise(returned)) return finished(returned);
    if (!awaitsPromises()) {
      throw ToolError.internal(
        "the tool returned a promise, which QuickJS cannot wait for; build the plugin with `--engine spidermonkey`",
      );
    }
    return returned.then(finished).catch((thrown: unknown) => {
      throw witError(thrown);
    });
  } catch (thrown) {
    throw witError(thrown);
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Where it can be known at build, a call need not find it out. */
function refuseAsyncFunction(run: unknown, name: string): void {
  if (!awaitsPromises() && Object.prototype.toString.call(run) === "[object AsyncFunction]") {
    throw ToolError.invalid(
      `the tool \`${name}\` is an async function, which QuickJS cannot wait for; make it an ordinary one, or build with \`--engine spidermonkey\``,
    );
  }
}

/**
 * The record of the contract for what was thrown. Only the log is told where a defect is. Nothing may be
 * thrown here: whatever an odd error does when it is read would end the instance.
 */
function witError(thrown: unknown): WitError {
  try {
    const error = hostError(thrown);
    if (error instanceof ToolError) {
      return { code: wellFormed(String(error.code)), message: wellFormed(String(error.message)), retryable: error.retryable === true };
    }
    const message = thrownMessage(error);
    write("error", error instanceof Error ? `${error.name}: ${message}\n${error.stack ?? ""}` : `thrown: ${message}`);
    return { code: "internal", message: wellFormed(message), retryable: false };
  } catch {
    return { code: "internal", message: "the tool threw something that cannot be read", retryable: false };
  }
}
