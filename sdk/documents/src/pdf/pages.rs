//! The pages of a PDF in their order. A page tree that loops ends where it
//! meets itself, and where there is none, pages come as they are numbered.

use std::collections::HashSet;
use std::rc::Rc;

use super::file::File;
use super::lexer::{Dictionary, Object};
use crate::{Limits, ParseError};

pub(super) struct PdfPage<'file> {
    /// What it draws: streams, one after the other.
    pub(super) contents: Vec<Object<'file>>,
    pub(super) resources: Rc<Dictionary<'file>>,
}

pub(super) fn all<'file>(file: &'file File<'_>, limits: &Limits) -> Result<Vec<PdfPage<'file>>, ParseError> {
    let mut pages = Vec::new();
    let mut known = HashSet::new();
    let root = file.dictionary(file.trailer(), "Root").and_then(|root| root.get("Pages").cloned());
    if let Some(root) = root {
        let mut open = vec![(root, Rc::new(Dictionary::default()))];
        while let Some((node, resources)) = open.pop() {
            let Object::Reference(number) = node else { continue };
            if !known.insert(number) {
                continue;
            }
            let Object::Dictionary(node) = file.resolve(Object::Reference(number)) else { continue };
            let resources = file.dictionary(&node, "Resources").map_or(resources, Rc::new);
            match file.entry(&node, "Kids") {
                Object::Array(kids) => open.extend(kids.into_iter().rev().map(|kid| (kid, Rc::clone(&resources)))),
                _ => add(file, &node, resources, &mut pages, limits)?,
            }
        }
    }
    if pages.is_empty() {
        for number in file.numbers() {
            if let Object::Dictionary(node) = file.resolve(Object::Reference(number))
                && node.get("Type").and_then(Object::name) == Some(b"Page")
            {
                let resources = Rc::new(file.dictionary(&node, "Resources").unwrap_or_default());
                add(file, &node, resources, &mut pages, limits)?;
            }
        }
    }
    Ok(pages)
}

fn add<'file>(
    file: &'file File<'_>,
    page: &Dictionary<'file>,
    resources: Rc<Dictionary<'file>>,
    pages: &mut Vec<PdfPage<'file>>,
    limits: &Limits,
) -> Result<(), ParseError> {
    if pages.len() >= limits.parts {
        return Err(ParseError::Limit { what: "pages", limit: limits.parts });
    }
    let contents = match (page.get("Contents"), file.entry(page, "Contents")) {
        (_, Object::Array(streams)) => streams,
        (Some(stream), _) => vec![stream.clone()],
        (None, _) => Vec::new(),
    };
    pages.push(PdfPage { contents, resources });
    Ok(())
}
