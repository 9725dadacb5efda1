//! What a word is completed for.

use crate::words::words;

words! {
    /// What has an argument that is completed. More may come: a plugin answers
    /// those that it does not know with no values.
    Completed, "kind" {
        /// A prompt, by its name.
        Prompt = "prompt";
        /// A template of resources, by itself.
        Template = "template";
    }
}
