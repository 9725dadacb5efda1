//! Writes a run as pages of the book: a table of every key, and plots. The same code draws a
//! real run and the small ones of tests.

use std::{fmt::Write as _, fs, path::Path};

use anyhow::{Context as _, Result};

use crate::{
    keys::AREAS,
    machine::Circumstances,
    plots::{PLOTS, rounded},
    report::{Figure, Report, Series},
};

/// Above both pages: nobody is to change them by hand.
const GENERATED: &str = "<!-- Written by `cargo xtask bench --report`. -->\n\n";

/// Writes both pages and all plots of which something was measured. Plots of an earlier run
/// that this one does not draw are removed: they would be of other circumstances.
pub(crate) fn write(directory: &Path, report: &Report, circumstances: &Circumstances) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let save = |name: &str, text: &str| {
        let file = directory.join(name);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    };
    for plot in PLOTS {
        let (series, name) = (report.of_plot(plot.name), format!("{}.svg", plot.name));
        if series.is_empty() {
            let file = directory.join(name);
            if file.is_file() {
                fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
            }
            continue;
        }
        save(&name, &plot.draw(&series).with_context(|| plot.name)?)?;
    }
    save("figures.md", &figures(report, circumstances)?)?;
    save("plots.md", &plots(report, circumstances)?)
}

fn of_the_run(report: &Report, circumstances: &Circumstances) -> String {
    let Circumstances { processor, cores, system, commit, date } = circumstances;
    let quick = if report.is_quick() {
        "This was a quick run: it shows that everything runs, and nothing of how fast.\n\n"
    } else {
        ""
    };
    format!(
        "{quick}| of the run | |\n|---|---|\n| processor | {} |\n| cores | {cores} |\n| system | {} |\n| commit | {} |\n\
         | date | {date} |\n",
        cell(processor),
        cell(system),
        cell(commit)
    )
}

fn figures(report: &Report, circumstances: &Circumstances) -> Result<String> {
    let mut page = format!("# Figures of a run\n\n{GENERATED}");
    page += "Each figure is what Wharf needs or does, divided by the same of its yardstick in the same run, unless its \
             row says otherwise.\n*Bar* is what is asked of it. [Benchmarks](../benchmarks.md) says what the \
             yardsticks are and how to run them.\n\n";
    page += &of_the_run(report, circumstances);
    let measured = |key: &str| report.figures().iter().find(|figure| figure.key == key);
    for area in AREAS {
        write!(page, "\n## {}\n\n{HEAD}", area.title)?;
        for key in area.keys {
            match measured(key.name) {
                Some(figure) => row(&mut page, report, figure)?,
                None => writeln!(
                    page,
                    "| `{}` | {} | {} | | not measured | | {} |",
                    key.name,
                    cell(key.what),
                    key.bar.words(),
                    command(key.name)
                )?,
            }
        }
    }
    let mut others = report.figures().iter().filter(|figure| crate::keys::find(&figure.key).is_none()).peekable();
    if others.peek().is_some() {
        write!(page, "\n## Peers\n\n{HEAD}")?;
        for figure in others {
            row(&mut page, report, figure)?;
        }
    }
    Ok(page)
}

/// Of a table beside a plot.
const MOST_COLUMNS: usize = 7;

const HEAD: &str = "| key | what | bar | figure | verdict | both sides | again |\n|---|---|---|---|---|---|---|\n";

fn row(page: &mut String, report: &Report, figure: &Figure) -> Result<()> {
    let Figure { key, what, bar, ratio, absolute } = figure;
    let verdict = match report.verdict(figure) {
        missed @ "NOT MET" => format!("**{missed}**"),
        other => other.to_owned(),
    };
    let ratio = if ratio.abs() < 100.0 { format!("{ratio:.3}") } else { format!("{ratio:.0}") };
    let (what, absolute) = (cell(what), cell(absolute));
    writeln!(page, "| `{key}` | {what} | {} | {ratio} | {verdict} | {absolute} | {} |", bar.words(), command(key))?;
    Ok(())
}

/// What repeats a figure. Those of a peer come together.
fn command(key: &str) -> String {
    let only = if key.starts_with("peer_") { "peer_" } else { key };
    format!("`cargo xtask bench --only {only}`")
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    let line = text.lines().map(str::trim).collect::<Vec<_>>().join("; ");
    line.replace('|', "\\|").replace('<', "&lt;")
}

fn plots(report: &Report, circumstances: &Circumstances) -> Result<String> {
    let mut page = format!("# Plots of a run\n\n{GENERATED}");
    page += "Each plot shows Wharf beside its yardsticks in the same run.\n\
             [Figures of a run](figures.md) has the ratios and their bars.\n\n";
    page += &of_the_run(report, circumstances);
    for plot in PLOTS {
        let series = report.of_plot(plot.name);
        write!(page, "\n## {}\n\n", plot.title)?;
        if series.is_empty() {
            page += "Not measured in this run.\n";
            continue;
        }
        write!(page, "![{}]({}.svg)\n\n", plot.title, plot.name)?;
        if plot.is_distribution { quantiles(&mut page, &series)? } else { points(&mut page, &series)? }
    }
    Ok(page)
}

/// The same as numbers, for whom a picture tells nothing.
fn quantiles(page: &mut String, series: &[&Series]) -> Result<()> {
    page.push_str("| | p50 | p90 | p99 |\n|---|---|---|---|\n");
    for series in series {
        let at = |share: f64| {
            let point = series.points.iter().find(|point| point.1 >= share).or(series.points.last());
            point.map_or_else(String::new, |point| rounded(point.0))
        };
        writeln!(page, "| {} | {} | {} | {} |", cell(&series.side), at(50.0), at(90.0), at(99.0))?;
    }
    Ok(())
}

fn points(page: &mut String, series: &[&Series]) -> Result<()> {
    let Some(longest) = series.iter().max_by_key(|series| series.points.len()) else { return Ok(()) };
    // A table of many columns is read by nobody.
    let step = longest.points.len().div_ceil(MOST_COLUMNS).max(1);
    let across = longest.points.iter().rev().step_by(step).map(|point| point.0);
    let across: Vec<_> = across.collect::<Vec<_>>().into_iter().rev().collect();
    let heads: Vec<_> = across.iter().copied().map(rounded).collect();
    writeln!(page, "| | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()))?;
    for series in series {
        let cells: Vec<_> = across
            .iter()
            .map(|at| {
                let point = series.points.iter().find(|point| (point.0 - at).abs() < 0.5);
                point.map_or_else(String::new, |point| rounded(point.1))
            })
            .collect();
        writeln!(page, "| {} | {} |", cell(&series.side), cells.join(" | "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
