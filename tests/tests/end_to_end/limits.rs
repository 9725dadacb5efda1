//! Every limit, broken by a guest: what is allowed works, what is beyond ends
//! with an error that names the limit, and the host goes on.

mod answers;
mod call;
mod connections;
mod front_end;
mod handles;
mod host;
mod http;
mod json;
mod process;
mod request;
mod schema;
mod stream;
mod terminal;
mod waiting;
mod webview;
mod workers;
mod workspace;

use std::time::Duration;

use wharf::{
    Answer, CallLimits, Code, Error, HostLimits,
    limit::{
        HttpLimits, LimitInfo, LimitScope, ProcessLimits, RequestLimits, StreamLimits, TerminalLimits, WebViewLimits,
    },
};

/// Rows of the table with the test that breaks each.
type Tested = &'static [(&'static str, fn())];

#[test]
fn every_row_of_the_tables_is_broken_by_a_test() {
    let untested = |table: &'static [LimitInfo], tested: Tested| -> Vec<&'static str> {
        table.iter().map(|row| row.name).filter(|name| !tested.iter().any(|(row, _)| row == name)).collect()
    };
    assert_eq!(untested(CallLimits::TABLE, call::TESTED), [""; 0]);
    assert_eq!(untested(HostLimits::TABLE, host::TESTED), [""; 0]);
    assert_eq!(untested(ProcessLimits::TABLE, process::TESTED), [""; 0]);
    assert_eq!(untested(TerminalLimits::TABLE, terminal::TESTED), [""; 0]);
    assert_eq!(untested(WebViewLimits::TABLE, webview::TESTED), [""; 0]);
    assert_eq!(untested(StreamLimits::TABLE, stream::TESTED), [""; 0]);
    assert_eq!(untested(HttpLimits::TABLE, http::TESTED), [""; 0]);
    assert_eq!(untested(RequestLimits::TABLE, request::TESTED), [""; 0]);
}

const TABLES: [&[LimitInfo]; 8] = [
    CallLimits::TABLE,
    HostLimits::TABLE,
    ProcessLimits::TABLE,
    TerminalLimits::TABLE,
    WebViewLimits::TABLE,
    StreamLimits::TABLE,
    HttpLimits::TABLE,
    RequestLimits::TABLE,
];

/// The cells of the table of security; the one before the first is empty.
fn rows_of_security() -> Vec<Vec<&'static str>> {
    let security = include_str!("../../../docs/src/security/shares.md");
    let (_, table) = security.split_once("## The table").expect("the section");
    let lines = table.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let lines = lines.take_while(|line| line.starts_with('|'));
    lines.map(|line| line.split('|').map(str::trim).collect()).collect()
}

/// The limit that a cell names.
fn named(cell: &'static str) -> &'static str {
    cell.split('`').nth(1).unwrap_or_default()
}

/// Whose limit a cell says it names: what stands before the colon, or the column's.
fn said_of(cell: &'static str, column: &'static str) -> &'static str {
    let of = cell.split_once(':').map_or(column, |(of, _)| of);
    match of.trim_start_matches("of ").trim_start_matches("a ").trim_start_matches("an ") {
        "each folder" | "browser" => "each",
        whose => whose,
    }
}

#[test]
fn the_table_of_security_says_whose_each_limit_is() {
    for row in rows_of_security() {
        let cells = [(row[2], "session"), (row[3], "tenant"), (row[4], "host")];
        let cells: Vec<_> = cells.map(|(cell, column)| (named(cell), said_of(cell, column))).into();
        let cells: Vec<_> = cells.into_iter().filter(|(name, _)| !name.is_empty()).collect();
        let declared = |table: &[LimitInfo], name: &str| {
            table.iter().find(|limit| limit.name == name).map(|limit| limit.scope.as_str())
        };
        // Two tables have limits of some names: what a row names in one table, it means there.
        let fits = |table: &[LimitInfo]| {
            let (in_it, elsewhere): (Vec<_>, Vec<_>) =
                cells.iter().copied().partition(|(name, _)| declared(table, name).is_some());
            !in_it.is_empty()
                && in_it.iter().all(|(name, whose)| declared(table, name) == Some(whose))
                && elsewhere
                    .iter()
                    .all(|(name, whose)| TABLES.into_iter().any(|other| declared(other, name) == Some(whose)))
        };
        assert!(cells.is_empty() || TABLES.into_iter().any(fits), "no table declares {cells:?}");
    }
}

#[test]
fn every_limit_of_a_tenant_has_a_row_in_the_table_of_security() {
    let rows: Vec<Vec<&str>> = rows_of_security().into_iter().map(|row| row.into_iter().map(named).collect()).collect();
    let known = |name: &str| TABLES.into_iter().flatten().find(|limit| limit.name == name);
    for name in rows.iter().flatten().filter(|name| !name.is_empty()) {
        assert!(known(name).is_some(), "no limit is called `{name}`");
    }
    for table in TABLES {
        for limit in table.iter().filter(|limit| limit.scope == LimitScope::Tenant) {
            let row = rows.iter().find(|row| row[3] == limit.name);
            let row = row.unwrap_or_else(|| panic!("`{}` has no row in docs/src/security/shares.md", limit.name));
            // The host has room for another tenant beside one that takes all it may.
            if let Some(host) = table.iter().find(|other| other.name == row[4]) {
                assert!(limit.default < host.default, "`{}` leaves no room", limit.name);
            }
        }
    }
}

/// The call was ended by this limit, and says so.
fn assert_ended_by(limit: &str, code: Code, outcome: Result<Answer, Error>) {
    let error = outcome.expect_err(limit);
    assert_eq!(error.code, code, "{error}");
    assert!(error.message.contains(limit), "the error does not name `{limit}`: {error}");
}

/// Moves the clock of this test forward, for all of its host that waits.
async fn later(seconds: u64) {
    wharf_tests::of_the_library_alone("this test moves the clock");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}
