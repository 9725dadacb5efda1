//! What a page draws, as far as it is text. Where a piece of text stands says
//! whether it continues the line, begins one, or begins a paragraph.

use std::collections::HashMap;
use std::rc::Rc;

use super::file::File;
use super::font::Font;
use super::lexer::{Dictionary, Lexer, Object};
use super::pages::PdfPage;
use crate::{Limits, ParseError};

/// Forms that a form may draw, one in the other.
const DEPTH: usize = 8;
/// Operands of an operator, and states that may be set aside.
const MOST_OPERANDS: usize = 64;
const MOST_STATES: usize = 64;
/// Of the height of the text: a gap that is a blank, a step down that is a new
/// line, one that is a new paragraph, and one back that cannot be the same line.
const BLANK: f64 = 0.2;
const LINE: f64 = 0.5;
const PARAGRAPH: f64 = 1.8;
const BACK: f64 = -2.0;

pub(super) struct ContentReader<'file, 'bytes> {
    file: &'file File<'bytes>,
    most_text: usize,
    fonts: HashMap<u32, Rc<Font>>,
    text: String,
    /// Where the last piece of text ended, and its height.
    last: Option<(f64, f64, f64)>,
    /// Codes whose meaning is not known.
    pub(super) unknown: usize,
}

type Matrix = [f64; 6];
const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// First `a`, then `b`.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    ]
}

#[derive(Clone)]
struct TextState {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    between: f64,
    between_words: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

impl<'file, 'bytes> ContentReader<'file, 'bytes> {
    pub(super) fn new(file: &'file File<'bytes>, limits: &Limits) -> Self {
        Self { file, most_text: limits.text_bytes, fonts: HashMap::new(), text: String::new(), last: None, unknown: 0 }
    }

    /// The text of a page: lines, and blank lines between paragraphs.
    pub(super) fn page(&mut self, page: &PdfPage<'file>) -> Result<String, ParseError> {
        let mut content = Vec::new();
        for reference in &page.contents {
            if let Some(stream) = self.file.stream(reference) {
                content.extend(self.file.data(&stream)?.unwrap_or_default());
                content.push(b'\n');
            }
        }
        self.last = None;
        self.run(&content, &page.resources, IDENTITY, DEPTH)?;
        Ok(std::mem::take(&mut self.text))
    }

