//! What the official conformance suite of the Model Context Protocol looks for
//! in a server, by its exact names and texts: tools, prompts, resources,
//! completion, and rounds of input.
//!
//! It is written with the SDK alone, as any plugin is. The host answers for what
//! the suite asks of the server itself, such as its headers.

mod asking;
mod contents;
mod events;
mod prompts;
mod resources;
mod rounds;
mod schemas;

use asking::{
    test_elicitation, test_elicitation_sep1034_defaults, test_elicitation_sep1330_enums, test_missing_capability,
    test_sampling, test_streaming_elicitation,
};
use contents::{
    test_audio_content, test_embedded_resource, test_error_handling, test_image_content, test_multiple_content_types,
    test_simple_text,
};
use events::{
    test_logging_tool, test_reconnection, test_tool_with_logging, test_tool_with_progress, test_trigger_prompt_change,
    test_trigger_resource_change, test_trigger_resource_update, test_trigger_tool_change,
};
use prompts::{
    Words, test_input_required_result_prompt, test_prompt_with_arguments, test_prompt_with_embedded_resource,
    test_prompt_with_image, test_simple_prompt,
};
use resources::Fixtures;
use rounds::{
    test_input_required_result_capabilities, test_input_required_result_elicitation,
    test_input_required_result_list_roots, test_input_required_result_multi_round,
    test_input_required_result_multiple_inputs, test_input_required_result_request_state,
    test_input_required_result_sampling, test_input_required_result_tampered_state,
};
use schemas::{json_schema_2020_12_tool, test_custom_header};

wharf_sdk::plugin!(
    json_schema_2020_12_tool,
    test_audio_content,
    test_custom_header,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_embedded_resource,
    test_error_handling,
    test_image_content,
    test_input_required_result_capabilities,
    test_input_required_result_elicitation,
    test_input_required_result_list_roots,
    test_input_required_result_multi_round,
    test_input_required_result_multiple_inputs,
    test_input_required_result_request_state,
    test_input_required_result_sampling,
    test_input_required_result_tampered_state,
    test_logging_tool,
    test_missing_capability,
    test_multiple_content_types,
    test_reconnection,
    test_sampling,
    test_simple_text,
    test_streaming_elicitation,
    test_tool_with_logging,
    test_tool_with_progress,
    test_trigger_prompt_change,
    test_trigger_resource_change,
    test_trigger_resource_update,
    test_trigger_tool_change;
    prompts: [
        test_input_required_result_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
        test_simple_prompt,
    ];
    resources: Fixtures;
    completion: Words
);

/// A picture of one red point.
const PIXEL: &[u8] = include_bytes!("../files/pixel.png");
/// A millisecond of silence.
const SILENCE: &[u8] = include_bytes!("../files/silence.wav");
