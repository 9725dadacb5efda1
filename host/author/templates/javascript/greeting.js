// A tool that needs nothing of its host.

import { ToolError, Type, reply, tool } from "@wharf/sdk";

export const greet = tool(
  {
    name: "greet",
    title: "Greet",
    description: "Greets somebody by name. The model reads this to choose the tool.",
    readOnly: true,
    idempotent: true,
    input: Type.Object(
      { name: Type.String({ description: "Whom to greet.", minLength: 1, maxLength: 100 }) },
      { additionalProperties: false },
    ),
    output: Type.Object({ greeting: Type.String({ description: "What was said." }) }),
  },
  (_call, { name }) => {
    if (name.trim() === "") throw ToolError.invalid("`name` is blank; say whom to greet");
    const greeting = `Welcome, ${name.trim()}.`;
    return reply(greeting, { greeting });
  },
);
