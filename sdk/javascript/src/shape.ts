// What goes to the host and comes from it: checked and converted, since either engine ends the
// instance where a value is of another type than the contract says.

import { takesBigIntegers } from "./engine.js";
import { ToolError } from "./error.js";
import { wellFormed } from "./utf8.js";

/** A type of the contract as a value. */
export type Shape =
  | "bool"
  | "string"
  | "bytes"
  | "u8"
  | "u16"
  | "u32"
  | "u64"
  | "s32"
  | "f64"
  | { readonly list: Shape }
  | { readonly option: Shape }
  | { readonly tuple: readonly Shape[] }
  | { readonly record: Readonly<Record<string, Shape>> };

/** Least and greatest value of each integer. 64-bit ones end where numbers stop to be exact. */
const RANGES: Record<string, readonly [number, number]> = {
  u8: [0, 255],
  u16: [0, 65_535],
  u32: [0, 4_294_967_295],
  u64: [0, Number.MAX_SAFE_INTEGER],
  s32: [-2_147_483_648, 2_147_483_647],
};

/**
 * The value that an engine takes for a value of `shape`. `path` names it in errors.
 *
 * Fails with `invalid` where the value is of another type, out of range, or has a member that the
 * record does not have.
 */
export function lower(shape: Shape, value: unknown, path: string): unknown {
  if (typeof shape === "string") return primitive(shape, value, path);
  if ("option" in shape) return value === undefined || value === null ? undefined : lower(shape.option, value, path);
  if ("record" in shape) return record(shape.record, value, path);
  if (!Array.isArray(value)) throw expected(path, "an array", value);
  if ("list" in shape) return Array.from(value, (item, index) => lower(shape.list, item, `${path}[${index}]`));
  if (value.length !== shape.tuple.length) throw expected(path, `an array of ${shape.tuple.length}`, value);
  return shape.tuple.map((item, index) => lower(item, value[index], `${path}[${index}]`));
}

function primitive(shape: string, value: unknown, path: string): unknown {
  switch (shape) {
    case "string":
      if (typeof value !== "string") throw expected(path, "a string", value);
      return wellFormed(value);
    case "bool":
      if (typeof value !== "boolean") throw expected(path, "true or false", value);
      return value;
    case "bytes":
      if (!(value instanceof Uint8Array)) throw expected(path, "a Uint8Array", value);
      return value;
    case "f64":
      if (typeof value !== "number") throw expected(path, "a number", value);
      return value;
    default:
      return integer(shape, value, path);
  }
}

function integer(shape: string, value: unknown, path: string): unknown {
  const [least, greatest] = RANGES[shape] ?? [0, 0];
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > greatest) {
    throw expected(path, `a whole number from ${least} to ${greatest}`, value);
  }
  return shape === "u64" && takesBigIntegers() ? BigInt(value as number) : value;
}

function record(fields: Readonly<Record<string, Shape>>, value: unknown, path: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw expected(path, "an object", value);
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(fields, name)) {
      throw ToolError.invalid(`\`${path}.${name}\` is not known; there are ${Object.keys(fields).join(", ")}`);
    }
  }
  const lowered: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries(fields)) {
    lowered[name] = lower(shape, (value as Record<string, unknown>)[name], `${path}.${name}`);
  }
  return lowered;
}

function expected(path: string, what: string, value: unknown): ToolError {
  return ToolError.invalid(`\`${path}\` must be ${what}, not ${shown(value)}`);
}

/** A value in an error: short, and never its content where that may be long. */
function shown(value: unknown): string {
  if (value === null || value === undefined || typeof value === "boolean") return String(value);
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value instanceof Uint8Array) return "a Uint8Array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/**
 * What the host returned, the same on both engines: 64-bit numbers are numbers, and what is absent
 * is `undefined`. A number beyond 2^53 loses its last digits, which only a quota can be.
 *
 * SpiderMonkey's tool makes records in a realm of its own, where no `instanceof` of ours holds.
 */
export function lift(value: unknown): unknown {
  if (value === null) return undefined;
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) return Array.from(value, lift);
  if (ArrayBuffer.isView(value)) return liftView(value);
  const lifted: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) lifted[name] = lift(member);
  return lifted;
}

/** Bytes are a Uint8Array of our realm; a list of 64-bit numbers comes as an array of them. */
function liftView(view: ArrayBufferView): unknown {
  if (view instanceof Uint8Array) return view;
  if (view.constructor.name === "Uint8Array") return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  return Array.from(view as unknown as ArrayLike<number | bigint>, Number);
}
