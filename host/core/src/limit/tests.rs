use std::time::Duration;

use super::*;

#[test]
fn every_default_is_legal_and_every_row_can_be_set() {
    for row in CallLimits::TABLE {
        assert!((1..=row.ceiling).contains(&row.default), "{}", row.name);
        assert!(CallLimits::default().set(row.name, row.ceiling).is_ok());
    }
    for row in HostLimits::TABLE {
        assert!((1..=row.ceiling).contains(&row.default), "{}", row.name);
        assert!(HostLimits::default().set(row.name, 1).is_ok());
    }
    for row in ProcessLimits::TABLE {
        assert!((1..=row.ceiling).contains(&row.default), "{}", row.name);
        assert!(ProcessLimits::default().set(row.name, row.ceiling).is_ok());
    }
    for row in TerminalLimits::TABLE {
        assert!((1..=row.ceiling).contains(&row.default), "{}", row.name);
        assert!(TerminalLimits::default().set(row.name, row.ceiling).is_ok());
    }
    for row in RequestLimits::TABLE {
        assert!((1..=row.ceiling).contains(&row.default), "{}", row.name);
        assert!(RequestLimits::default().set(row.name, row.ceiling).is_ok());
    }
    for row in WebViewLimits::TABLE {
        assert!((1..=row.ceiling).contains(&row.default), "{}", row.name);
        assert!(WebViewLimits::default().set(row.name, row.ceiling).is_ok());
    }
}

#[test]
fn a_name_that_says_whose_a_limit_is_says_so_truly() {
    let tables = [
        CallLimits::TABLE,
        HostLimits::TABLE,
        ProcessLimits::TABLE,
        TerminalLimits::TABLE,
        WebViewLimits::TABLE,
        StreamLimits::TABLE,
        HttpLimits::TABLE,
        RequestLimits::TABLE,
    ];
    for row in tables.into_iter().flatten() {
        // A rate is no account.
        let named = row.name.rsplit_once("per_").map(|(_, whose)| whose).filter(|whose| *whose != "second");
        assert!(named.is_none_or(|whose| whose == row.scope.as_str()), "{}: {:?}", row.name, row.scope);
    }
}

#[test]
fn a_limit_is_never_zero_above_its_ceiling_or_unknown() {
    let mut limits = CallLimits::default();
    assert!(matches!(limits.set("output_bytes", 0), Err(InvalidLimit::OutOfRange { .. })));
    assert!(matches!(limits.set("output_bytes", u64::MAX), Err(InvalidLimit::OutOfRange { .. })));
    assert!(matches!(limits.set("outputbytes", 1), Err(InvalidLimit::Unknown { .. })));
    assert_eq!(limits, CallLimits::default());
}

#[test]
fn a_tool_may_declare_its_time_up_to_the_operators_ceiling() {
    let limits = CallLimits { wall_time_ceiling_milliseconds: 60_000, ..CallLimits::default() };
    assert_eq!(limits.wall_time(None).time, Duration::from_secs(30));
    let after = limits.wall_time(None).start_after(&limits, Duration::from_secs(3));
    assert_eq!(after.computing, limits.cpu_time() - Duration::from_secs(3), "checking arguments counts");
    let spent = limits.wall_time(None).start_after(&limits, Duration::from_secs(3_600));
    assert_eq!(spent.computing, Duration::ZERO);
    assert_eq!(limits.wall_time(Some(Duration::from_secs(50))).time, Duration::from_secs(50));
    assert_eq!(limits.wall_time(Some(Duration::from_secs(500))).time, Duration::from_secs(60));
}
