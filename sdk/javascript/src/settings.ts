// What the operator set for the plugin: the table `[plugin.NAME.settings]`.

import * as generated from "./generated/settings.js";
import { ToolError } from "./error.js";

/** The type of a setting, and what it is where the operator set nothing. */
export type Default = string | number | boolean | readonly unknown[] | Readonly<Record<string, unknown>>;

type Widened<Value> = Value extends string ? string : Value extends number ? number : Value extends boolean ? boolean : Value;

/** The operator's settings, as they are. The same for every call; `{}` while tools are listed. */
export function rawSettings(): Readonly<Record<string, unknown>> {
  return JSON.parse(generated.get()) as Record<string, unknown>;
}

/**
 * The operator's settings. `defaults` has a member for each that there is.
 *
 * Fails with `unavailable` where the operator set another one, or one of another type, so that a
 * misspelt setting does not pass silently.
 */
export function settings<Defaults extends Readonly<Record<string, Default>>>(
  defaults: Defaults,
): { readonly [Name in keyof Defaults]: Widened<Defaults[Name]> } {
  const found: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(rawSettings())) {
    if (!Object.hasOwn(defaults, name)) throw wrong(`\`${name}\` is no setting of this plugin; there are ${Object.keys(defaults).join(", ")}`);
    if (kind(value) !== kind(defaults[name])) throw wrong(`the setting \`${name}\` must be ${kind(defaults[name])}, not ${kind(value)}`);
    found[name] = value;
  }
  return found as { readonly [Name in keyof Defaults]: Widened<Defaults[Name]> };
}

function wrong(message: string): ToolError {
  return new ToolError("unavailable", `the operator has to change the settings: ${message}`, { retryable: false });
}

function kind(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "a table" : `a ${typeof value}`;
}
