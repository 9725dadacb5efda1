// Compiled and never run: what the types of a function follow from.

import { FunctionError, serve, type Value } from "../dist/index.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(_: T): void => undefined;

const schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    ages: { type: "array", items: { type: "integer" } },
    kind: { enum: ["a", "b"] },
    parent: { anyOf: [{ type: "null" }, { type: "object", properties: { id: { type: "number" } }, required: ["id"] }] },
  },
  required: ["name", "parent"],
} as const;
holds<
  Same<
    Value<typeof schema>,
    { name: string; parent: { id: number } | null; ages?: number[]; kind?: "a" | "b" }
  >
>(true);

serve({
  description: "Its schemas need no `as const`.",
  input: { type: "object", properties: { line: { type: "integer" }, mark: { type: "boolean" } }, required: ["line"] },
  output: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  call: async ({ line, mark }, call) => {
    holds<Same<typeof line, number>>(true);
    holds<Same<typeof mark, boolean | undefined>>(true);
    call.progress(1, 2, "half");
    if (call.signal.aborted) throw new FunctionError("gone", "too late");
    return { text: `${line}` };
  },
});

serve({
  description: "An answer that breaks the schema does not compile.",
  input: { type: "object" },
  output: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  // @ts-expect-error a number is no text
  call: () => ({ text: 1 }),
});

serve({
  description: "An argument that there is not does not compile.",
  input: { type: "object", properties: { line: { type: "integer" } }, required: ["line"] },
  // @ts-expect-error it is called `line`
  call: ({ row }) => `${row}`,
});

serve({
  description: "Without an output schema it answers with texts and bytes.",
  input: { type: "object" },
  call: () => ["a text", { bytes: new Uint8Array([1]), mimeType: "image/png" }],
});
