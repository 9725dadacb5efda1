//! The text of `wit/` and this crate say the same words.

use std::{collections::BTreeSet, fs, path::Path};

use wharf_contract::{completion, events, log, process, prompts, state, terminal, tools, turn, types, webview};

/// The folder that generators of bindings are handed.
macro_rules! folder {
    ({ path: $path:literal, }) => {
        $path
    };
}

/// The documentation of one interface, from the first line that has `from` to
/// the first line behind it that has `to`.
fn passage(interface: &str, from: &str, to: &str) -> String {
    let path = Path::new(wharf_contract::bindings!(folder, {})).join(interface).with_extension("wit");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines: Vec<&str> = text.lines().collect();
    let at = |part: &str, behind: usize| {
        let found = lines.iter().skip(behind).position(|line| line.contains(part));
        behind + found.unwrap_or_else(|| panic!("{interface}: nothing has {part:?}"))
    };
    let first = at(from, 0);
    lines[first..=at(to, first + 1)].join("\n")
}

/// What stands between backticks: a word, or `NAME {MEMBERS}`.
fn quoted(passage: &str) -> BTreeSet<&str> {
    passage.split('`').skip(1).step_by(2).collect()
}

/// Holds a passage against a list: every word of the list is there, and whatever
/// else is quoted is one of `besides`.
fn says(passage: &str, words: &[&str], besides: &[&str]) {
    let quoted: BTreeSet<&str> = quoted(passage).into_iter().filter(|word| !besides.contains(word)).collect();
    assert_eq!(quoted, words.iter().copied().collect(), "{passage}");
}

#[test]
fn errors_levels_and_scopes_are_those_of_the_text() {
    says(&passage("types", "One of the codes", "code: string"), types::ErrorCode::WORDS, &[]);
    says(&passage("log", "`level` is", "counts as"), log::Level::WORDS, &["level"]);
    let besides = ["scope", "name"];
    says(&passage("state", "`scope` says", "`name` tells"), state::Scope::WORDS, &besides);
}

#[test]
fn processes_are_told_in_the_words_of_the_text() {
    let of = |from, to| passage("process", from, to);
    says(&of("`starting`, `running`", "status: string"), process::Status::WORDS, &[]);
    says(&of("`exited` by itself", "kind: string"), process::OutcomeKind::WORDS, &[]);
    says(&of("Why the host killed it", "reason: option"), process::KilledBy::WORDS, &[]);
    says(&of("`output`, `pattern`", "reason: string"), process::WaitReason::WORDS, &[]);
    says(&of("Sends a signal", "signal: func"), process::Signal::WORDS, &["invalid", "gone"]);
    says(&of("/// `stdout` or `stderr`", "%stream: string"), process::StreamName::WORDS, &["invalid"]);
    says(
        &of("granted patterns), `containment`", "`refused`"),
        process::Containment::WORDS,
        &["containment", "refused"],
    );
}

#[test]
fn terminals_are_told_in_the_words_of_the_text() {
    let of = |from, to| passage("terminal", from, to);
    says(&of("`starting` until", "status: string"), terminal::Status::WORDS, &[]);
    let kinds: Vec<_> = terminal::OutcomeKind::WORDS.iter().copied().filter(|word| *word != "not-started").collect();
    says(&of("`exited` by itself", "kind: string"), &kinds, &[]);
    says(&of("Why the host ended it", "reason: option"), terminal::CloseReason::WORDS, &[]);
    says(&of("of the view `text` or `raw`", "cursor on"), terminal::View::WORDS, &["max-bytes"]);
    says(&of("JSON object. `restart`", "options: option"), terminal::Restart::WORDS, &["restart", "invalid"]);
    says(&of("/// (`namespaces`", "be started), `refused`"), terminal::Containment::WORDS, &["refused"]);
}

#[test]
fn turns_are_judged_and_told_in_the_words_of_the_text() {
    let of = |from, to| passage("terminal", from, to);
    says(&of("`shell`, `repl`", "More presets"), turn::Preset::WORDS, &[]);
    says(&of("How sure it is", "confidence: string"), turn::Confidence::WORDS, &[]);
    // What the program is known to wait for is told since, by a word of its own.
    let released = turn::Reason::ALL.into_iter().filter(|reason| *reason != turn::Reason::AwaitsInput);
    let layers = of("in layers, strongest first", "The decision depends");
    let words: Vec<_> = turn::Layer::WORDS.iter().copied().chain(released.clone().map(turn::Reason::as_str)).collect();
    says(&layers, &words, &["send", "(y/n)"]);
    for line in layers.split("\n/// - ").skip(1) {
        let layer = turn::Layer::find(&line[1..3]).expect("a layer");
        let quoted = quoted(line);
        for reason in released.clone().filter(|reason| quoted.contains(reason.as_str())) {
            assert_eq!(reason.layer(), layer, "{line}");
        }
    }
    let parameters = passage("events", "`parameters` is an", "refuses members");
    // Of most times the text says the name once, and what stands behind each.
    let short = |name: &&'static str| match name.strip_suffix("_milliseconds") {
        Some(short) if !short.starts_with("adaptive") => short,
        _ => *name,
    };
    let short: Vec<_> = turn::Parameter::WORDS.iter().map(short).collect();
    says(&parameters, &short, &["agent", "terminal", "parameters", "_milliseconds", "invalid"]);
}

