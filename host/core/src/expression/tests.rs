use super::*;

fn steps(expression: &str) -> u64 {
    let mut budget = CompileBudget::new(u64::MAX);
    budget.spend_on(expression).expect("enough");
    u64::MAX - budget.left()
}

#[test]
fn what_takes_long_to_compile_is_refused_whatever_it_comes_to() {
    let wide = "[!-\u{10fffd}]";
    let descending: String = (0..340).filter_map(|at| char::from_u32(0x9000 - 2 * at)).collect();
    for costly in [
        // All cases of a million characters, for nothing.
        format!("(?i){wide}{{0}}"),
        format!("(?:(?i:(?:{wide}){{0}})){{0}}"),
        format!("a(?i)|{wide}{{0}}"),
        // What is taken away at last was there before.
        format!("(?i)[^{wide}]"),
        "(?i)[^[^a]]".to_owned(),
        "(?i)[\\s\\S]".to_owned(),
        "(?i)\\P{Greek}|\\p{Any}".to_owned(),
        format!("(?i)[a&&{wide}]"),
        // One more character joins what has no case to what has.
        "(?i)[[\u{1e944}-\u{10ffff}\u{1e921}]b]".to_owned(),
        // Tables of thousands of ranges.
        "\\w{20}".to_owned(),
        "(?:\\w{5}){5}".to_owned(),
        "\\p{Age=16.0}{0}".repeat(30),
        format!("[{}]", "\\pL\\pN".repeat(100)),
        format!("[{}\\w]", "\\w&&".repeat(200)),
        "\\pL|\\pN|".repeat(100),
        // A class of few bytes that is put together anew each time.
        format!("[{descending}]{{50}}"),
        ".{1000}".to_owned(),
        "(?:a{1,1000}){1,1000}".to_owned(),
        "(?:ab|cd){10}|".repeat(200),
    ] {
        let mut budget = CompileBudget::new(CompileBudget::REQUEST);
        let refused = budget.spend_on(&costly);
        assert_eq!(refused, Err(CostlyExpression { steps: CompileBudget::REQUEST }), "{costly}: {}", steps(&costly));
        assert_eq!(budget.left(), 0, "what is refused leaves nothing to the next one");
    }
}

#[test]
fn expressions_of_every_day_are_compiled() {
    for everyday in [
        r"^\w+@[\w.-]+:[\w/~.-]+[$#] $",
        r"(?i)error.{0,200}failed",
        r"(?i)^(password|passphrase)( for [^:]{1,100})?:\s?$",
        r"listening on (https?://[^\s:]+):(\d{2,5})",
        r"[\s\S]*\bdone\b",
        r"(?i)[^\s]+: (?-i:[\s\S])",
        r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$",
        r"^[\p{L}\p{N} _.-]{1,4}$",
        r"(?i)^\p{L}+ [\w.-]+> $",
        r"^(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63}$",
        "❯ $",
    ] {
        let steps = steps(everyday);
        assert!(steps < CompileBudget::REQUEST / 2, "{everyday}: {steps}");
    }
    let mut budget = CompileBudget::new(CompileBudget::REQUEST);
    for number in 0..16 {
        budget.spend_on(&format!(r"(?i)^(widget|gadget)-{number} \[[0-9.]{{1,9}}\]: ?$")).expect("16 together");
    }
}

#[test]
fn expressions_share_what_is_left() {
    let mut budget = CompileBudget::new(CompileBudget::REQUEST);
    let spent = (1..=100).find(|_| budget.spend_on(r"\w+").is_err()).expect("it is used up");
    assert!((8..16).contains(&spent), "{spent}");
}

#[test]
fn flags_hold_as_far_as_their_group() {
    let folded = steps(r"(?i)[\s\S]");
    for within in [r"(?i:[\s\S])", r"(?:(?i)[\s\S])", r"(?i)(?-i:a)[\s\S]", r"a|(?i)b|[\s\S]"] {
        assert!(steps(within) >= folded, "{within}");
    }
    for without in [r"(?i:a)[\s\S]", r"(?:(?i)a)[\s\S]", r"(?i)(?-i:[\s\S])", r"(?i)(?-i)[\s\S]"] {
        assert!(steps(without) < folded / 100, "{without}");
    }
}

#[test]
fn what_is_no_expression_is_left_to_the_compiler() {
    for malformed in ["(", "[", r"\p{Nothing}", r"(?-u:\p{L})", "(?i", "a{2,1}", "*"] {
        assert!(steps(malformed) < 1_000, "{malformed}");
    }
}
