use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn ring(entries: u64, bytes: u64) -> LogRing {
    let limits = WebViewLimits { log_entries: entries, log_bytes: bytes, ..WebViewLimits::default() };
    LogRing::new(&limits, PageShares::alone(&limits).log())
}

fn numbers(page: &LogPage) -> Vec<u64> {
    let entries: Vec<Value> = serde_json::from_str(&page.entries).expect("JSON");
    entries.iter().map(|entry| entry["number"].as_u64().expect("a number")).collect()
}

fn entry(text: &str) -> Map<String, Value> {
    Map::from_iter([("text".to_owned(), json!(text))])
}

#[test]
fn a_log_tells_what_it_lost_and_where_to_go_on() {
    let mut log = ring(3, 1 << 20);
    assert_eq!(log.page(0, 10), LogPage { entries: "[]".into(), next: 0, lost: 0 });
    for _ in 0..5 {
        log.push(entry("said"));
    }
    let page = log.page(0, 10);
    assert_eq!((numbers(&page), page.next, page.lost), (vec![3, 4, 5], 5, 2));
    let page = log.page(3, 1);
    assert_eq!((numbers(&page), page.next, page.lost), (vec![4], 4, 0));
    let page = log.page(u64::MAX, 10);
    assert_eq!((numbers(&page), page.next, page.lost), (vec![], 5, 0));
    let entries: Vec<Value> = serde_json::from_str(&log.page(4, 1).entries).expect("JSON");
    assert!(entries[0]["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{entries:?}");
}

#[test]
fn an_entry_that_is_larger_than_the_log_is_lost_and_counted() {
    let mut log = ring(10, 100);
    log.push(entry(&"x".repeat(200)));
    assert_eq!(log.page(0, 10), LogPage { entries: "[]".into(), next: 1, lost: 1 });
    assert_eq!(log.bytes(), 0);
}

proptest! {
    #[test]
    fn whoever_reads_on_sees_each_entry_once_or_is_told_of_it(
        pushes in prop::collection::vec((0..60_usize, 0..4_usize), 1..100),
        most_entries in 1..8_u64,
        most_bytes in 1..600_u64,
    ) {
        let mut log = ring(most_entries, most_bytes);
        let (mut after, mut seen, mut pushed) = (0, 0, 0_u64);
        for (length, reads) in pushes {
            log.push(entry(&"x".repeat(length)));
            pushed += 1;
            prop_assert!(log.bytes() <= most_bytes && log.entries.len() as u64 <= most_entries);
            for _ in 0..reads {
                let page = log.page(after, 2);
                let numbers = numbers(&page);
                prop_assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
                prop_assert!(numbers.first().is_none_or(|first| *first == after + page.lost + 1));
                seen += numbers.len() as u64 + page.lost;
                after = page.next;
                prop_assert_eq!(seen, after);
            }
        }
        while after < pushed {
            let page = log.page(after, 1_000);
            prop_assert!(page.next > after);
            after = page.next;
        }
    }
}
