//! Estimates the memory that a JSON text will take, before it is parsed.
//!
//! A text of 4 MiB may become gigabytes of values: `{"":0}` takes seven bytes of it and
//! seven hundred of memory. So code that reads foreign JSON scans the bytes first, in
//! constant memory, and parses only what fits.

use std::sync::Arc;

use serde::de::{DeserializeOwned, Error as _};

use crate::{
    Code, Error, HostLimits, Quota, SessionId, Share, TenantId,
    quota::{Bounds, QuotaFull},
};

/// What a value takes in a list: its place, which growing lists double.
const VALUE_BYTES: u64 = 64;
/// What a list takes that has anything in it.
const LIST_BYTES: u64 = 64;
/// What an object takes that has anything in it: the first node of its tree.
const OBJECT_BYTES: u64 = 544;
/// What a member takes in an object, in nodes that are about half full.
const MEMBER_BYTES: u64 = 64;
/// What a text takes beside its bytes.
const TEXT_BYTES: u64 = 16;

/// Reads the members of an object. The parser alone would take a list for them, too, by their
/// places.
///
/// # Errors
/// Where the text is no object, or not this one.
pub fn members<T: DeserializeOwned>(text: impl AsRef<[u8]>) -> serde_json::Result<T> {
    let text = text.as_ref();
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(serde_json::Error::custom("invalid type: sequence, expected an object"));
    }
    serde_json::from_slice(text)
}

/// Reads a text byte by byte, and adds up what its values would take. A text that is no
/// JSON has an estimate, too: what a parser would have built until it finds out.
#[derive(Debug, Default)]
pub struct Estimate {
    bytes: u64,
    values: u64,
    text: Text,
    /// A number or a word is being read.
    in_word: bool,
    /// A list or an object was just opened.
    opened: Option<u8>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Within(u64),
    Escaped(u64),
}

impl Estimate {
    /// Of a whole text.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        let mut estimate = Self::default();
        estimate.read(text);
        estimate
    }

    /// Reads on.
    pub fn read(&mut self, mut text: &[u8]) {
        while let Some((byte, rest)) = text.split_first() {
            text = match self.text {
                Text::Outside => {
                    self.step(*byte);
                    rest
                }
                Text::Escaped(length) => {
                    self.text = Text::Within(length + 1);
                    rest
                }
                Text::Within(length) => {
                    let plain = memchr::memchr2(b'"', b'\\', text).unwrap_or(text.len());
                    let length = length + plain as u64;
                    self.text = match text.get(plain) {
                        None => Text::Within(length),
                        Some(b'"') => {
                            self.bytes += TEXT_BYTES + length.next_multiple_of(16);
                            Text::Outside
                        }
                        Some(_) => Text::Escaped(length),
                    };
                    text.get(plain + 1..).unwrap_or_default()
                }
            };
        }
    }

    /// Memory that the values take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many values there are, names of members included.
    #[must_use]
    pub fn values(&self) -> u64 {
        self.values
    }

    fn step(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => self.in_word = false,
            b']' | b'}' => {
                self.in_word = false;
                self.opened = None;
            }
            b'[' | b'{' => {
                self.begin();
                self.in_word = false;
                self.opened = Some(byte);
            }
            b'"' => {
                self.begin();
                self.in_word = false;
                self.text = Text::Within(0);
            }
            _ if self.in_word => {}
            _ => {
                self.begin();
                self.in_word = true;
            }
        }
    }

    /// A value begins, or the name of a member, which takes as much.
    fn begin(&mut self) {
        self.values += 1;
        self.bytes += match self.opened.take() {
            None => VALUE_BYTES,
            Some(b'{') => OBJECT_BYTES + MEMBER_BYTES,
            Some(_) => LIST_BYTES + VALUE_BYTES,
        };
    }
}

/// How much memory the JSON of requests may take: of one request, of all requests of a
/// tenant, and of all. Clones share the account.
#[derive(Debug, Clone)]
pub struct RequestMemory {
    per_request: u64,
    quota: Arc<Quota>,
}

impl RequestMemory {
    /// Nothing is taken.
    #[must_use]
    pub fn new(limits: &HostLimits) -> Self {
        let bounds = Bounds {
            resource: "bytes of memory for JSON of requests",
            section: "[host.limits]",
            session: None,
            tenant: ("request_json_bytes_per_tenant", limits.request_json_bytes_per_tenant),
            host: ("request_json_total_bytes", limits.request_json_total_bytes),
        };
        Self { per_request: limits.request_json_bytes, quota: Quota::new(bounds) }
    }

