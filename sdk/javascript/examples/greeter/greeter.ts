// Greets people, and remembers in this session how often they came.

import { plugin, reply, tool, ToolError, Type } from "@wharf/sdk";
import { bucket } from "@wharf/sdk/state";

const greet = tool(
  {
    name: "greet",
    title: "Greet",
    description: "Greets somebody and counts their visits in this session.",
    input: Type.Object(
      { name: Type.String({ description: "Whom to greet.", minLength: 1, maxLength: 100 }) },
      { additionalProperties: false },
    ),
    output: Type.Object({ count: Type.Integer({ description: "Visits so far, this one included." }) }),
  },
  (_call, { name }) => {
    const count = bucket("session", "visits").update<number>(name, (visits = 0) => visits + 1);
    return reply(`Welcome, ${name}. Visit ${count}.`, { count });
  },
);

const forget = tool(
  {
    name: "forget",
    title: "Forget",
    description: "Forgets the visits of somebody.",
    input: Type.Object(
      { name: Type.String({ description: "Whom to forget.", minLength: 1, maxLength: 100 }) },
      { additionalProperties: false },
    ),
    destructive: true,
    idempotent: true,
  },
  (_call, { name }) => {
    const visits = bucket("session", "visits");
    if (visits.get(name) === undefined) throw ToolError.notFound(`${name} was never here`);
    visits.delete(name);
    return `${name} is forgotten.`;
  },
);

const visitors = tool(
  {
    name: "visitors",
    title: "Visitors",
    description: "Lists who came in this session.",
    output: Type.Object({ names: Type.Array(Type.String(), { description: "In the order of their letters." }) }),
    readOnly: true,
  },
  () => ({ names: Array.from(bucket("session", "visits").scan(), (entry) => entry.key) }),
);

export default plugin({ tools: [greet, forget, visitors] });
