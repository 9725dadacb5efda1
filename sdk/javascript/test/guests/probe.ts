// What holds within a component, on whichever engine: each tool is one question to it.

import { content, answer, decodeUtf8, encodeUtf8, plugin, tool, ToolError, Type } from "@wharf/sdk";
import { bucket } from "@wharf/sdk/state";

const Kind = Type.Object({ kind: Type.String() });

const texts = ["", "a", "grüß", "한국어 🙂", "%41 %zz + /", "\u0000\u007f\u0080\u07ff\u0800\uffff", "\ud800", "a\udc00b", "🙂\ud83d"];
const bytes = [[0x80], [0xc3], [0xc3, 0x28], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x99], [0xff, 0x41], [0xf4, 0x90, 0x80, 0x80]];

/** What the engine says of texts and bytes: hexadecimal, so that the test can compare it with Node.js. */
const encoding = tool({ name: "encoding", description: "Answers what texts and bytes become." }, () =>
  JSON.stringify({
    encoded: texts.map((text) => [Array.from(new TextEncoder().encode(text)), Array.from(encodeUtf8(text))]),
    decoded: bytes.map((given) => [new TextDecoder().decode(Uint8Array.from(given)), decodeUtf8(Uint8Array.from(given))].map((text) => Array.from(encodeUtf8(text)))),
    fatal: bytes.map((given) => {
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(given));
      } catch (error) {
        return (error as Error).name;
      }
    }),
    megabyte: decodeUtf8(encodeUtf8("ü".repeat(500_000))).length,
  }),
);

const fail = tool({ name: "fail", description: "Fails in the way that is asked for.", input: Kind }, (_call, { kind }) => {
  switch (kind) {
    case "code":
      throw new ToolError("gone", "it left \ud800", { retryable: true });
    case "exception":
      return (undefined as unknown as string).length.toString();
    case "text":
      throw "only text";
    case "host":
      bucket("nowhere" as "session", "n");
      return "";
    case "type":
      bucket("session", 7 as unknown as string);
      return "";
    case "revision":
      bucket("session", "n").apply([{ key: "k", value: encodeUtf8("v"), ifRevision: 9_007_199_254_740_991 }]);
      return "";
    case "recursion": {
      const deeper = (depth: number): number => deeper(depth + 1) + 1;
      return String(deeper(0));
    }
    default:
      return undefined as unknown as string;
  }
});

const random = tool({ name: "random", description: "Draws random numbers." }, () => {
  const bytes = Array.from(crypto.getRandomValues(new Uint8Array(8))).join();
  return JSON.stringify([Math.random(), Math.random(), crypto.randomUUID(), bytes]);
});

const log = tool({ name: "log", description: "Writes to the console." }, () => {
  console.warn("a warning", { of: ["what"] });
  return answer({ content: ["lone \ud800 surrogate", content("image/png", Uint8Array.of(1, 2, 3))] });
});

console.log("the top level has no log");

export default plugin({ tools: [encoding, fail, random, log] });
