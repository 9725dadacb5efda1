//! Names of documents: what references of elements begin with. No two documents of a session have the
//! same one, so a reference of a page that is gone never names an element of the next page.

use wharf_sdk::{Call, Scope, ToolError};

/// Without those that could be taken for a digit, and without the `e` that ends a name.
const LETTERS: &[u8; 22] = b"abcdfghjkmnpqrstuvwxyz";
const DIGITS: u64 = 10;

/// The name of a document that is new in this session. It fails where no state can be written, which
/// leaves pages usable.
pub(super) fn name(call: &Call) -> Result<String, ToolError> {
    let documents = call.state(Scope::Session, "documents")?;
    let number = documents.update("named", |named: &mut u64| {
        *named += 1;
        Ok(*named - 1)
    })?;
    Ok(name_of(number))
}

/// Letters and one digit, few for the first documents: a model reads them with every element.
fn name_of(number: u64) -> String {
    let letters = LETTERS.len() as u64;
    let (mut rest, digit) = (number / DIGITS + 1, number % DIGITS);
    let mut name = digit.to_string();
    while rest > 0 {
        rest -= 1;
        name.insert(0, char::from(LETTERS[(rest % letters) as usize]));
        rest /= letters;
    }
    name
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_documents_have_the_same_name_and_the_first_ones_have_short_ones() {
        let names: BTreeSet<_> = (0..20_000).map(name_of).collect();
        assert_eq!(names.len(), 20_000);
        assert_eq!([0, 9, 10, 219, 220].map(name_of), ["a0", "a9", "b0", "z9", "aa0"]);
        let longest = name_of(u64::MAX);
        assert!(longest.len() <= 16, "the page takes 15 letters and a digit for one: {longest}");
    }
}
