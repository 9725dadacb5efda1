//! Tokens of clients over HTTP, and a configuration that is replaced as a whole.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike};

use super::{ConfigurationEdit, EditError, table};

const TOKENS: &str = "tokens";

impl ConfigurationEdit {
    /// Puts another text in the place of all of it.
    ///
    /// # Errors
    /// Where it is no TOML.
    pub(crate) fn replace(&mut self, text: &str) -> Result<(), EditError> {
        let parsed = text.parse::<DocumentMut>();
        self.document = parsed.map_err(|error| EditError::Text { place: self.place(), problem: error.to_string() })?;
        Ok(())
    }

    /// Adds the table of a token, one `[[http.tokens]]` as it is written.
    ///
    /// # Errors
    /// Where `http` or its tokens are written as something else than tables.
    pub(crate) fn add_token(&mut self, lines: &str) -> Result<(), EditError> {
        let written = lines.parse::<DocumentMut>().unwrap_or_default();
        let tokens = written.get("http").and_then(|http| http.get(TOKENS)).and_then(Item::as_array_of_tables);
        let http = table(self.document.as_table_mut(), "http", true)?;
        let present = http.entry(TOKENS).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let present = present.as_array_of_tables_mut();
        let present = present.ok_or_else(|| EditError::NoTable { key: "http.tokens".to_owned() })?;
        for token in tokens.into_iter().flatten() {
            // Key by key: a table knows where it stood in the text that it is of.
            present.push(token.iter().map(|(key, item)| (key.to_owned(), item.clone())).collect::<Table>());
        }
        Ok(())
    }

    /// Takes the table of a token out. False where there is none of this name.
    pub(crate) fn remove_token(&mut self, name: &str) -> bool {
        let http = self.document.get_mut("http").and_then(Item::as_table_like_mut);
        let Some(tokens) = http.and_then(|http: &mut dyn TableLike| http.get_mut(TOKENS)) else { return false };
        let is_named = |named: Option<&Item>| named.and_then(Item::as_str) == Some(name);
        if let Some(tokens) = tokens.as_array_of_tables_mut() {
            let before = tokens.len();
            tokens.retain(|token| !is_named(token.get("name")));
            return tokens.len() < before;
        }
        let Some(tokens) = tokens.as_array_mut() else { return false };
        let before = tokens.len();
        let of = |token: &toml_edit::Value| token.as_inline_table()?.get("name")?.as_str().map(str::to_owned);
        tokens.retain(|token| of(token).as_deref() != Some(name));
        tokens.len() < before
    }
}
