//! How numbers are shown: dates, times, percentages and decimals, as the formats
//! of a workbook ask. Dates are written year first, whatever the format's order,
//! and thousands are not set apart: both make searches simpler.

use std::collections::HashMap;

use crate::package::Package;
use crate::xml::{Node, Nodes};
use crate::{Format, Limits, ParseError};

/// The last day that a spreadsheet knows, 31 December 9999, and a day.
const DAYS: f64 = 2_958_466.0;
const MOST_DECIMALS: usize = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberFormat {
    General,
    Date,
    /// Hours that may be more than a day.
    Duration,
    Fixed {
        decimals: usize,
        percent: bool,
    },
}

#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// By the style of a cell.
    shapes: Vec<NumberFormat>,
    since_1904: bool,
}

impl Numbers {
    pub(super) fn read(
        package: &mut Package<'_>,
        part: &str,
        since_1904: bool,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut numbers = Self { shapes: Vec::new(), since_1904 };
        let Some(text) = package.part(part)? else { return Ok(numbers) };
        let mut nodes = Nodes::new(Format::Xlsx, part, &text, limits);
        let mut custom: HashMap<u32, NumberFormat> = HashMap::new();
        let mut in_cells = false;
        while let Some(node) = nodes.next()? {
            match node {
                Node::Start(element) => match element.name() {
                    "numFmt" => {
                        let id = element.attribute("numFmtId").and_then(|id| id.parse().ok());
                        if let (Some(id), Some(code)) = (id, element.attribute("formatCode")) {
                            custom.insert(id, shape(&code));
                        }
                    }
                    "cellXfs" => in_cells = true,
                    "xf" if in_cells => {
                        let id = element.attribute("numFmtId").and_then(|id| id.parse().ok()).unwrap_or(0);
                        numbers.shapes.push(custom.get(&id).copied().unwrap_or_else(|| built_in(id)));
                    }
                    _ => {}
                },
                Node::End(name) if name == "cellXfs" => in_cells = false,
                _ => {}
            }
            if custom.len().max(numbers.shapes.len()) > limits.parts * 4 {
                return Err(ParseError::Limit { what: "formats of cells", limit: limits.parts * 4 });
            }
        }
        Ok(numbers)
    }

    /// A number as its cell shows it.
    pub(super) fn show(&self, number: f64, style: Option<usize>) -> String {
        let shape = style.and_then(|style| self.shapes.get(style)).copied().unwrap_or(NumberFormat::General);
        match shape {
            NumberFormat::Date if (0.0..DAYS).contains(&number) => self.date(number),
            NumberFormat::Duration if (0.0..DAYS).contains(&number) => {
                let seconds = (number * 86_400.0).round() as u64;
                format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
            }
            NumberFormat::Fixed { decimals, percent: true } => format!("{:.decimals$}%", number * 100.0),
            NumberFormat::Fixed { decimals, percent: false } => format!("{number:.decimals$}"),
            NumberFormat::General | NumberFormat::Date | NumberFormat::Duration => general(number),
        }
    }

    fn date(&self, number: f64) -> String {
        let seconds = (number * 86_400.0).round() as i64;
        let (mut days, time) = (seconds / 86_400, seconds % 86_400);
        let clock = match time % 60 {
            0 => format!("{:02}:{:02}", time / 3_600, time / 60 % 60),
            rest => format!("{:02}:{:02}:{rest:02}", time / 3_600, time / 60 % 60),
        };
        if days == 0 && !self.since_1904 {
            return clock;
        }
        // Days from 1970. Spreadsheets believe that 1900 was a leap year.
        days += match self.since_1904 {
            true => -24_107,
            false if days < 60 => -25_568,
            false => -25_569,
        };
        let (year, month, day) = civil(days);
        match time {
            0 => format!("{year:04}-{month:02}-{day:02}"),
            _ => format!("{year:04}-{month:02}-{day:02} {clock}"),
        }
    }
}

/// Year, month and day, from days since 1970, in eras of 400 years that begin
/// in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

/// Fifteen digits are what a spreadsheet keeps.
fn general(number: f64) -> String {
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    if rounded != 0.0 && !(1e-9..1e21).contains(&rounded.abs()) { format!("{rounded:e}") } else { rounded.to_string() }
}

/// The formats that every workbook has without listing them.
fn built_in(id: u32) -> NumberFormat {
    match id {
        1 | 3 | 37 | 38 => NumberFormat::Fixed { decimals: 0, percent: false },
        2 | 4 | 39 | 40 => NumberFormat::Fixed { decimals: 2, percent: false },
        9 => NumberFormat::Fixed { decimals: 0, percent: true },
        10 => NumberFormat::Fixed { decimals: 2, percent: true },
        14..=22 | 27..=36 | 45 | 47 | 50..=58 => NumberFormat::Date,
        46 => NumberFormat::Duration,
        _ => NumberFormat::General,
    }
}

/// What a format asks for: its first section, without what is quoted.
fn shape(code: &str) -> NumberFormat {
    let (mut plain, mut bracketed) = (String::new(), String::new());
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => drop(characters.by_ref().find(|c| *c == '"')),
            '\\' | '_' | '*' => drop(characters.next()),
            '[' => bracketed.extend(characters.by_ref().take_while(|c| *c != ']')),
            ';' => break,
            other => plain.push(other.to_ascii_lowercase()),
        }
    }
    if plain.contains("general") {
        return NumberFormat::General;
    }
    if matches!(bracketed.to_ascii_lowercase().as_str(), "h" | "hh" | "m" | "mm" | "s" | "ss") {
        return NumberFormat::Duration;
    }
    if plain.contains(['y', 'm', 'd', 'h', 's']) {
        return NumberFormat::Date;
    }
    if !plain.contains(['0', '#', '?']) || plain.contains(['e', '/']) {
        return NumberFormat::General;
    }
    let decimals = plain.split_once('.').map_or(0, |(_, after)| after.matches(['0', '#', '?']).count());
    NumberFormat::Fixed { decimals: decimals.min(MOST_DECIMALS), percent: plain.contains('%') }
}
