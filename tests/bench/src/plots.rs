//! Draws series as SVG. Texts stay texts, so that no font is needed to draw them.

use std::{fmt::Display, ops::Range};

use anyhow::{Result, anyhow};
use plotters::{
    coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter},
    prelude::*,
};

use crate::report::Series;

/// How the values along the lower edge follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Steps {
    Even,
    Doubling,
    TenFold,
}

/// A plot of the report.
pub(crate) struct Plot {
    /// Of its series, and of its file.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    across: &'static str,
    steps: Steps,
    up: &'static str,
    /// Whether its points are shares of samples, in per cent.
    pub(crate) is_distribution: bool,
}

const fn distribution(name: &'static str, title: &'static str, across: &'static str) -> Plot {
    Plot { name, title, across, steps: Steps::TenFold, up: "share at most so much (%)", is_distribution: true }
}

pub(crate) const PLOTS: &[Plot] = &[
    distribution("latency_engine", "Time of a call by the library", "microseconds"),
    distribution("latency_stdio", "Time of a call over stdio, one after the other", "microseconds"),
    distribution("latency_http", "Time of a call over HTTP, one after the other", "microseconds"),
    Plot {
        name: "throughput_by_in_flight",
        title: "Calls a second by number in flight",
        across: "in flight",
        steps: Steps::Doubling,
        up: "calls a second",
        is_distribution: false,
    },
    Plot {
        name: "memory_over_calls",
        title: "Resident memory over calls, 64 in flight",
        across: "calls",
        steps: Steps::Even,
        up: "MiB",
        is_distribution: false,
    },
    distribution("cold_starts", "Time from start to the list of tools", "milliseconds"),
];

/// Along a scale of logarithms, fewer would leave out all but the powers of ten.
const MOST_LABELS: usize = 20;
const SIZE: (u32, u32) = (760, 420);
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 95, 175),
    RGBColor(215, 95, 0),
    RGBColor(0, 135, 95),
    RGBColor(175, 0, 95),
    RGBColor(95, 95, 215),
    RGBColor(135, 95, 0),
    RGBColor(0, 135, 175),
    RGBColor(95, 95, 95),
];

impl Plot {
    /// The plot as the text of an SVG file. Nothing is drawn of nothing.
    pub(crate) fn draw(&self, series: &[&Series]) -> Result<String> {
        let points = || series.iter().flat_map(|series| &series.points);
        let (mut across, mut up) = (extent(points().map(|point| point.0)), extent(points().map(|point| point.1)));
        up.start = 0.0;
        up.end = if self.is_distribution { 100.0 } else { up.end * 1.1 };
        if up.end <= 0.0 {
            up.end = 1.0;
        }
        match self.steps {
            Steps::Even => {
                across.start = 0.0;
                if across.end <= 0.0 {
                    across.end = 1.0;
                }
                self.draw_on(series, across, up)
            }
            Steps::Doubling => self.draw_on(series, positive(across).log_scale().base(2.0), up),
            Steps::TenFold => self.draw_on(series, decades(positive(across)).log_scale(), up),
        }
    }

    /// The larger digits of a scale of logarithms lie too close together for all to have one.
    fn has_label(&self, value: f64) -> bool {
        self.steps != Steps::TenFold || [1.0, 2.0, 3.0, 5.0].contains(&(value / decade(value)).round())
    }

    /// Where the lines of such a plot seldom are.
    fn legend(&self) -> SeriesLabelPosition {
        match self.steps {
            Steps::Even => SeriesLabelPosition::MiddleRight,
            Steps::Doubling => SeriesLabelPosition::UpperLeft,
            Steps::TenFold => SeriesLabelPosition::LowerRight,
        }
    }

    fn draw_on<A>(&self, series: &[&Series], across: A, up: Range<f64>) -> Result<String>
    where
        A: AsRangedCoord<Value = f64>,
        A::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            area.fill(&WHITE).map_err(failed)?;
            let mut chart = ChartBuilder::on(&area)
                .caption(self.title, ("sans-serif", 18))
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(72)
                .build_cartesian_2d(across, up)
                .map_err(failed)?;
            chart
                .configure_mesh()
                .max_light_lines(1)
                .light_line_style(BLACK.mix(0.04))
                .bold_line_style(BLACK.mix(0.14))
                .x_labels(if self.steps == Steps::TenFold { MOST_LABELS } else { 10 })
                .x_desc(self.across)
                .y_desc(self.up)
                .x_label_formatter(&|value| if self.has_label(*value) { rounded(*value) } else { String::new() })
                .y_label_formatter(&|value| rounded(*value))
                .label_style(("sans-serif", 12))
                .draw()
                .map_err(failed)?;
            for (series, color) in series.iter().zip(COLORS.iter().cycle()) {
                let style = color.stroke_width(2);
                let line = LineSeries::new(series.points.iter().copied(), style);
                let line = if self.is_distribution { line } else { line.point_size(3) };
                chart
                    .draw_series(line)
                    .map_err(failed)?
                    .label(series.side.as_str())
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
            }
            chart
                .configure_series_labels()
                .position(self.legend())
                .background_style(WHITE.mix(0.85))
                .border_style(BLACK.mix(0.2))
                .label_font(("sans-serif", 12))
                .draw()
                .map_err(failed)?;
            area.present().map_err(failed)?;
        }
        Ok(text)
    }
}

/// The library's errors hold what is not to be sent between threads.
fn failed(error: impl Display) -> anyhow::Error {
    anyhow!("cannot draw: {error}")
}

fn extent(values: impl Iterator<Item = f64>) -> Range<f64> {
    let bounds =
        values.fold(f64::INFINITY..f64::NEG_INFINITY, |bounds, value| bounds.start.min(value)..bounds.end.max(value));
    if bounds.start.is_finite() && bounds.end.is_finite() { bounds } else { 0.0..1.0 }
}

/// A range of which logarithms can be taken.
fn positive(range: Range<f64>) -> Range<f64> {
    let start = range.start.max(1e-3);
    start..range.end.max(start * 2.0)
}

/// The power of ten that is not above a value.
fn decade(value: f64) -> f64 {
    // Powers of ten themselves must not fall one short by their last bit.
    10_f64.powf((value.log10() + 1e-9).floor())
}

/// A range that begins with a power of ten, as the scale is labelled from there.
fn decades(range: Range<f64>) -> Range<f64> {
    decade(range.start)..range.end
}

/// A value as a reader wants it: no places that say nothing, thousands as such.
pub(crate) fn rounded(value: f64) -> String {
    match value.abs() {
        large if large >= 10_000.0 => format!("{:.0}k", value / 1_000.0),
        large if large >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        middle if middle >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
