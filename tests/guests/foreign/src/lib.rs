//! A component that knows nothing of wharf: it exports plain functions, with parameters and results
//! of every type, files and requests by WASI, and some that do harm.

#[expect(unsafe_code, clippy::pedantic, reason = "it is generated")]
mod bindings {
    wit_bindgen::generate!({ world: "tools", path: "wit" });
    use super::Foreign;
    export!(Foreign);
}

use std::cell::Cell;

use bindings::exports::foreign::tools::{
    counters::{self, CounterBorrow},
    files, hostile,
    shapes::{self, Everything, Point, Shape},
    web,
};
use wasip2::http::{outgoing_handler, types as http};

struct Foreign;

impl bindings::Guest for Foreign {
    fn greet(name: String) -> String {
        format!("Hello, {name}.")
    }

    fn variable(name: String) -> Option<String> {
        std::env::var(name).ok()
    }
}

impl shapes::Guest for Foreign {
    fn echo(value: Everything) -> Everything {
        value
    }

    fn divide(dividend: i64, divisor: i64) -> Result<i64, String> {
        dividend.checked_div(divisor).ok_or_else(|| format!("{dividend} cannot be divided by {divisor}"))
    }

    fn scale(points: Vec<Point>, factor: Option<i32>) -> Vec<Point> {
        let factor = factor.unwrap_or(2);
        points.into_iter().map(|Point { x, y }| Point { x: x * factor, y: y * factor }).collect()
    }

    fn describe(shape: Shape) -> String {
        match shape {
            Shape::Empty => "nothing".to_owned(),
            Shape::Circle(radius) => format!("a circle of radius {radius}"),
            Shape::Polygon(points) => format!("a polygon of {} points", points.len()),
            Shape::Named(name) => format!("a shape called {name}"),
        }
    }

    fn nothing() {}

    fn unbounded() -> (f64, f32, f64) {
        (f64::NAN, f32::INFINITY, f64::NEG_INFINITY)
    }
}

impl files::Guest for Foreign {
    fn read(path: String) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }

    fn write(path: String, text: String) -> Result<(), String> {
        std::fs::write(path, text).map_err(|error| error.to_string())
    }
}

impl web::Guest for Foreign {
    fn get(host: String, path: String) -> Result<String, String> {
        let told = |code: http::ErrorCode| format!("{code:?}");
        let request = http::OutgoingRequest::new(http::Fields::new());
        let set = request.set_scheme(Some(&http::Scheme::Http)).and_then(|()| request.set_authority(Some(&host)));
        set.and_then(|()| request.set_path_with_query(Some(&path))).map_err(|()| "no address".to_owned())?;
        let waiting = outgoing_handler::handle(request, None).map_err(told)?;
        waiting.subscribe().block();
        let response = waiting.get().ok_or("no answer")?.map_err(|()| "no answer")?.map_err(told)?;
        let body = response.consume().map_err(|()| "no body")?;
        let stream = body.stream().map_err(|()| "no body")?;
        let mut text = Vec::new();
        while let Ok(bytes) = stream.blocking_read(4096) {
            text.extend(bytes);
        }
        Ok(format!("{} {}", response.status(), String::from_utf8_lossy(&text)))
    }
}

impl hostile::Guest for Foreign {
    fn bytes(count: u32) -> Vec<u8> {
        vec![0x57; count as usize]
    }

    fn texts(count: u32) -> Vec<String> {
        vec![String::new(); count as usize]
    }

    fn trap() {
        panic!("it was asked to");
    }

    fn spin() {
        loop {
            std::hint::black_box(());
        }
    }

    fn allocate(megabytes: u32) -> u32 {
        std::hint::black_box(vec![1_u8; (megabytes as usize) << 20]).len() as u32
    }
}

impl counters::Guest for Foreign {
    type Counter = Counter;

    fn look(counter: CounterBorrow<'_>) -> u32 {
        counter.get::<Counter>().value.get()
    }
}

/// A resource, of which no tool can be made.
struct Counter {
    value: Cell<u32>,
}

impl counters::GuestCounter for Counter {
    fn new() -> Self {
        Self { value: Cell::new(0) }
    }

    fn next(&self) -> u32 {
        self.value.replace(self.value.get() + 1)
    }
}
