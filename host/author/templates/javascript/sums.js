// A tool that talks to an interactive program in a terminal; the host finds out when its turn ends.

import { Type, reply, tool } from "@wharf/sdk";
import { ask, read, start } from "@wharf/sdk/terminal";

export const compute = tool(
  {
    name: "compute",
    title: "Compute",
    description: "Computes an expression with an interpreter of Python.",
    input: Type.Object(
      { expression: Type.String({ description: "An expression of Python, such as `6 * 7`.", minLength: 1, maxLength: 1_000 }) },
      { additionalProperties: false },
    ),
    output: Type.Object({ output: Type.String({ description: "What the interpreter printed." }) }),
  },
  (_call, { expression }) => {
    const { id } = start("python3", ["-q"]).terminal;
    // Its prompt: what is sent before that is typed into nothing.
    read(id, "text", 0, 4_096, 5_000);
    const output = ask(id, expression, { milliseconds: 5_000 }).text;
    return reply(output, { output });
  },
);
