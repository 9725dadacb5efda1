//! Resources under `test://`.

use serde_json::json;
use wharf_sdk::resource::variables;
use wharf_sdk::{Call, Content, Resource, ResourcePart, ResourceTemplate, Resources, ToolError};

use crate::PIXEL;

/// The one that clients subscribe to.
pub(crate) const WATCHED: &str = "test://watched-resource";
const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const TEMPLATE: &str = "test://template/{id}/data";

/// What the suite reads.
#[derive(Debug)]
pub(crate) struct Fixtures;

impl Resources for Fixtures {
    const CLAIMS: &'static [&'static str] = &["test://"];

    fn templates() -> Vec<ResourceTemplate> {
        let template = ResourceTemplate::new(TEMPLATE, "Resource template");
        vec![template.described("A resource with a variable.").typed("application/json")]
    }

    fn list(_call: &Call) -> Result<Vec<Resource>, ToolError> {
        Ok(vec![
            Resource::new(TEXT, "Static text").described("A text that stays the same.").typed("text/plain"),
            Resource::new(BINARY, "Static binary").described("A picture that stays the same.").typed("image/png"),
            Resource::new(WATCHED, "Watched resource").described("A text to subscribe to.").typed("text/plain"),
        ])
    }

    fn read(_call: &Call, uri: &str) -> Result<Vec<ResourcePart>, ToolError> {
        let content = match uri {
            TEXT => Content::text("This is the content of the static text resource."),
            BINARY => Content::data("image/png", PIXEL.to_vec()),
            WATCHED => Content::text("Watched resource content"),
            _ => of_template(uri)?,
        };
        Ok(vec![ResourcePart::new(uri, content)])
    }
}

fn of_template(uri: &str) -> Result<Content, ToolError> {
    let id = variables(TEMPLATE, uri).and_then(|mut variables| variables.remove("id"));
    let id = id.ok_or_else(|| ToolError::not_found(format!("there is no resource `{uri}`")))?;
    let json = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string();
    Ok(Content::data("application/json", json.into_bytes()))
}
