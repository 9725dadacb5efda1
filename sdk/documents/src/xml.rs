//! Reading XML of a stranger: events without entities of its own, to a bounded
//! depth. It owns what is refused; it knows no document format.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::text::{cut, short};
use crate::{Format, Limits, ParseError};

/// What comes next in an XML text. Names come without their prefix.
pub(crate) enum Node<'xml> {
    /// `<name …>`; an empty element is a start and an end.
    Start(Element<'xml>),
    End(String),
    Text(String),
}

pub(crate) struct Element<'xml>(BytesStart<'xml>);

impl Element<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// An attribute by its name without prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.find(|key| key.rsplit(':').next() == Some(name))
    }

    /// An attribute by its name as it is written.
    pub(crate) fn exact_attribute(&self, name: &str) -> Option<String> {
        self.find(|key| key == name)
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        // Checks for duplicates would be quadratic, and the first one wins.
        self.0.attributes().with_checks(false).flatten().find(|attribute| wanted(attribute.key.into_inner())).and_then(
            |attribute| {
                attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
            },
        )
    }
}

pub(crate) struct Nodes<'xml> {
    format: Format,
    part: &'xml str,
    reader: Reader<&'xml [u8]>,
    depth: usize,
    limit: usize,
    /// The end of an empty element.
    pending: Option<String>,
}

impl<'xml> Nodes<'xml> {
    pub(crate) fn new(format: Format, part: &'xml str, text: &'xml str, limits: &Limits) -> Self {
        Self { format, part, reader: Reader::from_str(text), depth: 0, limit: limits.depth, pending: None }
    }

    /// The next node, or nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Node<'xml>>, ParseError> {
        if let Some(name) = self.pending.take() {
            return Ok(Some(Node::End(name)));
        }
        loop {
            let event = self.reader.read_event().map_err(|error| self.damaged(&error.to_string()))?;
            return Ok(Some(match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > self.limit {
                        return Err(ParseError::Limit { what: "levels of nested elements", limit: self.limit });
                    }
                    Node::Start(Element(start))
                }
                Event::Empty(start) => {
                    self.pending = Some(start.local_name().into_inner().to_owned());
                    Node::Start(Element(start))
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    Node::End(end.local_name().into_inner().to_owned())
                }
                Event::Text(text) => Node::Text(text.xml10_content().into_owned()),
                Event::CData(text) => Node::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(reference) => {
                    let character = match &*reference {
                        "lt" => Some('<'),
                        "gt" => Some('>'),
                        "amp" => Some('&'),
                        "quot" => Some('"'),
                        "apos" => Some('\''),
                        _ => reference.resolve_char_ref().map_err(|error| self.damaged(&error.to_string()))?,
                    };
                    Node::Text(character.map(String::from).unwrap_or_default())
                }
                Event::DocType(_) => {
                    let problem = format!(
                        "the part `{}` has a document type of its own, which could hold entities without end",
                        short(self.part)
                    );
                    return Err(ParseError::Refused { format: self.format, problem });
                }
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => continue,
                Event::Eof if self.depth > 0 => return Err(self.damaged("it ends within an element")),
                Event::Eof => return Ok(None),
            }));
        }
    }

    fn damaged(&self, problem: &str) -> ParseError {
        let problem = cut(problem, 200);
        ParseError::Damaged { format: self.format, problem: format!("the part `{}`: {problem}", short(self.part)) }
    }
}
