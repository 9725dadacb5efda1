//! What JSON Schema calls equal: numbers by their value, objects whatever the
//! order of their members. Counted as it goes.

use std::{
    cmp::Ordering,
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
};

use serde_json::{Number, Value};

use super::meter::{Meter, Stopped};

/// Whether two values are equal.
pub(super) fn equal(one: &Value, other: &Value, meter: &mut Meter) -> Result<bool, Stopped> {
    meter.spend(1)?;
    Ok(match (one, other) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        (Value::String(one), Value::String(other)) => {
            if one.len() != other.len() {
                return Ok(false);
            }
            meter.spend_bytes(one.len())?;
            one == other
        }
        (Value::Array(one), Value::Array(other)) => {
            if one.len() != other.len() {
                return Ok(false);
            }
            for (one, other) in one.iter().zip(other) {
                if !equal(one, other, meter)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Object(one), Value::Object(other)) => {
            if one.len() != other.len() {
                return Ok(false);
            }
            for (name, value) in one {
                meter.spend_lookup(name.len(), other.len())?;
                match other.get(name) {
                    Some(found) if equal(value, found, meter)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        _ => false,
    })
}

/// Compares numbers by what they are, however they are written.
pub(super) fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        (Some(one), None) => with_fraction(one, other.as_f64()?),
        (None, Some(other)) => with_fraction(other, one.as_f64()?).map(Ordering::reverse),
        (None, None) => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// A number that is kept as an integer.
fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn with_fraction(whole: i128, fraction: f64) -> Option<Ordering> {
    // No integer of 64 bits is beyond this.
    const BEYOND: f64 = 1e20;
    if fraction.is_nan() {
        return None;
    }
    if fraction >= BEYOND {
        return Some(Ordering::Less);
    }
    if fraction <= -BEYOND {
        return Some(Ordering::Greater);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is a whole number below 1e20")]
    let floor = fraction.floor() as i128;
    Some(whole.cmp(&floor).then(if fraction > fraction.floor() { Ordering::Less } else { Ordering::Equal }))
}

/// Whether a number is an integer to JSON Schema, as 1.0 is.
pub(super) fn is_integer(number: &Number) -> bool {
    whole(number).is_some() || number.as_f64().is_some_and(|float| float.is_finite() && float.fract() == 0.0)
}

/// Steps that [`is_multiple`] takes: of fractions, up to 650 divisions of 128 bits, one for
/// each power of ten between them, and two texts.
pub(super) fn multiple_steps(number: &Number, of: &Number) -> u64 {
    let is_whole = |number: &Number| number.is_i64() || number.is_u64();
    if is_whole(number) && is_whole(of) { 8 } else { 80 }
}

/// Whether `number` is a multiple of `of` in the decimals that both are written in:
/// 0.3 is one of 0.1.
pub(super) fn is_multiple(number: &Number, of: &Number) -> bool {
    let (Some((value, value_exponent)), Some((of, of_exponent))) = (decimal(number), decimal(of)) else {
        return false;
    };
    if value == 0 || of == 0 {
        return value == 0;
    }
    let shift = value_exponent - of_exponent;
    if shift >= 0 {
        // Both factors are below `of`, which has less than 64 bits.
        let power = (0..shift).try_fold(1 % of, |power, _| if power == 0 { Err(0) } else { Ok(power * 10 % of) });
        let power: u128 = power.unwrap_or_else(|zero| zero);
        return ((value % of) * power).is_multiple_of(of);
    }
    let scaled = u32::try_from(-shift).ok().and_then(|shift| 10u128.checked_pow(shift)?.checked_mul(of));
    // A divisor beyond 128 bits is larger than any value.
    scaled.is_some_and(|of| value % of == 0)
}

/// The digits of a number without its sign, and the power of ten that they are of.
fn decimal(number: &Number) -> Option<(u128, i32)> {
    if let Some(whole) = whole(number) {
        return Some((whole.unsigned_abs(), 0));
    }
    let text = format!("{:e}", number.as_f64()?.abs());
    let (digits, exponent) = text.split_once('e')?;
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent = exponent.parse::<i32>().ok()? - i32::try_from(after.len()).ok()?;
    Some((format!("{before}{after}").parse().ok()?, exponent))
}

/// Whether no two of these are equal.
pub(super) fn all_differ(items: &[Value], meter: &mut Meter) -> Result<bool, Stopped> {
    let hasher = RandomState::new();
    // The places of those of one hash, of which there are two by chance or by equality.
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        // What is kept of it costs more than looking at it.
        meter.spend(4)?;
        let alike = seen.entry(hash(item, &hasher, meter)?).or_default();
        for other in alike.iter() {
            if equal(item, &items[*other], meter)? {
                return Ok(false);
            }
        }
        alike.push(at);
    }
    Ok(true)
}

/// The same for equal values; the random keys keep anybody from choosing other
/// values with the same hash.
fn hash(value: &Value, keys: &RandomState, meter: &mut Meter) -> Result<u64, Stopped> {
    meter.spend(2)?;
    Ok(match value {
        Value::Null => 1,
        Value::Bool(value) => 2 + u64::from(*value),
        Value::Number(number) => match whole(number) {
            Some(whole) => keys.hash_one(whole),
            None => {
                let float = number.as_f64().unwrap_or_default();
                #[expect(clippy::cast_possible_truncation, reason = "it is a whole number below 1e20")]
                if float.fract() == 0.0 && float.abs() < 1e20 {
                    keys.hash_one(float as i128)
                } else {
                    keys.hash_one(float.to_bits())
                }
            }
        },
        Value::String(text) => {
            meter.spend_bytes(text.len())?;
            keys.hash_one(text)
        }
        Value::Array(items) => {
            let mut hasher = keys.build_hasher();
            hasher.write_usize(items.len());
            for item in items {
                hasher.write_u64(hash(item, keys, meter)?);
            }
            hasher.finish()
        }
        Value::Object(members) => {
            let mut all = keys.hash_one(members.len());
            for (name, value) in members {
                meter.spend_bytes(name.len())?;
                all ^= keys.hash_one((name, hash(value, keys, meter)?));
            }
            all
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plenty() -> Meter<'static> {
        Meter::new(1_000_000)
    }

    #[test]
    fn numbers_are_compared_by_their_value() {
        let number = |value: Value| value.as_number().cloned().expect("a number");
        let compared = |one, other| compare(&number(one), &number(other));
        assert_eq!(compared(json!(1), json!(1.0)), Some(Ordering::Equal));
        assert_eq!(compared(json!(u64::MAX), json!(18_446_744_073_709_551_615.0)), Some(Ordering::Less));
        assert_eq!(compared(json!(-2), json!(-1.5)), Some(Ordering::Less));
        assert_eq!(compared(json!(-1), json!(-1.5)), Some(Ordering::Greater));
        assert_eq!(compared(json!(1e300), json!(i64::MAX)), Some(Ordering::Greater));
        assert_eq!(compared(json!(0.0), json!(-0.0)), Some(Ordering::Equal));
        assert!(is_integer(&number(json!(1.0))) && !is_integer(&number(json!(1.5))));
    }

    #[test]
    fn multiples_are_counted_in_decimals() {
        let is = |value: Value, of: Value| {
            is_multiple(value.as_number().expect("a number"), of.as_number().expect("a number"))
        };
        assert!(is(json!(0.3), json!(0.1)) && is(json!(7), json!(3.5)) && is(json!(-9), json!(3)));
        assert!(is(json!(0), json!(0.7)) && is(json!(4.0), json!(2)) && is(json!(1e308), json!(0.5)));
        assert!(is(json!(u64::MAX), json!(5)) && is(json!(1e300), json!(7e299)).eq(&false));
        assert!(!is(json!(0.35), json!(0.1)) && !is(json!(1), json!(1e300)) && !is(json!(7), json!(2)));
        assert!(!is(json!(1e300), json!(3.0)) && is(json!(1e300), json!(8.0)));
        assert!(!is(json!(5e-324), json!(1e308)) && is(json!(1e308), json!(1e-308)));
    }

    #[test]
    fn items_differ_unless_two_are_equal_in_the_schemas_sense() {
        let differ = |value: Value| all_differ(value.as_array().expect("a list"), &mut plenty()).expect("enough");
        assert!(differ(json!([1, "1", true, null, [1], {"a": 1}, {"a": 2}, [1, 2], [2, 1], 1.5])));
        assert!(!differ(json!([1, 2, 1.0])) && !differ(json!([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}])));
        assert!(!differ(json!([[], {}, []])) && differ(json!([])));
    }

    #[test]
    fn a_comparison_takes_steps_for_what_it_compares() {
        let long = json!("x".repeat(1 << 20));
        let mut meter = Meter::new(1_000);
        assert_eq!(equal(&long, &long.clone(), &mut meter), Err(Stopped::Steps));
        let many = json!(vec![1; 10_000]);
        assert_eq!(equal(&many, &many.clone(), &mut Meter::new(5_000)), Err(Stopped::Steps));
    }
}
