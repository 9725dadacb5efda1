// Attacks, and what the conformance suite looks for, by the names of the guests in Rust (`tests/guests`). The same
// tests call them in every language: `tests/tests/end_to_end/languages`.

import {
  answer,
  type Call,
  encodeUtf8,
  decodeUtf8,
  form,
  inputRequired,
  plugin,
  reply,
  tool,
  ToolError,
  Type,
} from "@wharf/sdk";
import { completion } from "@wharf/sdk/completion";
import { message as sendMessage, openStream, progress as sendProgress } from "@wharf/sdk/events";
import { list as processes } from "@wharf/sdk/process";
import { prompt, prompts } from "@wharf/sdk/prompts";
import { resources } from "@wharf/sdk/resources";
import { bucket, type Scope } from "@wharf/sdk/state";
import { list as terminals } from "@wharf/sdk/terminal";
import { list as pages } from "@wharf/sdk/webview";
import { files } from "@wharf/sdk/workspace";

const bytes = Type.Object({ bytes: Type.Integer() });
const count = Type.Object({ count: Type.Integer() });

const report = (found: unknown): string => JSON.stringify(found);
// The host, not the type, has to refuse what is no scope.
const opened = (scope: string, name = "hostile") => bucket(scope as Scope, name);

/** What the host refused; anything else is a defect of this guest. */
function refusal(thrown: unknown) {
  if (!(thrown instanceof ToolError)) throw thrown;
  return { code: thrown.code, message: thrown.message, retryable: thrown.retryable };
}

function word(work: () => unknown): string {
  try {
    work();
    return "ok";
  } catch (thrown) {
    return refusal(thrown).code;
  }
}

function sent(times: number, send: (number: number) => void): string {
  for (let number = 0; number < times; number++) {
    try {
      send(number);
    } catch (thrown) {
      return report({ sent: number, refused: refusal(thrown) });
    }
  }
  return report({ sent: times });
}

const spin = tool({ name: "spin", description: "Computes for ever." }, () => {
  for (;;);
});

const recurse = tool({ name: "recurse", description: "Calls itself so deep.", input: Type.Object({ depth: Type.Integer() }) }, (_call, { depth }) => {
  const deeper = (left: number): number => (left === 0 ? 0 : deeper(left - 1) + 1);
  return report({ depth: deeper(depth) });
});

const panic = tool({ name: "panic", description: "Fails as no author means to.", input: Type.Object({ message: Type.String() }) }, (_call, { message }) => {
  throw new Error(message);
});

const allocate = tool({ name: "allocate", description: "Takes so much memory, piece by piece.", input: bytes }, (_call, input) => {
  const pieces = [];
  while (pieces.length * 65_536 < input.bytes) pieces.push(new Uint8Array(65_536).fill(1));
  return report({ got: pieces.length * 65_536 });
});

const allocateOrDie = tool({ name: "allocate_or_die", description: "Takes so much memory in one piece.", input: bytes }, (_call, input) =>
  report({ got: new Uint8Array(input.bytes).fill(1).length }),
);

const output = tool({ name: "output", description: "Answers one text of so many bytes.", input: bytes }, (_call, input) => "x".repeat(input.bytes));

const manyContent = tool({ name: "many_content", description: "Answers so many empty parts.", input: count }, (_call, input) =>
  answer({ content: new Array<string>(input.count).fill("") }),
);

const text = tool({ name: "text", description: "Answers a text, as it stands.", input: Type.Object({ text: Type.String() }) }, (_call, input) => input.text);

const invalidUtf8 = tool({ name: "invalid_utf8", description: "Answers a text that no UTF-8 can have." }, () => "a\ud800z");

const structured = Type.Object({ structured: Type.String() });

const badStructured = tool({ name: "bad_structured", description: "Promises an integer `count` and answers this structure.", input: structured, output: count }, (_call, input) =>
  reply("see the structure", JSON.parse(input.structured) as { count: number }),
);

const unpromisedStructured = tool({ name: "unpromised_structured", description: "Promises nothing and answers this structure.", input: structured }, (_call, input) =>
  answer({ content: ["see the structure"], structured: JSON.parse(input.structured) as object }),
);

const answerMeta = tool({ name: "answer_meta", description: "Answers with this meta.", input: Type.Object({ meta: Type.String() }) }, (_call, { meta }) =>
  answer({ content: ["see the meta"], meta: JSON.parse(meta) as Record<string, unknown> }),
);

const failure = Type.Object({ code: Type.String(), message: Type.String(), retryable: Type.Optional(Type.Boolean()) });

const error = tool({ name: "error", description: "Fails with this error.", input: failure }, (_call, { code, message, retryable = false }) => {
  throw new ToolError(code, message, { retryable });
});

const openBuckets = tool({ name: "open_buckets", description: "Opens so many handles and keeps them.", input: count }, (_call, input) => {
  const kept = [];
  while (kept.length < input.count) {
    try {
      kept.push(opened("thread"));
    } catch (thrown) {
      return report({ opened: kept.length, refused: refusal(thrown) });
    }
  }
  return report({ opened: kept.length });
});

