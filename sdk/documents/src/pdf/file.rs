//! [`File`]: the objects of a PDF. They are found by reading the file from its
//! beginning to its end, once, the way other readers repair a damaged one: so
//! there is no table to believe, and no chain of tables to follow. An object is
//! parsed when somebody asks for it.

use std::cell::Cell;
use std::collections::HashMap;

use super::filter;
use super::lexer::{Dictionary, Lexer, Object, is_blank};
use crate::{Format, Limits, ParseError};

/// References that may lead to references.
const MOST_STEPS: usize = 16;
/// Versions of a document in one file.
const MOST_TRAILERS: usize = 1_024;
/// Reading an object costs as many bytes as it has, each time, of so many times
/// what may be unpacked.
const READ_FOR_EACH_UNPACKED: usize = 4;
/// What unpacking costs at least.
const LEAST_COST: usize = 64;

/// Where an object is: in the file, or in an object stream that was unpacked.
#[derive(Debug, Clone, Copy)]
struct ObjectPlace {
    source: usize,
    at: usize,
}

pub(super) struct File<'bytes> {
    bytes: &'bytes [u8],
    /// What object streams unpacked to.
    unpacked: Vec<Vec<u8>>,
    objects: HashMap<u32, ObjectPlace>,
    trailer: Dictionary<'static>,
    /// Bytes that may still be unpacked, and that were allowed.
    left: Cell<usize>,
    limit: usize,
    /// Bytes of objects that may still be read.
    readable: Cell<usize>,
}

/// A stream, as it stands in the file.
pub(super) struct Stream<'file> {
    pub(super) dictionary: Dictionary<'file>,
    raw: &'file [u8],
}

impl<'bytes> File<'bytes> {
    pub(super) fn open(bytes: &'bytes [u8], limits: &Limits) -> Result<Self, ParseError> {
        let mut file = Self {
            bytes,
            unpacked: Vec::new(),
            objects: HashMap::new(),
            trailer: Dictionary::default(),
            left: Cell::new(limits.unpacked_bytes),
            limit: limits.unpacked_bytes,
            readable: Cell::new(limits.unpacked_bytes.saturating_mul(READ_FOR_EACH_UNPACKED)),
        };
        let packed = file.scan(limits)?;
        for (number, at) in packed {
            // A later object of that number is another one.
            if file.objects.get(&number).is_some_and(|place| place.at == at) {
                file.unpack(at, limits)?;
            }
        }
        Ok(file)
    }

    /// Finds the objects, and says which of them hold others.
    fn scan(&mut self, limits: &Limits) -> Result<Vec<(u32, usize)>, ParseError> {
        let mut packed = Vec::new();
        let mut at = 0;
        let mut roots: Vec<Dictionary<'bytes>> = Vec::new();
        while let Some(found) = memchr::memchr2(b'o', b't', &self.bytes[at..]) {
            let place = at + found;
            at = place + 1;
            let rest = &self.bytes[place..];
            if rest.starts_with(b"trailer") {
                let mut lexer = Lexer::new(self.bytes, place + 7);
                if let Some(Object::Dictionary(trailer)) = lexer.next(true)
                    && roots.len() < MOST_TRAILERS
                {
                    roots.push(trailer);
                }
                at = lexer.at.max(at);
                continue;
            }
            if !rest.starts_with(b"obj") {
                continue;
            }
            let Some(number) = object_number(&self.bytes[..place]) else { continue };
            at = place + 3;
            self.insert(number, ObjectPlace { source: 0, at }, limits)?;
            // The data of a stream may look like objects: it is passed over.
            let mut lexer = Lexer::new(self.bytes, at);
            lexer.skip_blanks();
            if !self.bytes[lexer.at..].starts_with(b"<<") {
                continue;
            }
            let Some(Object::Dictionary(dictionary)) = lexer.next(true) else { continue };
            lexer.skip_blanks();
            at = at.max(lexer.at);
            if !self.bytes[lexer.at..].starts_with(b"stream") {
                continue;
            }
            at = stream_end(self.bytes, lexer.at, &dictionary);
            match dictionary.get("Type").and_then(Object::name) {
                Some(b"ObjStm") => packed.push((number, place + 3)),
                Some(b"XRef") if roots.len() < MOST_TRAILERS => roots.push(dictionary),
                _ => {}
            }
        }
        // The last one that names a root is the current one.
        let encrypted = roots.iter().any(|trailer| trailer.get("Encrypt").is_some_and(|entry| *entry != Object::Null));
        if encrypted {
            return Err(ParseError::Encrypted { format: Format::Pdf });
        }
        if let Some(trailer) = roots.iter().rev().find(|trailer| trailer.get("Root").is_some()) {
            self.trailer = trailer.references();
        }
        Ok(packed)
    }

