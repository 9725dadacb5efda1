"""The tools of `../wit/world.wit` in Python: a component that knows nothing of wharf."""

import math
import os

import wit_world
from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.shapes import Point, Shape_Circle, Shape_Named, Shape_Polygon


class WitWorld(wit_world.WitWorld):
    def greet(self, name):
        return f"Hello, {name}."

    def variable(self, name):
        return os.environ.get(name)


class Shapes(exports.Shapes):
    def echo(self, value):
        return value

    def divide(self, dividend, divisor):
        if divisor == 0:
            raise Err(f"{dividend} cannot be divided by {divisor}")
        return dividend // divisor

    def scale(self, points, factor):
        factor = 2 if factor is None else factor
        return [Point(point.x * factor, point.y * factor) for point in points]

    def describe(self, shape):
        match shape:
            case Shape_Circle(radius):
                return f"a circle of radius {radius:g}"
            case Shape_Polygon(points):
                return f"a polygon of {len(points)} points"
            case Shape_Named(name):
                return f"a shape called {name}"
            case _:
                return "nothing"

    def nothing(self):
        pass

    def unbounded(self):
        return (math.nan, math.inf, -math.inf)
