//! What the browser is told when it starts.

use std::{ffi::OsString, path::Path};

/// Features that contact servers, warm up, collect or share without being asked.
const OFF: [&str; 25] = [
    "AutofillServerCommunication",
    "BackForwardCache",
    "CastMediaRouteProvider",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "DnsOverHttps",
    "AsyncDns",
    "FedCm",
    "GlobalMediaControls",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "InterestFeedContentSuggestions",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationGuideModelDownloading",
    "OptimizationHints",
    "OptimizationHintsFetching",
    "OptimizationTargetPrediction",
    "PrivateNetworkAccessPermissionPrompt",
    "SegmentationPlatform",
    "ServiceWorkerAutoPreload",
    "SpareRendererForSitePerProcess",
    "Translate",
    "WebRtcHideLocalIpsWithMdns",
    "WebTransport",
];

const FLAGS: [&str; 39] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-startup-window",
    // A new window opens in the page itself, which is told so.
    "--block-new-web-contents",
    // Frames of other origins in processes of their own.
    "--site-per-process",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    // Only the proxy resolves names.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-client-side-phishing-detection",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-sync",
    "--disable-search-engine-choice-screen",
    "--disable-back-forward-cache",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-print-preview",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
];

/// The arguments of the browser.
pub(crate) fn arguments(profile: &Path, sandbox: bool) -> Vec<OsString> {
    let mut arguments = FLAGS.map(OsString::from).to_vec();
    arguments.push(format!("--disable-features={}", OFF.join(",")).into());
    let mut directory = OsString::from("--user-data-dir=");
    directory.push(profile);
    arguments.push(directory);
    if !sandbox {
        arguments.push("--no-sandbox".into());
    }
    arguments
}

/// The whole environment of the browser: nothing of the host's.
pub(crate) fn environment(profile: &Path) -> Vec<(OsString, OsString)> {
    let mut environment = vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("LANG".into(), "C.UTF-8".into()),
        // No bus of the desktop, no settings of a user.
        ("DBUS_SESSION_BUS_ADDRESS".into(), "disabled:".into()),
    ];
    for name in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
        environment.push((name.into(), profile.as_os_str().to_owned()));
    }
    environment
}