    /// The account of a request of which nothing has arrived yet. Dropping it gives back
    /// what it has.
    #[must_use]
    pub fn begin(&self, tenant: &TenantId) -> RequestShare {
        // Of nothing there is always enough.
        let share = self.quota.take(tenant, &SessionId::default_session(), 0).ok();
        RequestShare { per_request: self.per_request, share }
    }
}

impl Default for RequestMemory {
    fn default() -> Self {
        Self::new(&HostLimits::default())
    }
}

/// What one request takes.
#[derive(Debug)]
pub struct RequestShare {
    per_request: u64,
    share: Option<Share>,
}

impl RequestShare {
    /// Takes what so many bytes take that have arrived.
    ///
    /// # Errors
    /// `limit`, retryable, where the tenant or the host has no more.
    pub fn arrived(&mut self, bytes: u64) -> Result<(), Error> {
        Ok(self.grow(bytes)?)
    }

    /// Takes what this text takes once it is read, which may be done then.
    ///
    /// # Errors
    /// `limit`, where it is more than a request may take; retryable, where the tenant or
    /// the host has no more.
    pub fn read(&mut self, text: &[u8]) -> Result<Estimate, Error> {
        let estimate = Estimate::of(text);
        if estimate.bytes() > self.per_request {
            return Err(Error::new(
                Code::Limit,
                format!(
                    "the JSON of this request has {} values and takes about {} bytes of memory, more than {} (limit \
                     `request_json_bytes`); send less at a time",
                    estimate.values(),
                    estimate.bytes(),
                    self.per_request
                ),
            ));
        }
        self.grow(estimate.bytes())?;
        Ok(estimate)
    }

    fn grow(&mut self, bytes: u64) -> Result<(), QuotaFull> {
        self.share.as_mut().map_or(Ok(()), |share| share.grow(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_a_tenant_and_the_host_each_have_a_limit_and_what_is_answered_gives_back() {
        let limits = HostLimits {
            request_json_bytes: 10_000,
            request_json_bytes_per_tenant: 15_000,
            request_json_total_bytes: 20_000,
            ..HostLimits::default()
        };
        let memory = RequestMemory::new(&limits);
        let text = format!("[{}]", ["1"; 140].join(","));
        let take = |tenant: &str| {
            let mut share = memory.begin(&tenant.parse().expect("legal"));
            share.read(text.as_bytes()).map(|_| share)
        };
        let refused = |outcome: Result<RequestShare, Error>| outcome.expect_err("too much").message;
        let long = format!("[{}]", ["1"; 200].join(","));
        let mut own = memory.begin(&TenantId::local());
        assert!(own.read(long.as_bytes()).expect_err("too much").message.contains("`request_json_bytes`"));
        let first = take("a").expect("the first");
        assert!(refused(take("a")).contains("`request_json_bytes_per_tenant`"));
        let second = take("b").expect("of another tenant");
        assert!(refused(take("c")).contains("`request_json_total_bytes`"));
        drop((first, second));
        assert_eq!(memory.quota.used(), 0);
        own.arrived(15_001).expect_err("more than a tenant has");
    }

    #[test]
    fn values_are_counted_and_texts_are_not_looked_into() {
        for (text, values) in [
            ("", 0),
            ("17", 1),
            (r#" [1, -2.5e3,true,null , "a,[]{}\"b"] "#, 6),
            (r#"{"a":{"b":[]},"c":""}"#, 7),
            (r#""\\" "#, 1),
            ("[[],[],{}]", 4),
        ] {
            assert_eq!(Estimate::of(text.as_bytes()).values(), values, "{text}");
            // Read in pieces it is the same.
            let mut pieces = Estimate::default();
            text.as_bytes().chunks(1).for_each(|piece| pieces.read(piece));
            assert_eq!((pieces.values(), pieces.bytes()), (values, Estimate::of(text.as_bytes()).bytes()), "{text}");
        }
    }

    #[test]
    fn what_multiplies_is_seen_before_it_is_read_and_a_long_text_takes_its_length() {
        let many = |item: &str, count: usize| Estimate::of(format!("[{}]", vec![item; count].join(",")).as_bytes());
        assert!(many(r#"{"":0}"#, 590_000).bytes() > 300 << 20);
        assert!(many("1", 1_300_000).bytes() > 64 << 20);
        let long = format!("\"{}\"", "x".repeat(4 << 20));
        assert!(Estimate::of(long.as_bytes()).bytes() < (4 << 20) + 1_024);
    }
}
