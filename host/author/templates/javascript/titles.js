// A tool that opens a web page, of an origin that the operator granted.

import { Type, reply, tool } from "@wharf/sdk";
import { close, navigate, open } from "@wharf/sdk/webview";

export const pageTitle = tool(
  {
    name: "page_title",
    title: "Read a title",
    description: "Tells the title of a web page.",
    readOnly: true,
    input: Type.Object(
      { url: Type.String({ description: "The address of the page, such as `https://example.com/`.", maxLength: 2_000 }) },
      { additionalProperties: false },
    ),
    output: Type.Object({ title: Type.String({ description: "What the page calls itself." }) }),
  },
  (_call, { url }) => {
    const { id } = open();
    try {
      const { title } = navigate(id, url);
      return reply(title, { title });
    } finally {
      close(id);
    }
  },
);
