//! Spreadsheets: each sheet a heading, each row a line, cells joined by ` | `.
//! Sheets are read as a stream, so a sheet costs what it holds and not what it
//! claims to span.
//!
//! calamine is not used: it reserves memory for as many strings as a workbook
//! claims to have, which ends the program where the claim is absurd. The book's
//! chapter on decisions has the figures.

mod numbers;
mod strings;

use crate::package::Package;
use crate::relations::{main_part, relations, title};
use crate::text::short;
use crate::writer::{TextWriter, row, warn_pictures};
use crate::xml::{Element, Node, Nodes};
use crate::{BlockKind, Format, Limits, ParseError, Parsed};

use numbers::Numbers;
use strings::Strings;

const FORMAT: Format = Format::Xlsx;
/// Empty cells in a row that are shown; more of them are shown as so many.
const MOST_GAP: usize = 16;

pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Parsed, ParseError> {
    let mut package = Package::open(FORMAT, bytes, limits)?;
    let main = main_part(&mut package, FORMAT, "xl/workbook.xml", limits)?;
    if main.ends_with(".bin") {
        return Err(ParseError::OtherFormat { format: FORMAT, problem: "it is a binary workbook (xlsb)".into() });
    }
    let mut writer = TextWriter::new(limits);
    if let Some(title) = title(&mut package, FORMAT, limits)? {
        writer.title(&title);
    }
    let parts = relations(&mut package, FORMAT, &main, limits)?;
    let part_of = |kind: &str| parts.values().find(|relation| relation.kind == kind).map(|it| it.part.clone());
    let workbook = workbook(&mut package, &main, limits)?;
    let strings = match part_of("sharedStrings") {
        Some(part) => Strings::read(&mut package, &part, limits)?,
        None => Strings::default(),
    };
    let numbers = match part_of("styles") {
        Some(part) => Numbers::read(&mut package, &part, workbook.since_1904, limits)?,
        None => Numbers::default(),
    };
    let mut lost = 0;
    for (name, id) in workbook.sheets {
        let Some(sheet) = parts.get(&id).filter(|relation| relation.kind == "worksheet") else {
            writer.warn(format!("the sheet `{}` has no cells to read", short(&name)));
            continue;
        };
        let Some(text) = package.part(&sheet.part)? else {
            writer.warn(format!("the sheet `{}` is missing", short(&name)));
            continue;
        };
        writer.block(BlockKind::Heading(1), &name)?;
        lost += rows(&sheet.part, &text, &strings, &numbers, limits, &mut writer)?;
    }
    if lost > 0 {
        writer.warn(format!("{lost} cells name a text that is not in the document"));
    }
    warn_pictures(&mut writer, package.count("xl/media/", &[".png", ".jpeg", ".jpg", ".gif", ".emf", ".svg"]));
    Ok(writer.finish(FORMAT))
}

struct Workbook {
    /// Names and ids, in order.
    sheets: Vec<(String, String)>,
    /// Whether dates count from 1904.
    since_1904: bool,
}

fn workbook(package: &mut Package<'_>, main: &str, limits: &Limits) -> Result<Workbook, ParseError> {
    let text = package.needed(main)?;
    let mut nodes = Nodes::new(FORMAT, main, &text, limits);
    let mut workbook = Workbook { sheets: Vec::new(), since_1904: false };
    while let Some(node) = nodes.next()? {
        let Node::Start(element) = node else { continue };
        match element.name() {
            "workbookPr" => {
                workbook.since_1904 = matches!(element.attribute("date1904").as_deref(), Some("1" | "true" | "on"));
            }
            "sheet" => {
                // A sheet that is named twice would be unpacked and read again.
                let (name, id) = (element.attribute("name"), element.exact_attribute("r:id"));
                if let (Some(name), Some(id)) = (name, id)
                    && !workbook.sheets.iter().any(|(_, known)| *known == id)
                {
                    workbook.sheets.push((name, id));
                }
                if workbook.sheets.len() > limits.parts.min(10_000) {
                    return Err(ParseError::Limit { what: "sheets", limit: limits.parts.min(10_000) });
                }
            }
            _ => {}
        }
    }
    Ok(workbook)
}

/// A cell that is being read.
#[derive(Default)]
struct Cell {
    column: usize,
    kind: Option<String>,
    style: Option<usize>,
    value: String,
}

/// Writes the rows of a sheet and says how many cells name no text.
fn rows(
    part: &str,
    text: &str,
    strings: &Strings,
    numbers: &Numbers,
    limits: &Limits,
    writer: &mut TextWriter<'_>,
) -> Result<usize, ParseError> {
    let mut nodes = Nodes::new(FORMAT, part, text, limits);
    let (mut cells, mut next_column): (Vec<String>, usize) = (Vec::new(), 0);
    // Column after the last cell of the row that has anything.
    let mut filled = 0;
    let mut cell: Option<Cell> = None;
    let (mut reads, mut phonetic, mut lost) = (false, 0_usize, 0);
    while let Some(node) = nodes.next()? {
        match node {
            Node::Start(element) => match element.name() {
                "row" => (cells, next_column, filled) = (Vec::new(), 0, 0),
                "c" => {
                    let column = column(&element).unwrap_or(next_column);
                    next_column = column + 1;
                    let style = element.attribute("s").and_then(|style| style.parse().ok());
                    cell = Some(Cell { column, kind: element.attribute("t"), style, value: String::new() });
                }
                "v" | "t" => reads = phonetic == 0,
                "rPh" => phonetic += 1,
                _ => {}
            },
            Node::Text(text) => {
                if let (true, Some(cell)) = (reads, &mut cell) {
                    cell.value.push_str(&text);
                }
            }
            Node::End(name) => match name.as_str() {
                "v" | "t" => reads = false,
                "rPh" => phonetic = phonetic.saturating_sub(1),
                "c" => {
                    let Some(cell) = cell.take() else { continue };
                    let (shown, missing) = shown(&cell, strings, numbers);
                    lost += usize::from(missing);
                    if !shown.trim().is_empty() {
                        let gap = cell.column.saturating_sub(filled).min(MOST_GAP);
                        cells.extend(std::iter::repeat_n(String::new(), gap));
                        cells.push(shown.trim().replace(['\n', '\r', '\t'], " "));
                        filled = cell.column + 1;
                    }
                }
                "row" => drop(writer.block(BlockKind::TableRow, &row(&cells))?),
                _ => {}
            },
        }
    }
    Ok(lost)
}

/// The column in the reference of a cell, such as 27 for `AB12`.
fn column(element: &Element<'_>) -> Option<usize> {
    let reference = element.attribute("r")?;
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic).take(3);
    letters.fold(0, |column, letter| column * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1).checked_sub(1)
}

/// What a cell shows, and whether it names a text that is not there.
fn shown(cell: &Cell, strings: &Strings, numbers: &Numbers) -> (String, bool) {
    let value = cell.value.trim();
    match cell.kind.as_deref() {
        Some("s") if value.is_empty() => (String::new(), false),
        Some("s") => match value.parse().ok().and_then(|index| strings.get(index)) {
            Some(text) => (text.to_owned(), false),
            None => (String::new(), true),
        },
        Some("b") => (if value == "1" || value == "true" { "TRUE" } else { "FALSE" }.to_owned(), false),
        None | Some("n") => match value.parse() {
            Ok(number) => (numbers.show(number, cell.style), false),
            Err(_) => (value.to_owned(), false),
        },
        Some(_) => (cell.value.clone(), false),
    }
}
