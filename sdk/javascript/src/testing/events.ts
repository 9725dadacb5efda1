// What a plugin tells the client, kept for a test to look at.

import { ToolError } from "../error.js";

/** What a call said of its progress. */
export interface ToldProgress {
  readonly done: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

/** A stream of events as a test sees it. */
export interface ToldStream {
  readonly title: string;
  readonly told: string[];
  complete: boolean;
}

/** The interface `events`, which keeps what it is told. */
export class Told {
  readonly progressed: ToldProgress[] = [];
  readonly messages: Array<{ level: string; data: unknown }> = [];
  readonly streams = new Map<string, ToldStream>();
  readonly changes: string[] = [];

  progress(done: number, total: number | undefined, message: string | undefined): void {
    const before = this.progressed.at(-1)?.done ?? -1;
    const legal = (number: number) => Number.isFinite(number) && number >= 0;
    if (!legal(done) || done <= before || (total !== undefined && !legal(total))) {
      throw ToolError.invalid("`done` and `total` are finite and not negative, and `done` grows");
    }
    this.progressed.push({ done, total, message });
  }

  message(level: string, data: string): void {
    this.messages.push({ level, data: JSON.parse(data) });
  }

  openStream(title: string): string {
    const id = `stream-${this.streams.size + 1}`;
    this.streams.set(id, { title, told: [], complete: false });
    return id;
  }

  status(id: string, word: string): void {
    this.#open(id).told.push(word);
  }

  say(id: string, text: string): void {
    if (text === "") throw ToolError.invalid("the message is empty");
    this.#open(id).told.push(text);
  }

  advance(id: string, stage: string, percent: number | undefined): void {
    this.#open(id).told.push(percent === undefined ? stage : `${stage} ${percent}%`);
  }

  complete(id: string): void {
    this.#stream(id).complete = true;
  }

  changed(list: string): void {
    if (!["prompts", "resources", "tools"].includes(list)) throw ToolError.invalid("`list` must be `prompts`, `resources` or `tools`");
    this.changes.push(list);
  }

  updated(uri: string): void {
    this.changes.push(uri);
  }

  #stream(id: string): ToldStream {
    const stream = this.streams.get(id);
    if (stream === undefined) throw ToolError.notFound(`there is no stream ${id}`);
    return stream;
  }

  #open(id: string): ToldStream {
    const stream = this.#stream(id);
    if (stream.complete) throw ToolError.gone("the stream has ended");
    return stream;
  }
}
