//! A tool that opens a web page, of an origin that the operator granted.

use wharf_sdk::{
    Call, Reply, ToolError, tool,
    webview::{Operation, PageOptions, Script},
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageTitle {
    /// The address of the page, such as `https://example.com/`.
    #[schemars(length(min = 1, max = 2_000))]
    url: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Title {
    /// What the page calls itself.
    title: String,
}

/// Tells the title of a web page.
#[tool(title = "Read a title", read_only)]
pub(crate) fn page_title(call: &Call, input: PageTitle) -> Result<Reply<Title>, ToolError> {
    let pages = call.web_pages();
    let id = pages.open(&PageOptions::new())?.id;
    let read = pages
        .carry_out(&id, &Operation::Navigate { url: input.url.into() }, None)
        .and_then(|_| pages.run(&id, &Script::new("document.title")));
    pages.close(&id)?;
    let title = read?.to_string();
    Ok(Reply::new(title.clone(), Title { title }))
}
