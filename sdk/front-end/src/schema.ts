/**
 * JSON Schemas as plain objects, and the types of the values that conform to them: what a function takes and gives is
 * written once, the host checks it, and the compiler knows it.
 */

/** A JSON Schema 2020-12. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** The schema of an object: what a tool takes, and what it gives. */
export interface ObjectSchema extends Schema {
  readonly type: "object";
}

type Shown<T> = { [K in keyof T]: T[K] };

type RequiredNames<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

type ObjectOf<P, S> = Shown<
  { -readonly [K in keyof P as K extends RequiredNames<S> ? K : never]: Value<P[K]> } & {
    -readonly [K in keyof P as K extends RequiredNames<S> ? never : K]?: Value<P[K]>;
  }
>;

type OfType<T, S> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? S extends { readonly items: infer I }
            ? Value<I>[]
            : unknown[]
          : T extends "object"
            ? S extends { readonly properties: infer P }
              ? ObjectOf<P, S>
              : Record<string, unknown>
            : unknown;

/**
 * The type of the values that conform to a schema, as far as `type`, `properties`, `required`, `items`, `enum`, `const`,
 * `anyOf` and `oneOf` say; anything else is `unknown`.
 */
export type Value<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? Value<A>
      : S extends { readonly oneOf: readonly (infer A)[] }
        ? Value<A>
        : S extends { readonly type: readonly (infer T)[] }
          ? OfType<T, S>
          : S extends { readonly type: infer T }
            ? OfType<T, S>
            : unknown;
