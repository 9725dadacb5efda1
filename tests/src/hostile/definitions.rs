//! What a plugin says of itself: tools with their schemas, prompts, templates, resources,
//! and what it answers of them.

use serde_json::{Map, Value};
use wharf_core::{
    AnswerShare, Claims, Content, SchemaBudget, Tool, ToolDefinition,
    offer::{self, MAX_COMPLETIONS},
    service::offer::{
        PromptAnswer, PromptArgument, PromptDefinition, PromptMessage, ResourceContent, ResourceDefinition,
        ResourceTemplate, Role,
    },
};

use super::{assert_told, is_own, is_visible, texts};

/// The first byte says what is defined, the rest is the texts of it.
pub fn definitions(bytes: &[u8]) {
    let [kind, rest @ ..] = bytes else { return };
    match kind % 6 {
        0 => tool(texts(rest)),
        1 => prompt(texts(rest)),
        2 => template(texts(rest)),
        3 => resource(texts(rest)),
        4 => prompt_answer(texts(rest)),
        _ => completions(texts(rest)),
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// As the engine reads it. What is accepted is fit for a client, stays so, and its schemas
/// say the same of the same value.
fn tool([name, description, input, output, meta, value]: [String; 6]) {
    let Some(input_schema) = object(&input) else { return };
    let (output_schema, meta) = (object(&output), object(&meta).unwrap_or_default());
    let (input_schema, output_schema) = (input_schema.into(), output_schema.map(Into::into));
    let definition = ToolDefinition { name, description, input_schema, output_schema, meta };
    let tool = match definition.cleaned().and_then(|cleaned| Tool::compile(cleaned, &mut SchemaBudget::default())) {
        Ok(tool) => tool,
        Err(error) => return assert_told(&error.to_string()),
    };
    let definition = &tool.definition;
    let (input, output) = (&definition.input_schema, &definition.output_schema);
    for schema in [Some(input), output.as_ref()].into_iter().flatten() {
        // Line ends may be among the values that a tool takes.
        assert!(is_shown(&serde_json::json!(schema)), "{schema:?}");
    }
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    assert!(definition.name.bytes().all(legal) && !definition.name.contains("__"), "{:?}", definition.name);
    assert!(is_visible(&definition.description) && is_own(&definition.meta), "{definition:?}");
    assert_eq!(definition.clone().cleaned().as_ref(), Ok(definition), "cleaned twice is another");
    // A model cannot be shown what is the host's.
    let properties = definition.input_schema.get("properties").and_then(Value::as_object);
    let hidden = properties.and_then(|properties| properties.keys().find(|name| name.starts_with("__")));
    assert_eq!(hidden, None, "a property that is the host's");
    let Ok(value) = serde_json::from_str(&value) else { return };
    for schema in [Some(&tool.input), tool.output.as_ref()].into_iter().flatten() {
        let checked = schema.check(&value);
        assert_eq!(checked, schema.check(&value));
        // It is told to a client together with what broke it.
        if let Err(failure) = checked {
            let told = failure.to_string();
            assert!(told.len() <= 16 << 10, "{} bytes of violations", told.len());
        }
    }
}

/// Whether nothing in a schema is there unseen.
fn is_shown(value: &Value) -> bool {
    let seen = |text: &str| is_visible(&text.replace('\r', ""));
    match value {
        Value::String(text) => seen(text),
        Value::Array(items) => items.iter().all(is_shown),
        Value::Object(members) => members.iter().all(|(name, member)| seen(name) && is_shown(member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn prompt([name, description, argument, about, meta]: [String; 5]) {
    let argument = PromptArgument { name: argument, description: about, required: true };
    let meta = object(&meta).unwrap_or_default();
    let prompt = PromptDefinition { name, description, arguments: vec![argument], meta };
    match offer::check_prompts(vec![prompt]) {
        Err(error) => assert_told(&error.to_string()),
        Ok(prompts) => {
            for prompt in &prompts {
                assert!(is_visible(&prompt.description) && is_own(&prompt.meta), "{prompt:?}");
                let clean = |argument: &PromptArgument| is_visible(&argument.name) && is_visible(&argument.description);
                assert!(prompt.arguments.iter().all(clean), "{prompt:?}");
            }
            assert_eq!(offer::check_prompts(prompts.clone()).as_ref(), Ok(&prompts), "checked twice is another");
        }
    }
}

/// Claims, where they are some.
fn claims(claim: String) -> Option<Claims> {
    match Claims::new(vec![claim]) {
        Ok(claims) => Some(claims),
        Err(error) => {
            assert_told(&error.to_string());
            None
        }
    }
}

fn template([claim, uri_template, name, description, mime_type, meta]: [String; 6]) {
    let Some(claims) = claims(claim) else { return };
    let mime_type = Some(mime_type).filter(|mime_type| !mime_type.is_empty());
    let meta = object(&meta).unwrap_or_default();
    let template = ResourceTemplate { uri_template, name, description, mime_type, meta };
    match offer::check_templates(vec![template], &claims) {
        Err(error) => assert_told(&error.to_string()),
        Ok(templates) => {
            for template in &templates {
                assert!(claims.iter().any(|claim| template.uri_template.starts_with(claim)), "{template:?}");
                assert!(is_visible(&template.name) && is_visible(&template.description), "{template:?}");
                assert!(is_own(&template.meta), "{template:?}");
            }
        }
    }
}

fn resource([claim, uri, name, description, mime_type, data]: [String; 6]) {
    let Some(claims) = claims(claim) else { return };
    let content = Content { mime_type: mime_type.clone(), data: data.into_bytes(), meta: Map::new() };
    let memory = AnswerShare::default();
    let listed = ResourceDefinition {
        uri: uri.clone(),
        name,
        description,
        mime_type: Some(mime_type),
        meta: Map::new(),
        memory,
    };
    match offer::checked_listing(vec![listed.clone(), listed], &claims) {
        Err(error) => assert_told(&error.message),
        Ok(listed) => {
            assert_eq!(listed.len(), 1, "an address is listed once");
            assert!(is_visible(&listed[0].name) && is_visible(&listed[0].description), "{listed:?}");
            assert!(listed[0].uri.bytes().all(|byte| byte.is_ascii_graphic()), "{listed:?}");
        }
    }
    match offer::checked_parts(vec![ResourceContent { uri, content, memory: AnswerShare::default() }], &claims) {
        Err(error) => assert_told(&error.message),
        Ok(parts) => parts.iter().for_each(|part| assert_content(&part.content)),
    }
}

fn prompt_answer([description, mime_type, data, meta]: [String; 4]) {
    let content = Content { mime_type, data: data.into_bytes(), meta: object(&meta).unwrap_or_default() };
    let messages = vec![PromptMessage { role: Role::User, content }];
    let answer = PromptAnswer { description: Some(description), messages, ..PromptAnswer::default() };
    match answer.checked() {
        Err(error) => assert_told(&error.message),
        Ok(answer) => {
            assert!(answer.description.as_deref().is_none_or(is_visible), "{answer:?}");
            answer.messages.iter().for_each(|message| assert_content(&message.content));
        }
    }
}

fn completions([value, many]: [String; 2]) {
    let completed = offer::completions(vec![value; many.len()], None, false);
    assert!(completed.values.len() <= MAX_COMPLETIONS && completed.has_more == (many.len() > MAX_COMPLETIONS));
    let shown = |value: &String| is_visible(value) && !value.contains(['\n', '\r', '\t']);
    assert!(completed.values.iter().all(shown), "{completed:?}");
}

/// A part as a client may see it.
pub(super) fn assert_content(content: &Content) {
    assert!((1..=255).contains(&content.mime_type.len()), "{:?}", content.mime_type);
    assert!(content.mime_type.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{:?}", content.mime_type);
    assert!(is_own(&content.meta), "{content:?}");
    if wharf_core::tool::is_text(&content.mime_type) {
        let text = std::str::from_utf8(&content.data);
        assert!(text.is_ok() || content.mime_type != "text/plain", "a text that is none");
        assert!(text.is_ok_and(is_visible) || text.is_err(), "{content:?}");
    }
}
