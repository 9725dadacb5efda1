//! Whole numbers that were written with a fraction.
//!
//! To JSON Schema `1.0` is an integer, and some clients write every number so;
//! serde takes it for a float and refuses it where an integer belongs.

use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

/// The largest whole number up to which a float stands for exactly one.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads JSON with such numbers as integers; none where that does not help
/// either. Only for text that was refused as it stands.
pub(crate) fn read_with_whole_numbers<T: DeserializeOwned>(text: &str) -> Option<T> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    make_whole(&mut value);
    serde_json::from_value(value).ok()
}

fn make_whole(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(make_whole),
        Value::Object(members) => members.values_mut().for_each(make_whole),
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or(f64::NAN);
            if float.fract() == 0.0 && float.abs() <= LARGEST_EXACT {
                #[expect(clippy::cast_possible_truncation, reason = "whole, and within what i64 holds")]
                let whole = float as i64;
                *number = Number::from(whole);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_read_with_or_without_a_fraction_and_others_stay_refused() {
        assert_eq!(read_with_whole_numbers::<Vec<u32>>("[1.0, 2, 3e2]"), Some(vec![1, 2, 300]));
        assert_eq!(read_with_whole_numbers::<Vec<i64>>("[-9007199254740992.0]"), Some(vec![-9_007_199_254_740_992]));
        assert_eq!(read_with_whole_numbers::<Vec<u32>>("[1.5]"), None);
        assert_eq!(read_with_whole_numbers::<Vec<u32>>("[-1.0]"), None);
        assert_eq!(read_with_whole_numbers::<Vec<i64>>("[1e300]"), None);
    }
}
