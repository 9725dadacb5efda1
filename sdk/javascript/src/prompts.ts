// The prompts that a plugin offers: texts that a person chooses in the client.

import { answerShape, promptShape, type Answer as WitAnswer, type Prompt as WitPrompt } from "./generated/prompts.js";
import { Answer, type Content, jsonObjectOf, type Meta, witContent } from "./answer.js";
import { type Call, currentCall } from "./call.js";
import { ToolError } from "./error.js";
import { answering, argumentsOf, produced } from "./plugin.js";
import { lower } from "./shape.js";
import { checkedDescription, checkedName } from "./tool.js";

/** One value that a prompt takes. */
export interface PromptArgument {
  /** For the person who is asked for it. */
  readonly description: string;
  /** Whether there is no prompt without it: true unless it says otherwise. */
  readonly required?: boolean;
}

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: string | Content;
}

/** What a prompt comes to: a text of the user's, messages, or `inputRequired(…)`. */
export type PromptAnswer = string | readonly PromptMessage[] | Answer;

/** What a prompt is called, and what it takes: arguments by name, in the order in which a person is asked. */
export interface PromptDescription<Names extends string> {
  /** Under the rules of the name of a tool. */
  readonly name: string;
  /** A name for people. */
  readonly title?: string;
  /** For the person who chooses: what it is for. 1 to 8,192 bytes. */
  readonly description: string;
  /** At most 32. */
  readonly arguments?: Readonly<Record<Names, PromptArgument>>;
  readonly meta?: Meta;
}

type MakePrompt = (call: Call, values: never) => PromptAnswer | Promise<PromptAnswer>;

/** A prompt. Made by {@link prompt}. */
export interface Prompt {
  readonly definition: WitPrompt;
  readonly make: MakePrompt;
}

/** The export `prompts` of the contract. */
export interface PromptExports {
  listPrompts(): WitPrompt[];
  getPrompt(name: string, text: string): WitAnswer | Promise<WitAnswer>;
}

/** A prompt of a function. Fails with `invalid` where the description breaks a rule of the contract. */
export function prompt<Names extends string = never>(
  description: PromptDescription<Names>,
  make: (call: Call, values: Readonly<Record<Names, string | undefined>>) => PromptAnswer | Promise<PromptAnswer>,
): Prompt {
  const name = checkedName(description.name, "prompt");
  const asked = Object.entries<PromptArgument>(description.arguments ?? ({} as Record<Names, PromptArgument>));
  if (asked.length > 32) throw ToolError.invalid(`the prompt \`${name}\` takes more than 32 arguments`);
  const meta = jsonObjectOf({ ...description.meta, title: description.title }, `the \`meta\` of \`${name}\``);
  const definition: WitPrompt = {
    name,
    description: checkedDescription(description.description, `the prompt \`${name}\``),
    arguments: asked.map(([argument, { description, required = true }]) => ({ name: argument, description, required, meta: undefined })),
    meta: meta === "{}" ? undefined : meta,
  };
  lower(promptShape, definition, name);
  return { definition, make: make as MakePrompt };
}

/** The prompts of a plugin, at most 256. Fails with `invalid` where two have one name. */
export function prompts(...offered: readonly Prompt[]): PromptExports {
  const byName = new Map(offered.map((prompt) => [prompt.definition.name, prompt]));
  if (byName.size !== offered.length) throw ToolError.invalid("two prompts have one name");
  if (byName.size > 256) throw ToolError.invalid(`a plugin has at most 256 prompts, not ${byName.size}`);
  return {
    listPrompts: () => answering(() => offered.map((prompt) => prompt.definition)) as WitPrompt[],
    getPrompt: (name, text) =>
      answering(() => {
        const found = byName.get(name);
        if (found === undefined) throw ToolError.notFound(`there is no prompt \`${name}\``);
        return found.make(currentCall, argumentsOf(text) as never);
      }, finish) as WitAnswer | Promise<WitAnswer>,
  };
}

function finish(returned: unknown): unknown {
  return produced(answerShape, promptAnswer(returned), "answer");
}

function promptAnswer(returned: unknown): WitAnswer {
  if (returned instanceof Answer) {
    const { meta } = returned.parts;
    return { messages: [], description: undefined, meta: meta && jsonObjectOf(meta, "the `meta` of the answer") };
  }
  const messages = typeof returned === "string" ? [{ role: "user", content: returned }] : returned;
  if (!Array.isArray(messages)) throw ToolError.internal("a prompt returned neither a text nor messages");
  return {
    messages: messages.map(({ role, content }: PromptMessage) => ({ role, ...witContent(content) })),
    description: undefined,
    meta: undefined,
  };
}