const openBucket = tool(
  { name: "open_bucket", description: "Opens one bucket of any scope and name.", input: Type.Object({ scope: Type.String(), name: Type.String() }) },
  (_call, { scope, name }) => {
    opened(scope, name);
    return report({ opened: 1 });
  },
);

const hostCalls = tool({ name: "host_calls", description: "Makes so many cheap host calls.", input: count }, (call, input) => {
  for (let made = 0; made < input.count; made++) call.remaining();
  return report({ called: input.count });
});

const statePut = tool(
  { name: "state_put", description: "Writes one entry.", input: Type.Object({ scope: Type.String(), key: Type.String(), value: Type.String() }) },
  (_call, { scope, key, value }) => report({ revision: String(opened(scope).put(key, encodeUtf8(value))) }),
);

const stateGet = tool({ name: "state_get", description: "Reads one entry.", input: Type.Object({ scope: Type.String(), key: Type.String() }) }, (_call, { scope, key }) => {
  const entry = opened(scope).get(key);
  return report({ value: entry === undefined ? null : decodeUtf8(entry.value) });
});

const caller = tool({ name: "caller", description: "Says everything that the host says of the caller." }, ({ session, assistant, thread }) =>
  report({ session, assistant: assistant ?? null, thread: thread ?? null }),
);

const logLines = tool({ name: "log_lines", description: "Logs so many lines.", input: count }, (call, input) => {
  for (let line = 0; line < input.count; line++) call.log("info", `line ${line}`);
  return report({ logged: input.count });
});

const progress = tool({ name: "progress", description: "Sends so many progresses.", input: count }, (_call, input) =>
  sent(input.count, (number) => sendProgress(number + 1, undefined, "on the way")),
);

const message = tool({ name: "message", description: "Sends so many messages.", input: count }, (_call, input) => sent(input.count, () => sendMessage("info", "hello")));

const probeImports = tool({ name: "probe_imports", description: "Calls every import once." }, () => {
  const written = (scope: Scope) => word(() => bucket(scope, "n").put("probe", new Uint8Array()));
  return report({
    state: { thread: written("thread"), session: written("session"), plugin: written("plugin") },
    process: word(processes),
    workspace: word(files),
    terminal: word(terminals),
    webview: word(pages),
    progress: word(() => sendProgress(0)),
    message: word(() => sendMessage("info", "a probe")),
    stream: word(() => openStream("a probe")),
  });
});

const asking = (name: string, question: string, field: string, state?: string) =>
  inputRequired({ [name]: form(question, { type: "object", properties: { [field]: { type: "string" } }, required: [field] }) }, state);

function given(call: Call, name: string, field: string): string | undefined {
  const found = call.input.form(name)?.[field];
  return typeof found === "string" ? found : undefined;
}

const elicitation = tool({ name: "test_input_required_result_elicitation", description: "Asks for a name and greets." }, (call) => {
  const name = given(call, "user_name", "name");
  return name === undefined ? asking("user_name", "What is your name?", "name") : `Hello, ${name}!`;
});

const multiRound = tool({ name: "test_input_required_result_multi_round", description: "Asks for a name, and then for a colour." }, (call) => {
  const { state = "" } = call.input;
  const color = given(call, "step2", "color");
  const name = given(call, "step1", "name");
  if (state.startsWith("second:") && color !== undefined) return `Hello, ${state.slice("second:".length)}! Your favorite color is ${color}.`;
  if (state === "first" && name !== undefined) return asking("step2", "Step 2: What is your favorite color?", "color", `second:${name}`);
  return asking("step1", "Step 1: What is your name?", "name", "first");
});

const TEXT = "test://static-text";

export default plugin({
  tools: [
    spin,
    recurse,
    panic,
    allocate,
    allocateOrDie,
    output,
    manyContent,
    text,
    invalidUtf8,
    badStructured,
    unpromisedStructured,
    answerMeta,
    error,
    openBuckets,
    openBucket,
    hostCalls,
    statePut,
    stateGet,
    caller,
    logLines,
    progress,
    message,
    probeImports,
    elicitation,
    multiRound,
  ],
  prompts: prompts(
    prompt(
      {
        name: "test_prompt_with_arguments",
        description: "A text with two arguments.",
        arguments: { arg1: { description: "First test argument" }, arg2: { description: "Second test argument" } },
      },
      (_call, { arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    ),
  ),
  resources: resources({
    claims: ["test://"],
    list: () => [{ uri: TEXT, name: "Static text", description: "A text that stays the same.", mimeType: "text/plain" }],
    read: (_call, uri) => {
      if (uri !== TEXT) throw ToolError.notFound(`there is no resource \`${uri}\``);
      return "This is the content of the static text resource.";
    },
  }),
  completion: completion((_call, { argument, text: typed }) => (argument === "arg1" ? ["test", "testing", "hello"].filter((found) => found.startsWith(typed)) : [])),
});
