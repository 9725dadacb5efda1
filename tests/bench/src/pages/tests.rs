//! The pages of a small report that nobody measured, and of nothing.

use quick_xml::{Reader, events::Event};

use super::*;

fn circumstances() -> Circumstances {
    Circumstances {
        processor: "A Processor <of> | its own".into(),
        cores: 2,
        system: "Linux 6.18.0".into(),
        commit: "0123456789ab".into(),
        date: "2026-11-25".into(),
    }
}

fn small_report() -> Report {
    let mut report = Report::new(false);
    report.note("engine_overhead", 1.1, "Host::call p50 10.0 us, bare wasmtime 9.1 us");
    report.note("stdio_throughput", 0.5, "50.0k calls/s | without Wasm 100.0k\nin two lines");
    report.note("context_idle", 12_345.6, "12.1 MiB more");
    report.note_of_other("peer_other_calls".into(), "calls a second".into(), 7.5, "7.5k and 1.0k".into());
    for plot in PLOTS {
        if plot.is_distribution {
            let samples = |factor: f64| (1..=1_000).map(|sample| f64::from(sample) * factor).collect();
            report.distribution(plot.name, "Wharf", samples(0.3));
            report.distribution(plot.name, "without <Wasm> & \"all\"", samples(0.1));
        } else {
            report.series(plot.name, "Wharf", (0..=6).map(|step| (f64::from(1 << step), 1_000.0)).collect());
            report.series(plot.name, "without Wasm", vec![(1.0, 12.0)]);
        }
    }
    report
}

/// The texts of an XML document, which is well-formed.
fn texts(document: &str) -> Vec<String> {
    let mut reader = Reader::from_str(document);
    let (mut texts, mut depth) = (Vec::new(), 0);
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Text(text) => texts.push(text.xml10_content().trim().to_owned()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "every element ends");
    texts
}

fn pages(report: &Report) -> (tempfile::TempDir, String, String) {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), report, &circumstances()).expect("written");
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).expect(name);
    let (figures, plots) = (read("figures.md"), read("plots.md"));
    for page in [&figures, &plots] {
        assert!(!page.contains(&*directory.path().to_string_lossy()), "nothing absolute");
        for line in page.lines().filter(|line| !line.starts_with('|')) {
            assert!(line.split_whitespace().count() <= 100, "{line}");
        }
    }
    (directory, figures, plots)
}

fn row<'p>(page: &'p str, key: &str) -> &'p str {
    page.lines().find(|line| line.starts_with(&format!("| `{key}` |"))).expect(key)
}

#[test]
fn a_small_report_is_written_with_bars_verdicts_and_the_commands_that_repeat_it() {
    let (_directory, figures, plots) = pages(&small_report());
    for key in AREAS.iter().flat_map(|area| area.keys) {
        assert!(row(&figures, key.name).ends_with(&format!("| `cargo xtask bench --only {}` |", key.name)));
    }
    assert!(row(&figures, "engine_overhead").contains("| at most 1.2 | 1.100 | met | Host::call p50 10.0 us"));
    assert!(row(&figures, "stdio_throughput").contains("| 0.500 | **NOT MET** | 50.0k calls/s \\| without"));
    assert!(row(&figures, "context_idle").contains("| at most 40960 | 12346 | met |"));
    assert!(row(&figures, "search_korean").contains("| | not measured | |"));
    assert!(row(&figures, "peer_other_calls").contains("| report only | 7.500 | report only |"));
    for of_the_run in ["A Processor &lt;of> \\| its own", "| cores | 2 |", "6.18.0", "0123456789ab", "2026-11-25"] {
        assert!(figures.contains(of_the_run) && plots.contains(of_the_run), "{of_the_run}");
    }
    assert!(plots.contains("| Wharf | 150 | 270 | 297 |"), "{plots}");
}

#[test]
fn plots_are_documents_of_xml_that_name_their_axes_and_sides_and_no_file() {
    let (directory, _, page) = pages(&small_report());
    for plot in PLOTS {
        let name = format!("{}.svg", plot.name);
        assert!(page.contains(&format!("]({name})")), "{name} is on the page");
        let drawn = fs::read_to_string(directory.path().join(&name)).expect("drawn");
        let texts = texts(&drawn);
        for wanted in [plot.title, "Wharf"] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted} is not in {name}: {texts:?}");
        }
        assert!(!drawn.contains("href") && !drawn.contains("file:") && !drawn.contains("/tmp"), "{name}");
    }
}

#[test]
fn a_run_that_measured_nothing_says_so_of_every_key_and_leaves_no_plot_of_another() {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), &small_report(), &circumstances()).expect("written");
    write(directory.path(), &Report::new(true), &circumstances()).expect("written");
    let left = fs::read_dir(directory.path()).expect("read").map(|entry| entry.expect("an entry").file_name());
    let mut left: Vec<_> = left.collect();
    left.sort();
    assert_eq!(left, ["figures.md", "plots.md"]);
    let figures = fs::read_to_string(directory.path().join("figures.md")).expect("written");
    assert!(figures.contains("This was a quick run"));
    for key in AREAS.iter().flat_map(|area| area.keys) {
        assert!(row(&figures, key.name).contains("| not measured |"));
    }
}
