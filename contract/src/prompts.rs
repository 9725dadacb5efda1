//! Who says what in a prompt.

use crate::words::words;

words! {
    /// Who says something in a prompt.
    Role, "role" {
        /// The person.
        User = "user";
        /// The model.
        Assistant = "assistant";
    }
}
