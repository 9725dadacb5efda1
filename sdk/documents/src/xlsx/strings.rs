//! The texts that the cells of a workbook share. They stand one after the other
//! in one string, so that a million of them cost a million small numbers.

use crate::package::Package;
use crate::xml::{Node, Nodes};
use crate::{Format, Limits, ParseError};

#[derive(Default)]
pub(super) struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.text.get(start..end)
    }

    pub(super) fn read(package: &mut Package<'_>, part: &str, limits: &Limits) -> Result<Self, ParseError> {
        let mut strings = Self::default();
        let Some(text) = package.part(part)? else { return Ok(strings) };
        let mut nodes = Nodes::new(Format::Xlsx, part, &text, limits);
        // Readings of Japanese words stand beside the words themselves.
        let (mut reads, mut phonetic) = (false, 0_usize);
        while let Some(node) = nodes.next()? {
            match node {
                Node::Start(element) => match element.name() {
                    "t" => reads = phonetic == 0,
                    "rPh" => phonetic += 1,
                    _ => {}
                },
                Node::Text(text) if reads => strings.text.push_str(&text),
                Node::Text(_) => {}
                Node::End(name) => match name.as_str() {
                    "t" => reads = false,
                    "rPh" => phonetic = phonetic.saturating_sub(1),
                    "si" => {
                        let end = u32::try_from(strings.text.len());
                        let too_much = ParseError::Limit { what: "bytes of shared text", limit: u32::MAX as usize };
                        strings.ends.push(end.map_err(|_| too_much)?);
                    }
                    _ => {}
                },
            }
        }
        Ok(strings)
    }
}
