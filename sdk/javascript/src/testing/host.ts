// A host in memory: plugins run in a test without Wasm, under the rules of the contract.

import { Check, Errors } from "typebox/schema";

import { ToolError } from "../error.js";
import type { Completions } from "../generated/completion.js";
import type { Answer as PromptAnswer } from "../generated/prompts.js";
import type { Answer as ResourceAnswer } from "../generated/resources.js";
import type { Plugin } from "../plugin.js";
import type { Scope } from "../state.js";
import { settled, TestAnswer } from "./answers.js";
import { type FakeHost, type FakeInterface, within } from "./current.js";
import { Told } from "./events.js";
import { MemoryFiles } from "./files.js";
import { Pages, type Site } from "./pages.js";
import { type PlayedProgram, Programs } from "./programs.js";
import { type Context, Store } from "./store.js";

/** The context of a call, and what the operator decided. */
export interface TestHostOptions extends Partial<Context> {
  /** The table `[plugin.NAME.settings]`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Milliseconds until the host would end the call: 30,000 by default. */
  readonly remaining?: number;
  /** What comes with the request, beside what {@link TestHost.given} says. */
  readonly requestMeta?: Readonly<Record<string, unknown>>;
  /** Capabilities that the operator did not grant, such as `state`. */
  readonly denied?: readonly string[];
}

/** What a host has whatever the context of a call is. */
class World {
  readonly store = new Store();
  readonly programs = new Programs();
  readonly pages = new Pages();
  readonly told = new Told();
  readonly files = new Map<string, MemoryFiles>();
  readonly lines: Array<{ level: string; message: string }> = [];
  readonly played = new Map<string, FakeInterface>();
}

/** A host in memory. What is kept is kept for it and for those that {@link TestHost.with} makes of it. */
export class TestHost implements FakeHost {
  readonly #options: TestHostOptions;
  readonly #world: World;

  constructor(options: TestHostOptions = {}, world?: unknown) {
    this.#options = options;
    this.#world = world instanceof World ? world : new World();
  }

