// What a tool is, and the description of it that a client sees.

import type { Static, TObject, TSchema } from "typebox";

import type { Tool as WitTool } from "./generated/tools.js";
import { type Answer, type Reply, jsonObjectOf } from "./answer.js";
import type { Call } from "./call.js";
import { ToolError } from "./error.js";
import { encodeUtf8 } from "./utf8.js";

/** What a tool is called, and what clients are told of it. */
export interface ToolDescription {
  /** 1 to 64 characters of `[A-Za-z0-9_-]`, without two underscores in a row. Clients see `PLUGIN__NAME`. */
  readonly name: string;
  /** A name for people. */
  readonly title?: string;
  /** For the model that chooses the tool: what it does, when to use it. 1 to 8,192 bytes. */
  readonly description: string;
  /** A hint: the tool changes nothing. */
  readonly readOnly?: boolean;
  /** A hint: the same call again changes nothing more. */
  readonly idempotent?: boolean;
  /** A hint: the tool may destroy something. */
  readonly destructive?: boolean;
  /** A hint: the tool reaches what is beyond the host. */
  readonly openWorld?: boolean;
  /** How much wall-clock time a call may need. 30,000 by default; the operator has a ceiling. */
  readonly timeoutMilliseconds?: number;
  /** Further fields of the protocol. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** What a tool without an output schema may return. */
export type FreeOutput = string | Answer;

/** What a tool may return whose structured answers conform to a schema. */
export type StructuredOutput<Structured> = Structured | Reply<Structured> | Answer;

/** What a tool may return, by its output schema. */
export type OutputOf<Output> = Output extends TSchema ? StructuredOutput<Static<Output>> : FreeOutput;

/** The schema of no arguments. */
export type NoInput = TObject<Record<never, TSchema>>;

type Awaitable<T> = T | Promise<T>;

/** What runs: it gets the call, and arguments that the host checked against the input schema. */
export type Run<Input, Output> = (call: Call, input: Input) => Awaitable<Output>;

/** A tool: its description and what runs. Made by {@link tool}. */
export interface Tool {
  readonly definition: WitTool;
  readonly run: Run<never, unknown>;
}

/** Arguments of a tool that takes none. */
const NO_INPUT = { type: "object", properties: {}, additionalProperties: false };

/** The most bytes that a schema may have. */
const LONGEST_SCHEMA = 65_536;

/**
 * A tool of a function. `input` and `output` are JSON Schemas of objects; those that are made with
 * `Type` give the types of the function. The host checks arguments and structured answers by them.
 *
 * `run` may be asynchronous on SpiderMonkey only. What it throws is answered as an error: a
 * `ToolError` with its code, anything else as `internal`.
 *
 * Fails with `invalid` where the description breaks a rule of the contract. That is at build, since
 * the top level of a module runs then.
 */
export function tool<Input extends TSchema = NoInput, Output extends TSchema | undefined = undefined>(
  description: ToolDescription & { readonly input?: Input; readonly output?: Output },
  run: Run<Static<Input>, OutputOf<Output>>,
): Tool {
  const name = checkedName(description.name, "tool");
  if (typeof run !== "function") throw ToolError.invalid(`the tool \`${name}\` has no function`);
  const { input = NO_INPUT, output } = description;
  return {
    definition: {
      name,
      description: checkedDescription(description.description, `the tool \`${name}\``),
      inputSchema: schemaText(input, `the input of \`${name}\``),
      outputSchema: output === undefined ? undefined : schemaText(output, `the output of \`${name}\``),
      meta: metaText(description, name),
    },
    run: run as Run<never, unknown>,
  };
}

/** A name under the rules of the contract. Fails with `invalid`. */
export function checkedName(name: unknown, kind: string): string {
  if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name) || name.includes("__")) {
    throw ToolError.invalid(
      `${JSON.stringify(name)} cannot name a ${kind}: 1 to 64 characters of [A-Za-z0-9_-], without two underscores in a row`,
    );
  }
  return name;
}

/** A description of 1 to 8,192 bytes. Fails with `invalid`. */
export function checkedDescription(text: unknown, what: string): string {
  if (typeof text !== "string" || text === "" || encodeUtf8(text).length > 8_192) {
    throw ToolError.invalid(`${what} needs a description of 1 to 8,192 bytes`);
  }
  return text;
}

function schemaText(schema: object, what: string): string {
  const text = jsonObjectOf(schema, what);
  if ((schema as { type?: unknown }).type !== "object") throw ToolError.invalid(`${what} must be a schema whose \`type\` is \`object\``);
  if (encodeUtf8(text).length > LONGEST_SCHEMA) throw ToolError.invalid(`${what} is a schema of more than ${LONGEST_SCHEMA} bytes`);
  return text;
}

function metaText(description: ToolDescription, name: string): string | undefined {
  const { title, readOnly, idempotent, destructive, openWorld, timeoutMilliseconds, meta } = description;
  if (timeoutMilliseconds !== undefined && !(Number.isInteger(timeoutMilliseconds) && timeoutMilliseconds > 0)) {
    throw ToolError.invalid(`\`timeoutMilliseconds\` of \`${name}\` must be a whole number above 0`);
  }
  // JSON leaves out what is undefined.
  const annotations = { readOnlyHint: readOnly, idempotentHint: idempotent, destructiveHint: destructive, openWorldHint: openWorld };
  const hasHints = Object.values(annotations).some((hint) => hint !== undefined);
  const text = jsonObjectOf(
    { ...meta, title, annotations: hasHints ? annotations : undefined, timeoutMilliseconds },
    `the \`meta\` of \`${name}\``,
  );
  return text === "{}" ? undefined : text;
}
