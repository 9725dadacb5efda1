// The tools of `../wit/world.wit` in JavaScript: a component that knows nothing of wharf.

export const greet = (name) => `Hello, ${name}.`;

// QuickJS has no environment.
export const variable = () => undefined;

export const shapes = {
  echo: (value) => value,

  divide(dividend, divisor) {
    if (Number(divisor) === 0) throw `${dividend} cannot be divided by ${divisor}`;
    return Math.trunc(Number(dividend) / Number(divisor));
  },

  // An absent option is null or undefined.
  scale: (points, factor) => points.map(({ x, y }) => ({ x: x * (factor ?? 2), y: y * (factor ?? 2) })),

  describe({ tag, val }) {
    switch (tag) {
      case "circle": return `a circle of radius ${val}`;
      case "polygon": return `a polygon of ${val.length} points`;
      case "named": return `a shape called ${val}`;
      default: return "nothing";
    }
  },

  nothing() {},

  unbounded: () => [NaN, Infinity, -Infinity],
};
