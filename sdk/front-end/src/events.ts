/** Server-sent events of an answer to `fetch`: an `EventSource` could not show a token. */

/** One event. */
export interface ServerEvent {
  /** Its number among the events of the front end; absent where the host speaks of the stream itself. */
  readonly id: string | undefined;
  readonly kind: string;
  readonly data: string;
}

/** What a line of a stream comes to. */
export type Told = { readonly event: ServerEvent } | { readonly retryMs: number } | { readonly alive: true };

/** The longest event that is read, in characters: far above what the host sends at once. */
const LONGEST = 64 * 1024 * 1024;

/** Reads lines of a stream as they come, wherever they are cut. */
export class EventReader {
  #rest = "";
  #id: string | undefined;
  #kind = "message";
  #data: string[] = [];
  #length = 0;

  /** What has become whole with this piece. */
  *read(piece: string): Generator<Told> {
    this.#rest += piece;
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.#rest);
      if (end === null) break;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      const told = this.#line(line);
      if (told !== undefined) yield told;
    }
    if (this.#rest.length + this.#length > LONGEST) throw new Error("an event of the host has no end");
  }

  #line(line: string): Told | undefined {
    if (line === "") return this.#whole();
    if (line.startsWith(":")) return { alive: true };
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    switch (field) {
      case "id":
        this.#id = value;
        return undefined;
      case "event":
        this.#kind = value;
        return undefined;
      case "data":
        this.#data.push(value);
        this.#length += value.length;
        return undefined;
      case "retry":
        return /^\d+$/.test(value) ? { retryMs: Number(value) } : undefined;
      default:
        return undefined;
    }
  }

  #whole(): Told | undefined {
    const event = { id: this.#id, kind: this.#kind, data: this.#data.join("\n") };
    const is = this.#data.length > 0;
    this.#id = undefined;
    this.#kind = "message";
    this.#data = [];
    this.#length = 0;
    return is ? { event } : undefined;
  }
}
