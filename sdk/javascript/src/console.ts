// `console` as lines of the operator's log.

/** The longest line, in characters: the host cuts lines at 8,192 bytes. */
const LONGEST = 8_192;

/** How deep a value is shown. */
const DEPTH = 4;

/** How many members of an object or items of an array are shown. */
const MEMBERS = 50;

/** Where a line goes, with its level. */
export type WriteLine = (level: string, message: string) => void;

/** A console whose lines go to `write`. Levels are those of the contract. */
export function consoleOf(write: WriteLine): Pick<Console, "log" | "info" | "debug" | "trace" | "warn" | "error"> {
  const at =
    (level: string) =>
    (...values: unknown[]): void =>
      write(level, values.map((value) => (typeof value === "string" ? value : inspect(value))).join(" ").slice(0, LONGEST));
  return { log: at("info"), info: at("info"), debug: at("debug"), trace: at("trace"), warn: at("warn"), error: at("error") };
}

/** A value for a person: bounded in depth and width, whatever it is. */
export function inspect(value: unknown, depth = DEPTH): string {
  try {
    return shown(value, depth, []);
  } catch {
    // A getter or a proxy threw. The log must not fail.
    return "[a value that cannot be shown]";
  }
}

function shown(value: unknown, depth: number, above: readonly object[]): string {
  if (typeof value === "string") return JSON.stringify(value.length > LONGEST ? value.slice(0, LONGEST) : value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `[function ${value.name}]`;
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Error) return value.stack === undefined ? String(value) : `${value}\n${value.stack}`;
  if (value instanceof Uint8Array) return `Uint8Array(${value.length})`;
  if (above.includes(value)) return "[circle]";
  if (depth === 0) return Array.isArray(value) ? "[…]" : "{…}";
  const within = [...above, value];
  if (Array.isArray(value)) {
    const items = value.slice(0, MEMBERS).map((item) => shown(item, depth - 1, within));
    if (value.length > MEMBERS) items.push(`… ${value.length - MEMBERS} more`);
    return `[${items.join(", ")}]`;
  }
  if (value instanceof Map) return `Map ${shown([...value].slice(0, MEMBERS), depth, within)}`;
  if (value instanceof Set) return `Set ${shown([...value].slice(0, MEMBERS), depth, within)}`;
  const names = Object.keys(value);
  const members = names
    .slice(0, MEMBERS)
    .map((name) => `${name}: ${shown((value as Record<string, unknown>)[name], depth - 1, within)}`);
  if (names.length > MEMBERS) members.push(`… ${names.length - MEMBERS} more`);
  return `{ ${members.join(", ")} }`;
}