    fn insert(&mut self, number: u32, place: ObjectPlace, limits: &Limits) -> Result<(), ParseError> {
        // Small objects are what a PDF consists of.
        let most = limits.parts.saturating_mul(16);
        if self.objects.len() >= most && !self.objects.contains_key(&number) {
            return Err(ParseError::Limit { what: "objects", limit: most });
        }
        self.objects.insert(number, place);
        Ok(())
    }

    /// Unpacks an object stream and finds the objects in it.
    fn unpack(&mut self, container: usize, limits: &Limits) -> Result<(), ParseError> {
        let Some(stream) = self.stream_at(ObjectPlace { source: 0, at: container }) else { return Ok(()) };
        let size = |key| stream.dictionary.get(key).and_then(|entry| self.resolve(entry.clone()).size());
        let (Some(first), Some(count)) = (size("First"), size("N")) else { return Ok(()) };
        let Some(data) = self.data(&stream)? else { return Ok(()) };
        let source = self.unpacked.len() + 1;
        let mut found = Vec::new();
        let mut lexer = Lexer::new(&data, 0);
        for _ in 0..count {
            let (Some(Object::Number(number)), Some(offset)) = (lexer.next(false), lexer.next(false)) else { break };
            let Some(offset) = offset.size().and_then(|offset| offset.checked_add(first)) else { break };
            if lexer.at > first || offset >= data.len() || !(0.0..=f64::from(u32::MAX)).contains(&number) {
                break;
            }
            found.push((number as u32, offset));
        }
        self.unpacked.push(data);
        for (number, at) in found {
            // An object that stands later in the file was written later.
            let newer = self.objects.get(&number).is_some_and(|known| known.source == 0 && known.at > container);
            if !newer {
                self.insert(number, ObjectPlace { source, at }, limits)?;
            }
        }
        Ok(())
    }

    fn source(&self, place: ObjectPlace) -> &[u8] {
        match place.source.checked_sub(1) {
            None => self.bytes,
            Some(unpacked) => self.unpacked.get(unpacked).map_or(&[], Vec::as_slice),
        }
    }

