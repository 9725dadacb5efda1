//! What a plugin can do, and what ends its calls, is the same in a process of its own.

use std::process::Command;

use serde_json::json;
use wharf_tests::{ISOLATED, of_the_library_alone};

use super::{ALONE, alone, isolated, workers};

#[tokio::test]
async fn limits_end_a_call_and_no_process() {
    let _alone = alone().await;
    let limits = [
        ("cpu_time_milliseconds", 100, "hostile__spin", json!({})),
        ("wall_time_milliseconds", 300, "hostile__sleep_forever", json!({})),
        ("output_bytes", 1 << 20, "hostile__output", json!({"bytes": 2 << 20})),
    ];
    for (limit, value, tool, arguments) in limits {
        let fixture = isolated("").limit(limit, value).open().await;
        let before = workers();
        let ended = fixture.call(tool, arguments).await;
        let told = match ended {
            Ok(answer) => format!("{answer:?}"),
            Err(error) => error.to_string(),
        };
        assert!(told.contains(limit), "{limit}: {told}");
        fixture.works().await;
        assert_eq!(workers(), before, "{limit}");
    }
}

/// Tests of what plugins can do and of what holds them in, of all kinds of functions of the host.
const OF_PLUGINS: [&str; 9] = [
    "drafts::",
    "failures::",
    "functions::",
    "languages::",
    "limits::call::",
    "offers::",
    "requests::",
    "sealed::",
    "workspace::",
];

#[test]
fn what_tests_of_plugins_ask_holds_in_processes_too() {
    of_the_library_alone("it runs tests that do");
    let _alone = ALONE.blocking_lock();
    let tests = std::env::current_exe().expect("this program");
    let ran = Command::new(tests).args(OF_PLUGINS).args(["--test-threads", "2"]).env(ISOLATED, "1").output();
    let ran = ran.expect("it starts");
    let said = String::from_utf8_lossy(&ran.stdout);
    let summary = said.lines().rfind(|line| line.starts_with("test result: ")).unwrap_or("nothing");
    assert!(ran.status.success(), "{summary}\n{}", said.split("\nfailures:\n").nth(1).unwrap_or(&said));
    let passed: u32 = summary.split(' ').nth(3).and_then(|count| count.parse().ok()).unwrap_or(0);
    assert!(passed >= 100, "{summary}");
}
