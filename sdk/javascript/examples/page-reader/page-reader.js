// Opens a web page and answers its title and its text. Plain JavaScript: no types, no compiler.

import { plugin, reply, tool, Type } from "@wharf/sdk";
import { close, navigate, open, run } from "@wharf/sdk/webview";

const LONGEST_TEXT = 20_000;

const read = tool(
  {
    name: "read",
    title: "Read a page",
    description: "Opens a web page and answers its title and the text that a person would read.",
    input: Type.Object(
      { url: Type.String({ description: "The address: http or https.", pattern: "^https?://", maxLength: 2_000 }) },
      { additionalProperties: false },
    ),
    output: Type.Object({
      url: Type.String({ description: "Where it was found, after redirects." }),
      title: Type.String(),
      text: Type.String({ description: `The first ${LONGEST_TEXT} characters.` }),
      cut: Type.Boolean({ description: "Whether there is more." }),
    }),
    readOnly: true,
    openWorld: true,
    timeoutMilliseconds: 60_000,
  },
  (_call, { url }) => {
    const page = open({ dialogs: "dismiss" });
    try {
      const { url: found, title } = navigate(page.id, url);
      // Apart from the page's own scripts, which could answer something else.
      const text = run(page.id, "document.body ? document.body.innerText : ''", { world: "isolated" });
      const shown = text.slice(0, LONGEST_TEXT);
      return reply(`${title}\n\n${shown}`, { url: found, title, text: shown, cut: shown.length < text.length });
    } finally {
      close(page.id);
    }
  },
);

export default plugin({ tools: [read] });
