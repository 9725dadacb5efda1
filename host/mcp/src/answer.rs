//! Answers and errors of tools in the protocol's shape.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmcp::model::{
    Annotations, AudioContent, CallToolResult, ContentBlock, EmbeddedResource, ImageContent, MetaObject,
    ResourceContents, TextContent,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wharf_contract::tools::{ANNOTATIONS, URI};
use wharf_core::{Answer, Content, Error, text::visible, tool::is_text};

/// Where a program finds the code of an error.
pub(crate) const ERROR_KEY: &str = "dev.wharf/error";
/// Where it finds that a call was not made as its author may expect.
const WARNING_KEY: &str = "dev.wharf/warning";

/// The result for an answer. A peer of the older era takes objects only as
/// structured content.
pub(crate) fn result(answer: Answer, modern: bool) -> CallToolResult {
    // What it asks for was taken out before, and the client's request keeps the memory.
    let Answer { content, structured, is_error, meta, input_required: _, memory: _ } = answer;
    let mut blocks: Vec<ContentBlock> = content.into_iter().enumerate().map(|(at, part)| block(at, part)).collect();
    if let (Some(structured), true) = (&structured, blocks.is_empty()) {
        blocks.push(ContentBlock::text(structured.to_string()));
    }
    let mut result = CallToolResult::success(blocks);
    result.structured_content = structured.filter(|value| modern || value.is_object());
    result.is_error = Some(is_error);
    result.meta = filled(meta);
    result
}

/// The result for a failed call: text for the model, a code for programs.
pub(crate) fn failure(error: Error) -> CallToolResult {
    // Errors of the host quote names that others chose.
    let message = visible(error.message);
    let detail = json!({"code": error.code.as_str(), "message": message, "retryable": error.retryable});
    let mut result = CallToolResult::error(vec![ContentBlock::text(message)]);
    result.meta = filled(Map::from_iter([(ERROR_KEY.to_owned(), detail)]));
    result
}

/// Adds a warning to what is told beside an answer.
pub(crate) fn warn(meta: &mut Option<MetaObject>, warning: Option<Value>) {
    if let Some(warning) = warning {
        meta.get_or_insert_with(|| MetaObject(Map::new())).0.insert(WARNING_KEY.to_owned(), warning);
    }
}

/// Metadata, where there is any.
pub(crate) fn filled(meta: Map<String, Value>) -> Option<MetaObject> {
    (!meta.is_empty()).then_some(MetaObject(meta))
}

/// One part. Its meta may name a `uri`, which makes it an embedded resource,
/// and `annotations`; other members go into `_meta`.
pub(crate) fn block(at: usize, part: Content) -> ContentBlock {
    let Content { mime_type, data, mut meta } = part;
    let annotations = match meta.is_empty() {
        true => None,
        false => meta.remove(ANNOTATIONS).and_then(|value| Annotations::deserialize(value).ok()),
    };
    let uri = match meta.remove(URI) {
        Some(Value::String(uri)) => Some(uri),
        _ => None,
    };
    let meta = filled(meta);
    match uri {
        None if mime_type == "text/plain" => {
            let mut text = TextContent::new(lossy(data));
            (text.meta, text.annotations) = (meta, annotations);
            ContentBlock::Text(text)
        }
        None if mime_type.starts_with("image/") => {
            let mut image = ImageContent::new(STANDARD.encode(data), mime_type);
            (image.meta, image.annotations) = (meta, annotations);
            ContentBlock::Image(image)
        }
        None if mime_type.starts_with("audio/") => {
            let mut audio = AudioContent::new(STANDARD.encode(data), mime_type);
            (audio.meta, audio.annotations) = (meta, annotations);
            ContentBlock::Audio(audio)
        }
        uri => {
            let uri = uri.unwrap_or_else(|| format!("wharf:answer/{at}"));
            let mut resource = EmbeddedResource::new(text_or_blob(uri, mime_type, data));
            (resource.meta, resource.annotations) = (meta, annotations);
            ContentBlock::Resource(resource)
        }
    }
}

