// What a plugin answered, as a test looks at it.

import { hostError } from "../error.js";
import type { Answer } from "../generated/tools.js";
import { decodeUtf8 } from "../utf8.js";

/** What a tool answered. */
export class TestAnswer {
  constructor(readonly wit: Answer) {}

  /** All parts of text, one after the other. */
  get text(): string {
    return this.wit.content.filter(({ mimeType }) => mimeType.startsWith("text/")).map(({ data }) => decodeUtf8(data)).join("");
  }

  /** The structured answer. */
  get structured(): any {
    return this.wit.structured === undefined ? undefined : JSON.parse(this.wit.structured);
  }

  /** Whether the tool says that it could not do it. */
  get isError(): boolean {
    return this.wit.isError;
  }

  /** Further fields of the protocol. */
  get meta(): Record<string, any> {
    return this.wit.meta === undefined ? {} : JSON.parse(this.wit.meta);
  }
}

/** What a call came to; an error of the contract is thrown as the `ToolError` that it was. */
export async function settled<Result>(act: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (thrown) {
    throw hostError(typeof thrown === "object" && thrown !== null && "code" in thrown ? { payload: thrown } : thrown);
  }
}