    fn run(
        &mut self,
        content: &[u8],
        resources: &Dictionary<'file>,
        page: Matrix,
        depth: usize,
    ) -> Result<(), ParseError> {
        let mut lexer = Lexer::new(content, 0);
        let mut operands: Vec<Object<'_>> = Vec::new();
        let mut states: Vec<TextState> = Vec::new();
        let mut state = TextState {
            page,
            font: None,
            size: 0.0,
            between: 0.0,
            between_words: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        let (mut line, mut at) = (IDENTITY, IDENTITY);
        while let Some(object) = lexer.next(false) {
            let Object::Word(word) = object else {
                if operands.len() < MOST_OPERANDS {
                    operands.push(object);
                }
                continue;
            };
            let number = |index: usize| match operands.get(index) {
                Some(Object::Number(number)) => *number,
                _ => 0.0,
            };
            match word {
                b"q" if states.len() < MOST_STATES => states.push(state.clone()),
                b"Q" => state = states.pop().unwrap_or(state),
                b"cm" => state.page = product(&std::array::from_fn(number), &state.page),
                b"BT" => (line, at) = (IDENTITY, IDENTITY),
                b"Tc" => state.between = number(0),
                b"Tw" => state.between_words = number(0),
                b"Tz" => state.stretch = number(0) / 100.0,
                b"TL" => state.leading = number(0),
                b"Ts" => state.rise = number(0),
                b"Tf" => {
                    state.font = match operands.first() {
                        Some(Object::Name(name)) => self.font(resources, name)?,
                        _ => None,
                    };
                    state.size = number(1);
                }
                b"Td" | b"TD" => {
                    if word == b"TD" {
                        state.leading = -number(1);
                    }
                    line = product(&[1.0, 0.0, 0.0, 1.0, number(0), number(1)], &line);
                    at = line;
                }
                b"Tm" => {
                    line = std::array::from_fn(number);
                    at = line;
                }
                b"T*" | b"'" | b"\"" => {
                    line = product(&[1.0, 0.0, 0.0, 1.0, 0.0, -state.leading], &line);
                    at = line;
                    if word == b"\"" {
                        (state.between_words, state.between) = (number(0), number(1));
                    }
                    if let Some(Object::String(text)) = operands.last() {
                        self.show(text, &state, &mut at)?;
                    }
                }
                b"Tj" => {
                    if let Some(Object::String(text)) = operands.last() {
                        self.show(text, &state, &mut at)?;
                    }
                }
                b"TJ" => {
                    if let Some(Object::Array(pieces)) = operands.last() {
                        for piece in pieces {
                            match piece {
                                Object::String(text) => self.show(text, &state, &mut at)?,
                                Object::Number(back) => {
                                    let step = -back / 1_000.0 * state.size * state.stretch;
                                    at = product(&[1.0, 0.0, 0.0, 1.0, step, 0.0], &at);
                                }
                                _ => {}
                            }
                        }
                    }
                }
                b"Do" if depth > 0 => {
                    if let Some(Object::Name(name)) = operands.first() {
                        self.form(resources, name, &state.page, depth)?;
                    }
                }
                b"BI" => skip_picture(&mut lexer),
                _ => {}
            }
            operands.clear();
        }
        Ok(())
    }

    /// A resource by its kind and name.
    fn resource(&self, resources: &Dictionary<'file>, kind: &str, name: &[u8]) -> Option<Object<'file>> {
        let kind = self.file.dictionary(resources, kind)?;
        kind.values().find(|(known, _)| *known == name).map(|(_, object)| object.clone())
    }

    fn font(&mut self, resources: &Dictionary<'file>, name: &[u8]) -> Result<Option<Rc<Font>>, ParseError> {
        let Some(object) = self.resource(resources, "Font", name) else { return Ok(None) };
        let number = match object {
            Object::Reference(number) => Some(number),
            _ => None,
        };
        if let Some(known) = number.and_then(|number| self.fonts.get(&number)) {
            return Ok(Some(Rc::clone(known)));
        }
        let Object::Dictionary(font) = self.file.resolve(object) else { return Ok(None) };
        let font = Rc::new(Font::read(self.file, &font)?);
        if let Some(number) = number {
            self.fonts.insert(number, Rc::clone(&font));
        }
        Ok(Some(font))
    }

    fn form(
        &mut self,
        resources: &Dictionary<'file>,
        name: &[u8],
        page: &Matrix,
        depth: usize,
    ) -> Result<(), ParseError> {
        let Some(object) = self.resource(resources, "XObject", name) else { return Ok(()) };
        let Some(stream) = self.file.stream(&object) else { return Ok(()) };
        if stream.dictionary.get("Subtype").and_then(Object::name) != Some(b"Form") {
            return Ok(());
        }
        let matrix = match self.file.entry(&stream.dictionary, "Matrix") {
            Object::Array(numbers) if numbers.len() == 6 => std::array::from_fn(|index| match numbers[index] {
                Object::Number(number) => number,
                _ => 0.0,
            }),
            _ => IDENTITY,
        };
        let own = self.file.dictionary(&stream.dictionary, "Resources");
        let Some(content) = self.file.data(&stream)? else { return Ok(()) };
        self.run(&content, own.as_ref().unwrap_or(resources), product(&matrix, page), depth - 1)
    }

    /// Shows a string and moves on by its width.
    fn show(&mut self, bytes: &[u8], state: &TextState, at: &mut Matrix) -> Result<(), ParseError> {
        let Some(font) = &state.font else { return Ok(()) };
        let shown = font.show(bytes);
        self.unknown += shown.unknown;
        let size = [state.size * state.stretch, 0.0, 0.0, state.size, 0.0, state.rise];
        let placed = product(&product(&size, at), &state.page);
        let spacing = shown.codes as f64 * state.between + shown.blanks as f64 * state.between_words;
        let width = (shown.width / 1_000.0 * state.size + spacing) * state.stretch;
        *at = product(&[1.0, 0.0, 0.0, 1.0, width, 0.0], at);
        if shown.text.is_empty() {
            return Ok(());
        }
        if self.text.len() + shown.text.len() > self.most_text {
            return Err(ParseError::Limit { what: "bytes of text", limit: self.most_text });
        }
        let height = placed[2].hypot(placed[3]).max(1e-6);
        // Along the direction of the text and across it, whichever way it runs.
        let (along_x, along_y) = (placed[0], placed[1]);
        let length = along_x.hypot(along_y).max(1e-6);
        let (x, y) = (placed[4], placed[5]);
        if let Some((last_x, last_y, last_height)) = self.last {
            let (dx, dy) = (x - last_x, y - last_y);
            let gap = (dx * along_x + dy * along_y) / length;
            let step = ((dy * along_x - dx * along_y) / length).abs();
            // A mark above the line is smaller than it, and part of it.
            let tall = height.max(last_height);
            if step > LINE * tall || gap < BACK * tall {
                let paragraph = step > PARAGRAPH * tall;
                self.text.truncate(self.text.trim_end_matches(' ').len());
                self.text.push_str(if paragraph { "\n\n" } else { "\n" });
            } else if (gap > BLANK * tall || (!font.exact && gap.abs() > 1e-3))
                && !self.text.ends_with([' ', '\n'])
                && !shown.text.starts_with(' ')
            {
                self.text.push(' ');
            }
        }
        self.text.push_str(&shown.text);
        let end = product(&product(&size, at), &state.page);
        self.last = Some((end[4], end[5], height));
        Ok(())
    }
}

/// Passes over a picture that stands in the content itself.
fn skip_picture(lexer: &mut Lexer<'_>) {
    let rest = &lexer.bytes[lexer.at..];
    let data = memchr::memmem::find(rest, b"ID").map_or(rest.len(), |at| at + 2);
    let mut end = rest.len();
    for at in memchr::memmem::find_iter(&rest[data..], b"EI") {
        let (before, after) = (data + at, data + at + 2);
        let blank = |byte: Option<&u8>| byte.is_none_or(|byte| super::lexer::is_blank(*byte));
        if before > 0 && blank(rest.get(before - 1)) && blank(rest.get(after)) {
            end = after;
            break;
        }
    }
    lexer.at += end;
}
