// A tool with durable state: entries of this plugin in the caller's session.

import { Type, reply, tool } from "@wharf/sdk";
import { bucket } from "@wharf/sdk/state";

export const countVisit = tool(
  {
    name: "count_visit",
    title: "Count a visit",
    description: "Counts the visits of somebody in this session.",
    input: Type.Object(
      { visitor: Type.String({ description: "Who visits.", minLength: 1, maxLength: 100 }) },
      { additionalProperties: false },
    ),
    output: Type.Object({ count: Type.Integer({ description: "How often this visitor came in this session." }) }),
  },
  (_call, { visitor }) => {
    // Other calls run at the same time: `update` starts again where one wrote meanwhile.
    const count = Number(bucket("session", "visits").update(visitor, (visits) => Number(visits ?? 0) + 1));
    return reply(`Visit ${count} of ${visitor}.`, { count });
  },
);
