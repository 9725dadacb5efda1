//! Relationships: which part of an Office document a short id in another part
//! stands for. It knows no kind of document.

use std::collections::HashMap;

use crate::package::{Package, resolve};
use crate::xml::{Node, Nodes};
use crate::{Format, Limits, ParseError};

/// A relationship to another part of the same document.
pub(crate) struct Relation {
    /// Last word of its type, such as `slide`.
    pub(crate) kind: String,
    /// The part that it leads to.
    pub(crate) part: String,
}

/// The relationships of a part, by their ids. What leads out of the document is
/// left out.
pub(crate) fn relations(
    package: &mut Package<'_>,
    format: Format,
    part: &str,
    limits: &Limits,
) -> Result<HashMap<String, Relation>, ParseError> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let path = format!("{folder}/_rels/{name}.rels");
    let mut found = HashMap::new();
    let Some(text) = package.part(path.trim_start_matches('/'))? else { return Ok(found) };
    let mut nodes = Nodes::new(format, &path, &text, limits);
    while let Some(node) = nodes.next()? {
        let Node::Start(element) = node else { continue };
        if element.name() != "Relationship" || element.attribute("TargetMode").as_deref() == Some("External") {
            continue;
        }
        let (Some(id), Some(kind), Some(target)) =
            (element.attribute("Id"), element.attribute("Type"), element.attribute("Target"))
        else {
            continue;
        };
        if found.len() >= limits.parts {
            return Err(ParseError::Limit { what: "relationships of a part", limit: limits.parts });
        }
        let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
        found.insert(id, Relation { kind, part: resolve(part, &target) });
    }
    Ok(found)
}

/// The title in the properties of a document, where it has any.
pub(crate) fn title(package: &mut Package<'_>, format: Format, limits: &Limits) -> Result<Option<String>, ParseError> {
    const PROPERTIES: &str = "docProps/core.xml";
    let Some(text) = package.part(PROPERTIES)? else { return Ok(None) };
    let mut nodes = Nodes::new(format, PROPERTIES, &text, limits);
    let (mut within, mut title) = (false, String::new());
    while let Some(node) = nodes.next()? {
        match node {
            Node::Start(element) => within = element.name() == "title",
            Node::Text(text) if within => title.push_str(&text),
            Node::Text(_) => {}
            Node::End(_) => within = false,
        }
    }
    Ok(Some(title))
}
