//! What the server says unasked, as a client of the older era hears it.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpStream,
};

use serde_json::Value;

/// The messages of a stream of the older era, as they come.
pub(crate) struct Heard(BufReader<TcpStream>);

impl Heard {
    pub(crate) fn new(stream: TcpStream) -> Self {
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while lines.read_line(&mut head).expect("an answer in time") > 2 {}
        assert!(head.contains(" 200 "), "nobody may listen: {head}");
        Self(lines)
    }

    /// The method of the next one.
    pub(crate) fn method(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).expect("a message in time"), 0, "the stream has ended");
            let said = line.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok());
            if let Some(method) = said.as_ref().and_then(|said| said["method"].as_str()) {
                return method.to_owned();
            }
        }
    }
}
