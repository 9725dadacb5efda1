//! The routes that the documents name, beside those that the host describes.

use wharf_tests::{Data, Server};

use super::pages::pages;

/// Whether a path is one of a template such as `/v1/pages/{page}`.
fn is(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template.iter().zip(&path).all(|(part, given)| part == given || part.starts_with('{'))
}

#[test]
fn every_route_in_the_documents_is_one() {
    let data = Data::new();
    data.write("wharf.toml", "");
    let server = Server::start_in(data, &[]);
    let described = server.ask("GET", "/v1/openapi.json", "s", None).json();
    let templates: Vec<_> = described["paths"].as_object().expect("paths").keys().cloned().collect();
    let mut seen = 0;
    for page in pages() {
        for (at, _) in page.text.match_indices("/v1/") {
            // Those of others have a host before them.
            let before = &page.text[..at];
            let own = before.ends_with(['`', ' ', '\n']) || before.ends_with("127.0.0.1:8088");
            let path =
                page.text[at..].split(|letter: char| !letter.is_ascii_alphanumeric() && !"/.-_{}".contains(letter));
            let path = path.into_iter().next().unwrap_or_default().trim_end_matches('.');
            if own {
                assert!(templates.iter().any(|template| is(template, path)), "{}: {path}", page.path);
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "{seen} routes were found");
}
