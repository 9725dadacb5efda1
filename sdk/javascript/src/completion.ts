// Words that complete what a person types for an argument of a prompt or a variable of a template.

import { completionsShape, type Completions as WitCompletions } from "./generated/completion.js";
import { type Call, currentCall } from "./call.js";
import { answering, argumentsOf, produced } from "./plugin.js";

/** What is typed, and where. */
export interface Typed {
  /** `prompt` or `template`. More may come: answer those that you do not know with nothing. */
  readonly kind: string;
  /** The prompt's name, or the `uriTemplate`. */
  readonly name: string;
  /** The argument or variable. */
  readonly argument: string;
  /** What there is of it, at most 4,096 bytes. */
  readonly text: string;
  /** The arguments that are filled already. */
  readonly others: Readonly<Record<string, string>>;
}

/** What may be meant, and how much more there is. */
export interface Completions {
  /** The best first. The host shows the first 100. */
  readonly values: readonly string[];
  /** How many there are in all. */
  readonly total?: number;
  readonly hasMore?: boolean;
}

/** The export `completion` of the contract. */
export interface CompletionExports {
  complete(kind: string, name: string, argument: string, typed: string, others: string): WitCompletions | Promise<WitCompletions>;
}

type Found = readonly string[] | Completions;

/** Completion by a function. It should be quick: clients ask with each key. */
export function completion(complete: (call: Call, typed: Typed) => Found | Promise<Found>): CompletionExports {
  return {
    complete: (kind, name, argument, text, others) =>
      answering(() => {
        const filled = argumentsOf(others) as Record<string, string>;
        return complete(currentCall, { kind, name, argument, text, others: filled });
      }, finish) as WitCompletions | Promise<WitCompletions>,
  };
}

function finish(returned: unknown): unknown {
  const { values, total, hasMore = false } = Array.isArray(returned) ? { values: returned as string[] } as Completions : (returned as Completions);
  return produced(completionsShape, { values, total, hasMore, meta: undefined }, "completions");
}
