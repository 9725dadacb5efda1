//! Relationships: which part of an Office document a short id in another part
//! stands for. It knows no kind of document.

use std::collections::HashMap;

use crate::package::Package;
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

/// The part where the document itself is, usually `usual`.
pub(crate) fn main_part(
    package: &mut Package<'_>,
    format: Format,
    usual: &str,
    limits: &Limits,
) -> Result<String, ParseError> {
    let relations = relations(package, format, "", limits)?;
    let folder = usual.split('/').next().unwrap_or_default();
    let named = relations.into_values().find(|relation| relation.kind == "officeDocument").map(|it| it.part);
    let part = named.unwrap_or_else(|| usual.to_owned());
    if !package.has(&part) || part.split('/').next() != Some(folder) {
        let problem = format!("the archive has no `{usual}`");
        return Err(ParseError::OtherFormat { format, problem });
    }
    Ok(part)
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

/// Where a target of a relationship is, seen from the part that names it; a
/// path that leads out of the archive leads nowhere.
fn resolve(base: &str, target: &str) -> String {
    let mut path: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => base.split('/').collect(),
    };
    if !target.starts_with('/') {
        path.pop();
    }
    for step in target.trim_start_matches('/').split('/') {
        match step {
            ".." => drop(path.pop()),
            "." | "" => {}
            name => path.push(name),
        }
    }
    path.join("/")
}