#[test]
fn streams_and_offers_are_told_in_the_words_of_the_text() {
    let words: Vec<_> = events::StreamStatus::WORDS.iter().copied().chain([events::NOTHING_NEW]).collect();
    let besides = ["wait_for_data", "invalid"];
    says(&passage("events", "Says how the work stands", "in a row count"), &words, &besides);
    let besides = ["tools", "invalid", "denied"];
    let lists = passage("events", "Says that a list", "once for several");
    says(&lists, events::List::WORDS, &besides[..0]);
    says(&passage("prompts", "Who says it", "role: string"), prompts::Role::WORDS, &[]);
    let kinds = passage("completion", "`kind` is `prompt`", "A later version");
    says(&kinds, completion::Completed::WORDS, &["kind", "name", "uri-template"]);
    let methods = passage("tools", "things to ask for", "defines them");
    says(&methods, tools::InputMethod::WORDS, &["requests", "method", "params"]);
}

#[test]
fn web_pages_are_told_in_the_words_of_the_text() {
    let of = |from, to| passage("webview", from, to);
    says(&of("says so by a kind", "treat an unknown one"), webview::FailureKind::WORDS, &[]);
    says(&of("/// `opening`; `ready`", "status: string"), webview::PageStatus::WORDS, &[]);
    says(&of("/// `pending`, `done`", "state: string"), webview::RequestState::WORDS, &[]);
    says(&of("`alert`, `confirm`, `prompt` or", "kind: string"), webview::DialogKind::WORDS, &[]);
    let besides = ["alert", "confirm", "prompt", "answer-dialog", "console"];
    says(&of("What becomes of dialogs", "dialogs: string"), webview::DialogPolicy::WORDS, &besides);
    says(&of("Why it is closed", "closed-because"), webview::CloseReason::WORDS, &[]);
    says(&of("/// `page`: among", "%world: string"), webview::World::WORDS, &["unsupported"]);
}

#[test]
fn logs_of_web_pages_are_told_in_the_words_and_members_of_the_text() {
    let of = |from, to| passage("webview", from, to);
    let console = of("- `console`: `{", "`crash`.");
    let besides = ["console", "{kind, text, url, line}", "kind", "answer"];
    let of_dialogs = webview::DialogKind::WORDS.iter().chain(webview::DialogOutcome::WORDS);
    let words: Vec<_> = webview::ConsoleKind::WORDS.iter().chain(of_dialogs).copied().collect();
    says(&console, &words, &besides);
    let network = of("- `network`: `{", "once each has ended");
    let downloads = of("- `downloads`: `{", "`path` where");
    let besides = ["downloads", "{url, name, path, bytes, state, failure}", "state", "path"];
    says(&downloads, webview::DownloadState::WORDS, &besides);
    says(&of("each an object with `number`", "entries: string"), &["number", "time"], &[]);
    let said = webview::ConsoleLogEntry { url: Some(String::new()), line: Some(1), ..Default::default() };
    let asked = webview::NetworkLogEntry {
        status: Some(200),
        mime_type: Some(String::new()),
        bytes: Some(1),
        milliseconds: Some(1),
        failure: Some(String::new()),
        denied: true,
        ..Default::default()
    };
    let came =
        webview::DownloadLogEntry { path: Some(String::new()), failure: Some(String::new()), ..Default::default() };
    for (text, shape) in [
        (console, serde_json::to_value(said)),
        (network, serde_json::to_value(asked)),
        (downloads, serde_json::to_value(came)),
    ] {
        let shape = shape.expect("JSON");
        let members: BTreeSet<&str> = shape.as_object().expect("an object").keys().map(String::as_str).collect();
        let told = quoted(&text).into_iter().find_map(|quote| quote.strip_prefix('{')?.strip_suffix('}'));
        // They may go on in the next line.
        let told = told.expect("the members").replace("///", "");
        assert_eq!(told.split(',').map(str::trim).collect::<BTreeSet<_>>(), members, "{text}");
    }
}

#[test]
fn what_navigations_come_to_has_the_members_of_the_text() {
    let result = webview::NavigationResult {
        mime_type: Some(String::new()),
        status: Some(200),
        download: true,
        ..Default::default()
    };
    let result = serde_json::to_value(result).expect("JSON");
    let members: Vec<&str> = result.as_object().expect("an object").keys().map(String::as_str).collect();
    says(&passage("webview", "the result has `url`", "`redirects`, and"), &members, &[]);
}

