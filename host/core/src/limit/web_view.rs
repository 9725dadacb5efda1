//! What web pages may use up.

use super::{GIB, HOUR_SECONDS, KIB, MIB, MINUTE};

limits! {
    /// Limits of web pages, `[webview.limits]`.
    WebViewLimits {
        pages = 20, up to 1_000, of Host,
            "Open pages of all tenants. A further one closes the tenant's own one idle for longest, after a minute at least; where none is idle, refuses with `limit`. As many closed ones are remembered.";
        pages_per_tenant = 16, up to 1_000, of Tenant,
            "The same of one tenant.";
        pages_per_session = 12, up to 1_000, of Session,
            "The same of one session, whichever plugins and assistants opened them.";
        requests = 1_280, up to 65_536, of Host,
            "Requests of the pages of all tenants, finished ones that are kept included. The tenant's own oldest finished goes; where all are pending, refuses with `limit`.";
        requests_per_tenant = 1_024, up to 65_536, of Tenant,
            "The same of one tenant.";
        requests_per_session = 768, up to 65_536, of Session,
            "The same of one session.";
        requests_per_page = 64, up to 1_024, of Page,
            "Requests of a page, finished ones that are kept included. The oldest finished goes; where all are pending, refuses with `limit`.";
        result_bytes_per_page = 8 * MIB, up to 256 * MIB, of Page,
            "Bytes of the results that are kept for a page. The oldest goes first.";
        kept_bytes = 160 * MIB, up to 64 * GIB, of Host,
            "Bytes of scripts that are pending, results and logs of all tenants. The tenant's own oldest results go; then a request fails with `limit`, and a log loses its oldest entries.";
        kept_bytes_per_tenant = 128 * MIB, up to 64 * GIB, of Tenant,
            "The same of one tenant.";
        kept_bytes_per_session = 96 * MIB, up to 64 * GIB, of Session,
            "The same of one session.";
        result_bytes = MIB, up to 16 * MIB, of Each,
            "Bytes of one result that are sent from the page. It is cut there, and can be paged through.";
        file_bytes = 8 * MIB, up to 64 * MIB, of Each,
            "Bytes of a screenshot or a PDF. A larger one fails with `limit`.";
        request_milliseconds = 30_000, up to 300_000, of Each,
            "How long a request may take that says nothing else. Ends it with `time-out`.";
        request_ceiling_milliseconds = 300_000, up to 300_000, of Each,
            "How long a request may ask to take. Refuses more with `invalid`.";
        kept_seconds = 120, up to HOUR_SECONDS, of Each,
            "How long the result of a request is kept that nobody acknowledged. Then it is `expired`.";
        tombstones_per_page = 1_024, up to 65_536, of Page,
            "Requests that are remembered as `expired`. The oldest is forgotten first.";
        dialog_milliseconds = 30_000, up to 300_000, of Each,
            "How long a dialog may wait for an answer. Dismisses it.";
        idle_seconds = 900, up to 7 * 24 * HOUR_SECONDS, of Each,
            "How long a page may be unused. Closes it.";
        closed_seconds = 120, up to HOUR_SECONDS, of Each,
            "How long a closed page is remembered, with its logs and results.";
        log_entries = 1_000, up to 100_000, of Each,
            "Entries of each log of a page. The oldest go first.";
        log_bytes = 256 * KIB, up to 16 * MIB, of Each,
            "Bytes of each log of a page. The oldest entries go first.";
        download_bytes = 256 * MIB, up to 64 * GIB, of Each,
            "Bytes of one download, and of all files that a page is given. Cancels a larger one; refuses more with `invalid`.";
        downloads = 32, up to 10_000, of Page,
            "Downloads of a page. Further ones are cancelled.";
        transfer_bytes = 4 * GIB, up to 1_024 * GIB, of Host,
            "Bytes of downloads under way and of files that pages were given, of all tenants. Cancels a download; refuses a file with `limit`.";
        transfer_bytes_per_tenant = 2 * GIB, up to 1_024 * GIB, of Tenant,
            "The same of one tenant.";
        transfer_bytes_per_session = GIB, up to 1_024 * GIB, of Session,
            "The same of one session.";
        connections_per_page = 256, up to 4_096, of Page,
            "Connections of a page at once. Further ones are refused.";
        connections = 1_024, up to 65_536, of Host,
            "Connections of the pages of all tenants at once. Further ones are refused.";
        connections_per_tenant = 768, up to 65_536, of Tenant,
            "The same of one tenant.";
        connections_per_session = 512, up to 65_536, of Session,
            "The same of one session.";
        wait_milliseconds = 10 * MINUTE, up to 10 * MINUTE, of Each,
            "How long one wait for a request may last.";
        backend_idle_seconds = 60, up to 24 * HOUR_SECONDS, of Host,
            "How long the browser runs without a page. Stops it.";
        browsers = 16, up to 1_024, of Host,
            "Browsers at once, where each tenant has its own ([webview] `shared = false`). Stops one without a page; where all have pages, a page of a further tenant does not open.";
        browser_memory_bytes = 4 * GIB, up to 1_024 * GIB, of Each,
            "Memory of a browser with all its pages, where the system has control groups; else of each of its processes. Ends a process: a page crashes, or the browser.";
        crashes = 5, up to 100, of Host,
            "How often a browser that crashes is started again within `crash_window_seconds`. Then pages are refused with `unavailable` until that time is over.";
        crash_window_seconds = 600, up to 24 * HOUR_SECONDS, of Host,
            "The time in which crashes are counted.";
    }
}