/// What a resource has.
pub(crate) fn contents(uri: String, content: Content) -> ResourceContents {
    let Content { mime_type, data, meta } = content;
    let contents = text_or_blob(uri, mime_type, data);
    match filled(meta) {
        Some(meta) => contents.with_meta(meta),
        None => contents,
    }
}

fn text_or_blob(uri: String, mime_type: String, data: Vec<u8>) -> ResourceContents {
    let contents = match String::from_utf8(data) {
        Ok(text) if is_text(&mime_type) => ResourceContents::text(text, uri),
        Ok(text) => ResourceContents::blob(STANDARD.encode(text), uri),
        Err(error) => ResourceContents::blob(STANDARD.encode(error.into_bytes()), uri),
    };
    contents.with_mime_type(mime_type)
}

fn lossy(data: Vec<u8>) -> String {
    String::from_utf8(data).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wharf_core::Code;

    fn part(mime_type: &str, data: &[u8], meta: Value) -> Content {
        let meta = meta.as_object().expect("an object").clone();
        Content { mime_type: mime_type.to_owned(), data: data.to_vec(), meta }
    }

    fn shown(answer: Answer) -> Value {
        serde_json::to_value(result(answer, true)).expect("serializes")
    }

    #[test]
    fn every_kind_of_content_has_its_own_block() {
        let answer = Answer {
            content: vec![
                part("text/plain", b"hi", json!({"annotations": {"priority": 1.0}, "x": 1})),
                part("image/png", &[1, 2], json!({})),
                part("audio/wav", &[3], json!({})),
                part("application/pdf", &[0xff], json!({})),
                part("application/json", b"{}", json!({"uri": "test://r", "y": 2})),
            ],
            ..Answer::default()
        };
        assert_eq!(
            shown(answer)["content"],
            json!([
                {"type": "text", "text": "hi", "annotations": {"priority": 1.0}, "_meta": {"x": 1}},
                {"type": "image", "mimeType": "image/png", "data": "AQI="},
                {"type": "audio", "mimeType": "audio/wav", "data": "Aw=="},
                {"type": "resource",
                 "resource": {"uri": "wharf:answer/3", "mimeType": "application/pdf", "blob": "/w=="}},
                {"type": "resource", "_meta": {"y": 2},
                 "resource": {"uri": "test://r", "mimeType": "application/json", "text": "{}"}},
            ])
        );
    }

    #[test]
    fn a_resource_is_text_where_it_is_text_and_else_a_blob() {
        let read = |content| serde_json::to_value(contents("test://r".into(), content)).expect("serializes");
        assert_eq!(
            read(part("application/json", b"{}", json!({"x": 1}))),
            json!({"uri": "test://r", "mimeType": "application/json", "text": "{}", "_meta": {"x": 1}})
        );
        assert_eq!(
            read(part("image/png", &[1, 2], json!({}))),
            json!({"uri": "test://r", "mimeType": "image/png", "blob": "AQI="})
        );
        assert_eq!(read(part("text/plain", b"\xff", json!({})))["blob"], "/w==");
    }

    #[test]
    fn a_structured_answer_without_content_is_shown_as_text_too() {
        let answer = Answer { structured: Some(json!({"a": 1})), ..Answer::default() };
        let result = shown(answer.clone());
        assert_eq!(result["content"], json!([{"type": "text", "text": "{\"a\":1}"}]));
        assert_eq!(result["structuredContent"], json!({"a": 1}));
        let spoken = shown(Answer { content: vec![Content::text("one")], ..answer });
        assert_eq!(spoken["content"], json!([{"type": "text", "text": "one"}]));
    }

    #[test]
    fn a_client_of_the_older_era_gets_structured_objects_only() {
        let list = || Answer { structured: Some(json!([1])), ..Answer::default() };
        assert_eq!(result(list(), true).structured_content, Some(json!([1])));
        assert_eq!(result(list(), false).structured_content, None);
    }

    #[test]
    fn a_failure_speaks_to_the_model_and_to_programs() {
        let result = serde_json::to_value(failure(Error::retryable(Code::Limit, "too many"))).expect("serializes");
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"], json!([{"type": "text", "text": "too many"}]));
        assert_eq!(
            result["_meta"]["dev.wharf/error"],
            json!({"code": "limit", "message": "too many", "retryable": true})
        );
    }
}
