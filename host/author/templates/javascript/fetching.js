// A tool that sends an HTTP request, which the operator granted by method, origin and path.

import { Type, reply, tool } from "@wharf/sdk";
import { fetch as send } from "@wharf/sdk/http";

export const fetch = tool(
  {
    name: "fetch",
    title: "Fetch",
    description: "Fetches an address and tells its status and size.",
    readOnly: true,
    input: Type.Object(
      { url: Type.String({ description: "What to fetch, such as `https://example.com/`.", maxLength: 2_000 }) },
      { additionalProperties: false },
    ),
    output: Type.Object({
      status: Type.Integer({ description: "The status that the server answered with." }),
      bytes: Type.Integer({ description: "How many bytes it sent." }),
    }),
  },
  async (_call, { url }) => {
    const response = await send(url);
    const bytes = (await response.arrayBuffer()).byteLength;
    return reply(`${url} answered ${response.status} with ${bytes} bytes.`, { status: response.status, bytes });
  },
);
