/** Serves functions of a web page or window as tools of Wharf. */

export { connect, FrontEnd, type Options, type State } from "./front-end.js";
export {
  FunctionError,
  serve,
  type Annotations,
  type Answer,
  type Answered,
  type Call,
  type Definition,
  type FailureCode,
  type Part,
  type Served,
} from "./function.js";
export { HostError, type HostAddress } from "./host.js";
export type { ObjectSchema, Schema, Value } from "./schema.js";
