// A client of the Model Context Protocol over standard input and output, of which one person fills every form.

import { createInterface } from "node:readline";

/** Milliseconds after which a request counts as lost: the slowest compiles components. */
const LONGEST = 300_000;

export class Session {
  #process;
  #waiting = new Map();
  #asked = 0;
  /** What the host logged. */
  log = "";

  /** Begins a session with a host that was started. */
  static async open(process) {
    const session = new Session();
    session.#process = process;
    process.stderr.on("data", (text) => (session.log += text));
    createInterface({ input: process.stdout }).on("line", (line) => session.#received(JSON.parse(line)));
    process.on("exit", () => {
      for (const { reject } of session.#waiting.values()) reject(new Error(`the host ended: ${session.log.slice(-2_000)}`));
    });
    const client = { name: "in-host", version: "1" };
    await session.ask("initialize", { protocolVersion: "2025-06-18", capabilities: { elicitation: {} }, clientInfo: client });
    session.#send({ method: "notifications/initialized" });
    return session;
  }

  /** Sends a request, and returns the whole response. */
  ask(method, params) {
    const id = ++this.#asked;
    this.#send({ id, method, params });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} was not answered; ${this.log.slice(-2_000)}`)), LONGEST);
      const settle = (act) => (value) => {
        clearTimeout(timer);
        act(value);
      };
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
    });
  }

  /** Calls a tool in a session of this name. */
  async call(name, args = {}, context) {
    const _meta = context === undefined ? undefined : { "dev.wharf/sessionId": context };
    const { result, error } = await this.ask("tools/call", { name, arguments: args, _meta });
    if (error !== undefined) return { isError: true, code: undefined, text: error.message };
    const text = result.content.map((part) => part.text ?? "").join("");
    const code = result._meta?.["dev.wharf/error"]?.code;
    return { isError: result.isError === true, code, text, structured: result.structuredContent };
  }

  /** Ends the host, and waits for it. */
  async close() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.stdin.end();
    await ended;
  }

  #send(message) {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #received(message) {
    if (message.method === "elicitation/create") {
      this.#send({ id: message.id, result: { action: "accept", content: { name: "Ada" } } });
    } else if (message.method === undefined) {
      this.#waiting.get(message.id)?.resolve(message);
      this.#waiting.delete(message.id);
    }
  }
}
