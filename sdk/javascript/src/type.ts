// The schemas that most tools need, of TypeBox: they are JSON Schema already, and types beside it.
//
// Why TypeBox, and why not all of it. A component of QuickJS that describes one small input, and the
// median time of a call: JSON Schema by hand 1.60 MB and 0.76 ms; these parts of TypeBox
// 1.4 1.77 MB and 0.79 ms; all of TypeBox 1.4 3.80 MB and 0.88 ms; Zod 4.6 3.09 MB and 0.89 ms; `zod/mini`
// 2.19 MB and 0.67 ms, without descriptions. Everything that a module makes at its top level is part of
// the component, and no bundler takes members out of the object `Type`.

import { Any, Array, Boolean, Enum, Integer, Intersect, Literal, Null, Number, Object, Optional, String, Tuple, Union, Unknown, Unsafe } from "typebox";

/** Makes schemas: `Type.Object({ name: Type.String({ description: "Whom to greet." }) })`. */
export const Type = { Any, Array, Boolean, Enum, Integer, Intersect, Literal, Null, Number, Object, Optional, String, Tuple, Union, Unknown, Unsafe };