  /** The same host in another context: such as of another session. */
  with(options: TestHostOptions): TestHost {
    return new TestHost({ ...this.#options, ...options }, this.#world);
  }

  /** The same host, where a person or a model answered a request of the round before. */
  given(responses: Readonly<Record<string, unknown>>, state?: string): TestHost {
    const input = state === undefined ? { responses } : { responses, state };
    return this.with({ requestMeta: { ...this.#options.requestMeta, "dev.wharf/input": input } });
  }

  /** Runs anything that calls the host, such as a function of the author's that reads state. */
  enter<Result>(act: () => Result): Result {
    return within(this, act);
  }

  /**
   * Calls a tool as the host does: arguments and structured answer are checked against the schemas.
   * Fails with the tool's `ToolError`, `invalid` where the arguments do not conform, and `internal` where
   * the answer does not.
   */
  async run(plugin: Plugin, name: string, input: object = {}): Promise<TestAnswer> {
    return settled(async () => {
      const tool = this.enter(() => plugin.tools.listTools()).find((tool) => tool.name === name);
      if (tool === undefined) throw ToolError.notFound(`there is no tool \`${name}\``);
      conform(tool.inputSchema, input, "invalid", "the arguments do not fit the tool's schema");
      const answer = new TestAnswer(await this.enter(() => plugin.tools.callTool(name, JSON.stringify(input))));
      const isFinal = !answer.isError && answer.meta["inputRequired"] === undefined;
      if (tool.outputSchema !== undefined && isFinal) {
        conform(tool.outputSchema, answer.structured, "internal", "the answer does not fit the tool's schema");
      }
      return answer;
    });
  }

  /** Makes a prompt of its arguments. */
  async prompt(plugin: Plugin, name: string, values: Readonly<Record<string, string>> = {}): Promise<PromptAnswer> {
    return settled(() => this.enter(() => offered(plugin.prompts, "prompts").getPrompt(name, JSON.stringify(values))));
  }

  /** Reads a resource. */
  async read(plugin: Plugin, uri: string): Promise<ResourceAnswer> {
    return settled(() => this.enter(() => offered(plugin.resources, "resources").readResource(uri)));
  }

  /** Completes a word of an argument of a prompt, or of a variable of a template. */
  async complete(plugin: Plugin, kind: "prompt" | "template", name: string, argument: string, typed: string): Promise<Completions> {
    const { complete } = offered(plugin.completion, "completion");
    return settled(() => this.enter(() => complete(kind, name, argument, typed, "{}")));
  }

  /** Plays a program for `process`. */
  program(name: string, played: PlayedProgram): this {
    this.#world.programs.add(name, played);
    return this;
  }

  /** Plays a site for `webview`. */
  site(site: Site): this {
    this.#world.pages.site = site;
    return this;
  }

  /** The files of the workspace of this session, to look at and to add to. */
  get files(): MemoryFiles {
    const { session } = this.#context();
    const files = this.#world.files.get(session) ?? new MemoryFiles();
    this.#world.files.set(session, files);
    return files;
  }

  /** Plays an interface of the contract by functions of the test's own, such as `terminal`. */
  play(name: string, functions: FakeInterface): this {
    this.#world.played.set(name, functions);
    return this;
  }

  /** Ends all state of a scope of this context, as idleness does. */
  expire(scope: Scope): void {
    this.#world.store.expire(this.#context(), scope);
  }

  /** Does something each time before entries are changed: what a rival would. */
  beforeApply(rival: (() => void) | undefined): void {
    this.#world.store.beforeApply = rival;
  }

  /** How many bytes each bucket may hold. */
  quota(bytes: number): this {
    this.#world.store.quotaBytes = bytes;
    return this;
  }

  /** Lines of the operator's log. */
  get lines(): ReadonlyArray<{ level: string; message: string }> {
    return this.#world.lines;
  }

  /** What was told by `events`. */
  get told(): Told {
    return this.#world.told;
  }

  /** An interface of the contract, for the kit. */
  fake(name: string): FakeInterface {
    const played = this.#world.played.get(name);
    if (played !== undefined) return played;
    if (this.#options.denied?.includes(name)) return denied(name);
    switch (name) {
      case "caller":
        return this.#caller();
      case "log":
        return { write: (level: string, message: string) => this.#world.lines.push({ level, message }) };
      case "settings":
        return { get: () => JSON.stringify(this.#options.settings ?? {}) };
      case "state":
        return { Bucket: { open: (scope: string, name: string) => this.#world.store.open(this.#context(), scope, name) } };
      case "events":
        return bound(this.#world.told);
      case "process":
        return bound(this.#world.programs);
      case "webview":
        return bound(this.#world.pages);
      case "workspace":
        return bound(this.files.workspace);
      case "filesystem-preopens":
        return { getDirectories: () => this.files.preopened() };
      default:
        throw ToolError.unavailable(`the test host has no \`${name}\`; play it with \`host.play("${name}", { … })\``);
    }
  }

  #context(): Context {
    const { session = "default", assistant, thread } = this.#options;
    return { session, assistant, thread };
  }

  #caller(): FakeInterface {
    const { session, assistant, thread } = this.#context();
    return {
      session: () => session,
      assistant: () => assistant,
      thread: () => thread,
      requestMeta: () => JSON.stringify(this.#options.requestMeta ?? {}),
      remaining: () => this.#options.remaining ?? 30_000,
    };
  }
}

function bound(played: object): FakeInterface {
  return new Proxy(played, {
    get: (target, member) => {
      const found: unknown = Reflect.get(target, member);
      return typeof found === "function" ? found.bind(target) : found;
    },
  }) as FakeInterface;
}

function denied(name: string): FakeInterface {
  const refuse = (): never => {
    throw ToolError.denied(`\`${name}\` is not granted; [plugin.NAME.grants.${name}] would`);
  };
  return name === "state" ? { Bucket: { open: refuse } } : new Proxy({}, { get: () => refuse });
}

function offered<Offer>(offer: Offer | undefined, name: string): Offer {
  if (offer === undefined) throw ToolError.notFound(`the plugin has no ${name}`);
  return offer;
}

function conform(schema: string, value: unknown, code: string, what: string): void {
  const parsed = JSON.parse(schema) as object;
  if (Check(parsed, value)) return;
  const [, errors] = Errors(parsed, value);
  const [first] = errors;
  throw new ToolError(code, `${what}: ${first === undefined ? "it is another type" : `${first.instancePath || "/"} ${first.message}`}`);
}