    pub(super) fn trailer(&self) -> &Dictionary<'static> {
        &self.trailer
    }

    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.objects.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    /// An object, and what it refers to where it is a reference.
    pub(super) fn resolve<'file>(&'file self, object: Object<'file>) -> Object<'file> {
        let mut object = object;
        for _ in 0..MOST_STEPS {
            let Object::Reference(number) = object else { return object };
            let Some(place) = self.objects.get(&number) else { return Object::Null };
            object = self.read(*place).0;
        }
        Object::Null
    }

    /// The object at a place, and where it ends. Nothing is read any more once
    /// too much was: see [`File::exhausted`].
    fn read(&self, place: ObjectPlace) -> (Object<'_>, usize) {
        let mut lexer = Lexer::new(self.source(place), place.at);
        if self.readable.get() == 0 {
            return (Object::Null, place.at);
        }
        let object = lexer.next(true).unwrap_or(Object::Null);
        let cost = lexer.at.saturating_sub(place.at) + LEAST_COST;
        self.readable.set(self.readable.get().saturating_sub(cost));
        (object, lexer.at)
    }

    /// Whether objects were left out because there was too much to read.
    pub(super) fn exhausted(&self) -> bool {
        self.readable.get() == 0
    }

    /// An entry of a dictionary, resolved.
    pub(super) fn entry<'file>(&'file self, dictionary: &Dictionary<'file>, key: &str) -> Object<'file> {
        dictionary.get(key).map_or(Object::Null, |entry| self.resolve(entry.clone()))
    }

    pub(super) fn dictionary<'file>(
        &'file self,
        dictionary: &Dictionary<'file>,
        key: &str,
    ) -> Option<Dictionary<'file>> {
        match self.entry(dictionary, key) {
            Object::Dictionary(found) => Some(found),
            _ => None,
        }
    }

    /// The stream that a reference leads to.
    pub(super) fn stream(&self, reference: &Object<'_>) -> Option<Stream<'_>> {
        let Object::Reference(number) = reference else { return None };
        let place = *self.objects.get(number)?;
        self.stream_at(place)
    }

    fn stream_at(&self, place: ObjectPlace) -> Option<Stream<'_>> {
        if place.source != 0 {
            return None;
        }
        let (Object::Dictionary(dictionary), end) = self.read(place) else { return None };
        let mut lexer = Lexer::new(self.bytes, end);
        lexer.skip_blanks();
        let data = data_start(self.bytes, lexer.at)?;
        let known = self.entry(&dictionary, "Length").size();
        let end = known.and_then(|length| data.checked_add(length)).filter(|end| ends_stream(self.bytes, *end));
        let end = end.unwrap_or_else(|| search_end(self.bytes, data));
        Some(Stream { dictionary, raw: &self.bytes[data..end] })
    }

    fn spend(&self, bytes: usize) -> Result<(), ParseError> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => self.left.set(left),
            None => return Err(ParseError::Limit { what: "unpacked bytes", limit: self.limit }),
        }
        Ok(())
    }

    /// What a stream unpacks to; nothing where its filters are not for text.
    pub(super) fn data(&self, stream: &Stream<'_>) -> Result<Option<Vec<u8>>, ParseError> {
        let list = |key: &str, short: &str| {
            let entry = stream.dictionary.get(key).or_else(|| stream.dictionary.get(short));
            match entry.map(|entry| self.resolve(entry.clone())) {
                Some(Object::Array(array)) => array.into_iter().map(|object| self.resolve(object)).collect(),
                Some(Object::Null) | None => Vec::new(),
                Some(object) => vec![object],
            }
        };
        let parameters = list("DecodeParms", "DP");
        self.spend(stream.raw.len() + LEAST_COST)?;
        let mut data = stream.raw.to_vec();
        for (index, name) in list("Filter", "F").iter().take(MOST_STEPS).enumerate() {
            let number = |key: &str| match parameters.get(index) {
                Some(Object::Dictionary(parameters)) => self.entry(parameters, key).size(),
                _ => None,
            };
            let left = self.left.get();
            let Some(unpacked) = filter::apply(name.name().unwrap_or_default(), &data, &number, left) else {
                return Ok(None);
            };
            self.spend(unpacked.len())?;
            data = unpacked;
        }
        Ok(Some(data))
    }
}

/// The number in `12 0 obj`, from what stands before the word.
fn object_number(before: &[u8]) -> Option<u32> {
    let before = &before[before.len().saturating_sub(32)..];
    let before = before.trim_ascii_end();
    let generation = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &before[..before.len() - generation];
    let number = rest.trim_ascii_end();
    let digits = number.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if generation == 0 || digits == 0 || rest.len() == number.len() {
        return None;
    }
    std::str::from_utf8(&number[number.len() - digits..]).ok()?.parse().ok()
}

/// Where the data of a stream begins, from the word `stream`.
fn data_start(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(b"stream")?;
    let line = match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\n' | b'\r', ..] => 1,
        _ => 0,
    };
    Some(at + 6 + line)
}

fn stream_end(bytes: &[u8], at: usize, dictionary: &Dictionary<'_>) -> usize {
    let Some(data) = data_start(bytes, at) else { return at };
    let known = dictionary.get("Length").and_then(Object::size);
    let end = known.and_then(|length| data.checked_add(length)).filter(|end| ends_stream(bytes, *end));
    end.unwrap_or_else(|| search_end(bytes, data))
}

/// Whether a stream may end here.
fn ends_stream(bytes: &[u8], end: usize) -> bool {
    let Some(rest) = bytes.get(end..) else { return false };
    let blanks = rest.iter().take(4).take_while(|byte| is_blank(**byte)).count();
    rest[blanks..].starts_with(b"endstream")
}

fn search_end(bytes: &[u8], data: usize) -> usize {
    memchr::memmem::find(&bytes[data..], b"endstream").map_or(bytes.len(), |length| data + length)
}
