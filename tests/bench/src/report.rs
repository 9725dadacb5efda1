//! Collects figures and series, and prints the figures.

use serde_json::{Map, Value, json};

use crate::keys::{self, Bar};

/// Which shares of its samples a distribution is drawn by.
const SHARES: usize = 200;

/// One result: a ratio, and the figures of both sides behind it.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) key: String,
    pub(crate) what: String,
    pub(crate) bar: Bar,
    pub(crate) ratio: f64,
    pub(crate) absolute: String,
}

/// One line of a plot.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// The name of the plot, as `plots` lists it.
    pub(crate) plot: &'static str,
    pub(crate) side: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// All figures of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Nothing was measured thoroughly, so that nothing is judged.
    quick: bool,
    figures: Vec<Figure>,
    series: Vec<Series>,
}

impl Report {
    pub(crate) fn new(quick: bool) -> Self {
        Self { quick, ..Self::default() }
    }

    /// Notes a ratio, and the absolute figures behind it. The bar is that of the key.
    pub(crate) fn note(&mut self, key: &str, ratio: f64, absolute: &str) {
        let known = keys::find(key);
        let (what, bar) = known.map_or(("", Bar::ReportOnly), |known| (known.what, known.bar));
        self.add(Figure { key: key.to_owned(), what: what.to_owned(), bar, ratio, absolute: absolute.to_owned() });
    }

    /// Notes a figure that no table names, such as one of another product. Nothing is asked of it.
    pub(crate) fn note_of_other(&mut self, key: String, what: String, ratio: f64, absolute: String) {
        self.add(Figure { key, what, bar: Bar::ReportOnly, ratio, absolute });
    }

    fn add(&mut self, figure: Figure) {
        eprintln!("  {}", self.line(&figure));
        self.figures.push(figure);
    }

    fn line(&self, figure: &Figure) -> String {
        let Figure { key, bar, ratio, absolute, .. } = figure;
        let verdict = match bar {
            Bar::ReportOnly => bar.words(),
            _ => format!("{}: {}", bar.words(), self.verdict(figure)),
        };
        format!("{key:<18} {ratio:>7.3}  ({verdict})  {absolute}")
    }

    /// Whether a figure meets its bar, in words.
    pub(crate) fn verdict(&self, figure: &Figure) -> &'static str {
        match figure.bar.met(figure.ratio) {
            None => "report only",
            Some(_) if self.quick => "not judged",
            Some(true) => "met",
            Some(false) => "NOT MET",
        }
    }

    /// Keeps a line of a plot.
    pub(crate) fn series(&mut self, plot: &'static str, side: &str, points: Vec<(f64, f64)>) {
        self.series.push(Series { plot, side: side.to_owned(), points });
    }

    /// Keeps how samples are distributed: which share of them, in per cent, is at most so much.
    #[expect(clippy::cast_precision_loss, reason = "a share of samples")]
    pub(crate) fn distribution(&mut self, plot: &'static str, side: &str, mut samples: Vec<f64>) {
        samples.sort_by(f64::total_cmp);
        let share = |index: usize| (index + 1) as f64 / samples.len() as f64 * 100.0;
        let steps = samples.len().min(SHARES);
        let indices = (1..=steps).map(|step| step * samples.len() / steps - 1);
        let points = indices.map(|index| (samples[index], share(index)));
        // From the least one up, so that even one sample is a line.
        let least = samples.first().map(|least| (*least, 0.0));
        self.series(plot, side, least.into_iter().chain(points).collect());
    }

    pub(crate) fn is_quick(&self) -> bool {
        self.quick
    }

    pub(crate) fn figures(&self) -> &[Figure] {
        &self.figures
    }

    pub(crate) fn of_plot(&self, plot: &str) -> Vec<&Series> {
        self.series.iter().filter(|series| series.plot == plot && !series.points.is_empty()).collect()
    }

    pub(crate) fn print(&self, as_json: bool) {
        if as_json {
            let ratio = |figure: &Figure| json!((figure.ratio * 1000.0).round() / 1000.0);
            let ratios: Map<_, _> = self.figures.iter().map(|figure| (figure.key.clone(), ratio(figure))).collect();
            println!("{}", Value::Object(ratios));
            return;
        }
        for figure in &self.figures {
            println!("{}", self.line(figure));
        }
    }
}

/// The median. Zero for nothing.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// A quantile of samples. Zero for nothing.
pub(crate) fn quantile(values: &mut [f64], quantile: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index"
    )]
    let index = (values.len() as f64 * quantile) as usize;
    values.get(index.min(values.len().saturating_sub(1))).copied().unwrap_or_default()
}
