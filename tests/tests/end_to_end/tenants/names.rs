//! The identifiers of what the first tenant has, and others like them that name nothing.

use serde_json::Value;

/// A number that nothing has here.
const NO_NUMBER: u64 = 4_711;
/// How many characters of the end of an identifier are others in one that is made up.
const CHANGED: usize = 6;

/// By what cases call each.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<(&'static str, Value)>);

impl Names {
    /// From now on `$name` in a case is this.
    pub(super) fn add(&mut self, name: &'static str, identifier: &Value) {
        assert!(identifier.is_string() || identifier.is_u64(), "{name} is no identifier: {identifier}");
        self.0.push((name, identifier.clone()));
    }

    /// A case with identifiers that exist.
    pub(super) fn real(&self, case: &Value) -> Value {
        self.filled(case, Value::clone)
    }

    /// The same with identifiers that never existed.
    pub(super) fn made_up(&self, case: &Value) -> Value {
        self.filled(case, made_up)
    }

    fn filled(&self, case: &Value, choose: fn(&Value) -> Value) -> Value {
        match case {
            Value::String(text) => self.in_text(text, choose),
            Value::Array(items) => items.iter().map(|item| self.filled(item, choose)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.filled(value, choose))).collect()
            }
            other => other.clone(),
        }
    }

    fn in_text(&self, text: &str, choose: fn(&Value) -> Value) -> Value {
        if let Some((_, identifier)) = self.0.iter().find(|(name, _)| text == *name) {
            return choose(identifier);
        }
        let filled = self.0.iter().fold(text.to_owned(), |text, (name, identifier)| match choose(identifier) {
            Value::String(identifier) => text.replace(name, &identifier),
            number => text.replace(name, &number.to_string()),
        });
        assert!(!filled.contains('$'), "no such name: {filled}");
        filled.into()
    }

    /// What was told, with the names in place of identifiers, real or not, and `#` for each number.
    pub(super) fn masked(&self, told: &str) -> String {
        let texts = self.0.iter().filter_map(|(name, identifier)| Some((name, identifier.as_str()?)));
        let named = texts.fold(told.to_owned(), |told, (name, identifier)| {
            told.replace(identifier, name).replace(&changed(identifier), name)
        });
        masked_numbers(&named)
    }

    /// Whether the text tells an identifier that nobody can guess.
    pub(super) fn are_in(&self, told: &str) -> bool {
        let long = self.0.iter().filter_map(|(_, identifier)| identifier.as_str()).filter(|text| text.len() >= 20);
        long.into_iter().any(|identifier| told.contains(identifier))
    }
}

/// A text with `#` for each number, so that times are no difference.
pub(super) fn masked_numbers(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '0'..='9' if masked.ends_with('#') => {}
            '0'..='9' => masked.push('#'),
            other => masked.push(other),
        }
    }
    masked
}

fn made_up(identifier: &Value) -> Value {
    identifier.as_str().map_or_else(|| NO_NUMBER.into(), |text| changed(text).into())
}

/// Of the same form, whatever that is.
fn changed(identifier: &str) -> String {
    let kept = identifier.chars().count().saturating_sub(CHANGED);
    let next = |character: char| match character {
        '9' => '0',
        'f' => 'a',
        'z' => 'g',
        '0'..='8' | 'a'..='e' | 'g'..='y' => char::from_u32(u32::from(character) + 1).unwrap_or(character),
        other => other,
    };
    identifier.chars().enumerate().map(|(at, each)| if at < kept { each } else { next(each) }).collect()
}