#[test]
fn operations_and_their_parameters_are_those_of_the_text() {
    let text = passage("webview", "- `navigate` `{url}`", "More may come; `status`");
    let named: BTreeSet<_> = quoted(&text).into_iter().filter_map(webview::OperationName::find).collect();
    assert_eq!(named, webview::OperationName::ALL.into_iter().collect());
    let quoted = quoted(&text);
    let kinds = [webview::MouseKind::WORDS, webview::MouseButton::WORDS, webview::Modifier::WORDS];
    let others = [webview::KeyKind::WORDS, webview::Paper::WORDS, &[webview::ImageType::Jpeg.as_str()]];
    for word in kinds.into_iter().chain(others).flatten() {
        assert!(quoted.contains(word), "{word}");
    }
    let mouse = webview::Mouse {
        button: Some(webview::MouseButton::Left),
        count: Some(1),
        delta_x: Some(0.0),
        delta_y: Some(0.0),
        modifiers: Some(Vec::new()),
        ..webview::Mouse::new(webview::MouseKind::Move, 0.0, 0.0)
    };
    let clip = webview::Rectangle { x: 0.0, y: 0.0, width: 1.0, height: 1.0 };
    let screenshot =
        webview::Screenshot { format: webview::ImageType::Jpeg, quality: Some(1), full_page: true, clip: Some(clip) };
    let key = webview::Key { key: "a".into(), kind: webview::KeyKind::Press, modifiers: Vec::new() };
    let pdf = webview::Pdf { landscape: true, background: true, paper: webview::Paper::A4 };
    let shapes = [
        serde_json::to_value(webview::Navigate { url: String::new() }),
        serde_json::to_value(mouse),
        serde_json::to_value(clip),
        serde_json::to_value(screenshot),
        serde_json::to_value(key),
        serde_json::to_value(pdf),
        serde_json::to_value(webview::Text { text: String::new() }),
        serde_json::to_value(webview::SetFiles { element: String::new(), paths: Vec::new() }),
        serde_json::to_value(webview::Resize { width: 1, height: 1 }),
        serde_json::to_value(webview::NetworkIdle { idle_milliseconds: 1 }),
        serde_json::to_value(webview::FrameInfo::default()),
    ];
    let shown = |members: &BTreeSet<&str>| format!("{{{}}}", members.iter().copied().collect::<Vec<_>>().join(", "));
    let told: BTreeSet<String> = quoted
        .iter()
        .filter_map(|quote| quote.strip_prefix('{')?.strip_suffix('}'))
        .map(|members| shown(&members.split(", ").collect()))
        .collect();
    for shape in shapes {
        let shape = shape.expect("JSON");
        let members = shape.as_object().expect("an object").keys().map(String::as_str).collect();
        assert!(told.contains(&shown(&members)), "{} is none of {told:?}", shown(&members));
    }
}

#[test]
fn what_status_answers_has_the_members_of_the_text() {
    for (interface, rules) in [
        ("process", serde_json::to_value(process::ProcessRules { refused: Some(String::new()), ..Default::default() })),
        (
            "terminal",
            serde_json::to_value(terminal::TerminalRules { refused: Some(String::new()), ..Default::default() }),
        ),
        ("webview", serde_json::to_value(webview::WebViewRules::default())),
    ] {
        let text = passage(interface, "What holds for the", "status: func");
        let rules = rules.expect("JSON");
        let members = rules.as_object().expect("an object");
        let words = process::Containment::WORDS;
        let besides = ["perform", "chromium", "guidance", "threshold", "hasty_threshold", "language"];
        for member in quoted(&text).into_iter().filter(|word| !words.contains(word) && !besides.contains(word)) {
            assert!(members.contains_key(member), "`{member}` of {interface}");
        }
    }
}

#[test]
fn further_fields_have_the_members_of_the_text() {
    let polls = process::PollStatistics { intervals: Some(Default::default()), ..Default::default() };
    let process = process::Meta { explanation: Some(String::new()), polls: Some(polls) };
    let rules = process::PollRules { hasty_threshold: Some(1), ..Default::default() };
    let turn = terminal::TurnMeta { adaptive: Some(Default::default()) };
    let terminal = terminal::Meta { because: Some(String::new()), ..Default::default() };
    let page = webview::PageOptions {
        locale: Some(String::new()),
        time_zone: Some(String::new()),
        user_agent: Some(String::new()),
    };
    let of_process = passage("process", "`explanation` says", "meta: option");
    let of_polls = passage("process", "`polls`: `guidance`", "they hold for this session");
    for (text, shape, besides) in [
        (of_process, serde_json::to_value(process), &[][..]),
        (of_polls, serde_json::to_value(rules), &["polls"]),
        (passage("terminal", "`adaptive` has", "meta: option"), serde_json::to_value(turn), &[]),
        (passage("terminal", "`because` says why", "meta: option"), serde_json::to_value(terminal), &[SIGNALED]),
        (passage("webview", "JSON object. `locale`", "options: option"), serde_json::to_value(page), &EXAMPLES),
    ] {
        let written = shape.expect("JSON").to_string();
        for member in quoted(&text).into_iter().filter(|word| !besides.contains(word)) {
            assert!(written.contains(&format!("\"{member}\":")), "`{member}` is not in {written}");
        }
    }
}

const SIGNALED: &str = "it was ended by signal 11 (SIGSEGV)";
const EXAMPLES: [&str; 3] = ["ko-KR", "Asia/Seoul", "invalid"];
