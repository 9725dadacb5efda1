//! Events that a server sends, as they come.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpStream,
};

use serde_json::Value;

/// Server-sent events as they come.
#[derive(Debug)]
pub struct Following {
    /// The status line and the headers.
    pub head: String,
    lines: BufReader<TcpStream>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub struct SentEvent {
    /// Its number; those of the connection itself have none.
    pub id: Option<u64>,
    /// What it is; a comment is `:`.
    pub kind: String,
    /// What it says.
    pub data: Value,
}

impl Following {
    /// Follows what a connection answers.
    ///
    /// # Panics
    /// Where it is not followed.
    #[must_use]
    pub fn of(stream: TcpStream) -> Self {
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while lines.read_line(&mut head).expect("an answer in time") > 2 {}
        assert!(head.contains("text/event-stream"), "not followed: {head}");
        Self { head, lines }
    }

    /// Waits for the next event or comment; none where the server has ended it.
    ///
    /// # Panics
    /// Where nothing comes.
    pub fn event(&mut self) -> Option<SentEvent> {
        let (mut id, mut kind, mut data) = (None, String::new(), Value::Null);
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("an event in time") == 0 {
                return None;
            }
            match line.trim_end().split_once(':') {
                Some(("", _)) => kind = ":".to_owned(),
                Some(("id", rest)) => id = rest.trim().parse().ok(),
                Some(("event", rest)) => rest.trim().clone_into(&mut kind),
                Some(("data", rest)) => data = serde_json::from_str(rest).expect("JSON"),
                None if !kind.is_empty() => return Some(SentEvent { id, kind, data }),
                _ => {}
            }
        }
    }

    /// All events until the server ends it.
    ///
    /// # Panics
    /// Where it does not.
    pub fn rest(mut self) -> Vec<SentEvent> {
        std::iter::from_fn(|| self.event()).filter(|event| event.kind != ":").collect()
    }
}
