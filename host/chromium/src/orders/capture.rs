//! Pictures and prints of a page.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::Deserialize;
use serde_json::json;
use wharf_webview::{Failure, FailureKind, ImageFormat, OrderOutput, Paper, Rectangle};

use super::outcome::{OrderOutcome, OrderWork, failed};
use crate::{
    connection::{Call, CallError},
    page::Page,
};

/// The largest width and height of a picture.
const MOST_PIXELS: f64 = 16_384.0;

#[derive(Debug, Deserialize)]
struct CapturedFile {
    data: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LayoutMetrics {
    css_visual_viewport: VisualViewport,
    css_content_size: ContentSize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct VisualViewport {
    page_x: f64,
    page_y: f64,
}

#[derive(Debug, Deserialize)]
struct ContentSize {
    width: f64,
    height: f64,
}

pub(super) fn screenshot(page: &Arc<Page>, format: ImageFormat, full_page: bool, clip: Option<Rectangle>) -> OrderWork {
    let page = Arc::clone(page);
    Box::pin(async move {
        let mut wanted = match format {
            ImageFormat::Png => json!({ "format": "png", "optimizeForSpeed": true }),
            ImageFormat::Jpeg { quality } => json!({ "format": "jpeg", "quality": quality }),
        };
        if full_page || clip.is_some() {
            let metrics = page.ask("Page.getLayoutMetrics", &json!({}));
            let metrics = page.insist::<_, LayoutMetrics>(metrics, "Page.getLayoutMetrics", &json!({})).await;
            let LayoutMetrics { css_visual_viewport: seen, css_content_size: all } =
                metrics.map_err(|error| failed(&error))?;
            // The browser counts from the top of the document.
            let area = match clip {
                Some(clip) if full_page => clip,
                Some(clip) => Rectangle { x: clip.x + seen.page_x, y: clip.y + seen.page_y, ..clip },
                None => Rectangle { x: 0.0, y: 0.0, width: all.width, height: all.height },
            };
            let side = |length: f64| length.clamp(1.0, MOST_PIXELS);
            wanted["clip"] = json!({
                "x": area.x, "y": area.y, "width": side(area.width), "height": side(area.height), "scale": 1,
            });
            wanted["captureBeyondViewport"] = json!(full_page);
        }
        let mime_type = match format {
            ImageFormat::Png => "image/png",
            ImageFormat::Jpeg { .. } => "image/jpeg",
        };
        let made = page.ask("Page.captureScreenshot", &wanted);
        finish(&page, made, mime_type).await
    })
}

/// What is seen of a page, for somebody who watches it: small rather than exact.
pub(crate) async fn picture(page: &Page) -> Result<Vec<u8>, Failure> {
    let made =
        page.ask("Page.captureScreenshot", &json!({ "format": "jpeg", "quality": 60, "optimizeForSpeed": true }));
    Ok(finish(page, made, "image/jpeg").await?.data)
}

pub(super) fn pdf(page: &Arc<Page>, landscape: bool, background: bool, paper: Paper) -> OrderWork {
    // Inches.
    let (width, height) = match paper {
        Paper::A4 => (8.27, 11.69),
        Paper::Letter => (8.5, 11.0),
    };
    let wanted = json!({
        "landscape": landscape,
        "printBackground": background,
        "paperWidth": width,
        "paperHeight": height,
    });
    let made = page.ask("Page.printToPDF", &wanted);
    let page = Arc::clone(page);
    Box::pin(async move { finish(&page, made, "application/pdf").await })
}

async fn finish(page: &Page, made: Call, mime_type: &'static str) -> OrderOutcome {
    let CapturedFile { data } = made.read().await.map_err(|error| failed(&error))?;
    let limit = page.settings.limits.file_bytes;
    let too_large = |bytes: usize| {
        let message = format!(
            "the result has {bytes} bytes, more than {limit} (limit `file_bytes`); take less of the page, or another format"
        );
        Failure::new(FailureKind::Limit, message)
    };
    let bytes = data.len() / 4 * 3;
    if u64::try_from(bytes.saturating_sub(2)).is_ok_and(|bytes| bytes > limit) {
        return Err(too_large(bytes));
    }
    let data = BASE64_STANDARD.decode(data).map_err(|_| failed(&CallError::Unexpected))?;
    if u64::try_from(data.len()).is_ok_and(|bytes| bytes > limit) {
        return Err(too_large(data.len()));
    }
    Ok(OrderOutput { mime_type, data })
}
