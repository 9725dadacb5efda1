//! Which styles of a document are headings and lists, whatever its language
//! calls them: by outline level, else by the name that Word keeps in English.

use std::collections::HashMap;

use crate::package::Package;
use crate::xml::{Node, Nodes};
use crate::{Format, Limits, ParseError};

/// Styles that a style may be based on, one on the other.
const MOST_BASES: usize = 16;

#[derive(Debug, Default)]
struct Style {
    name: String,
    based_on: Option<String>,
    level: Option<u8>,
    is_list: bool,
}

#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

impl Styles {
    /// Level of the heading that a style makes, from 1.
    pub(super) fn heading(&self, id: &str) -> Option<u8> {
        let own = self.find(id, |style| {
            let name = style.name.to_lowercase();
            style.level.or_else(|| name.strip_prefix("heading ")?.trim().parse().ok().filter(|level| *level <= 9))
        });
        // A document may use the styles of Word without listing them.
        own.or_else(|| match self.0.contains_key(id) {
            true => self.is_title(id).then_some(1),
            false => id.strip_prefix("Heading")?.parse().ok().filter(|level| (1..=9).contains(level)),
        })
    }

    /// Whether it is the style of the document's own title.
    pub(super) fn is_title(&self, id: &str) -> bool {
        self.find(id, |style| style.name.eq_ignore_ascii_case("title").then_some(())).is_some()
    }

    pub(super) fn is_list(&self, id: &str) -> bool {
        self.find(id, |style| style.is_list.then_some(())).is_some()
    }

    /// Asks a style, and then those that it is based on.
    fn find<Found>(&self, id: &str, ask: impl Fn(&Style) -> Option<Found>) -> Option<Found> {
        let mut next = self.0.get(id);
        for _ in 0..MOST_BASES {
            let style = next?;
            if let Some(found) = ask(style) {
                return Some(found);
            }
            next = style.based_on.as_deref().and_then(|base| self.0.get(base));
        }
        None
    }
}

pub(super) fn read(package: &mut Package<'_>, part: &str, limits: &Limits) -> Result<Styles, ParseError> {
    let mut styles = Styles::default();
    let Some(text) = package.part(part)? else { return Ok(styles) };
    let mut nodes = Nodes::new(Format::Docx, part, &text, limits);
    let mut current: Option<(String, Style)> = None;
    while let Some(node) = nodes.next()? {
        match node {
            Node::Start(element) if element.name() == "style" => {
                current = element.attribute("styleId").map(|id| (id, Style::default()));
            }
            Node::Start(element) => {
                let Some((_, style)) = &mut current else { continue };
                let value = element.attribute("val");
                match element.name() {
                    "name" => style.name = value.unwrap_or_default(),
                    "basedOn" => style.based_on = value,
                    "outlineLvl" => style.level = value.as_deref().and_then(level),
                    "numPr" => style.is_list = true,
                    _ => {}
                }
            }
            Node::End(name) if name == "style" => {
                if styles.0.len() >= limits.parts {
                    return Err(ParseError::Limit { what: "styles", limit: limits.parts });
                }
                styles.0.extend(current.take());
            }
            _ => {}
        }
    }
    Ok(styles)
}

/// An outline level as it is written; 9 means text.
pub(super) fn level(written: &str) -> Option<u8> {
    written.parse().ok().filter(|level| *level < 9).map(|level: u8| level + 1)
}
