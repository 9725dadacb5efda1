//! A real issuer: a server that says where its keys are, and signs.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc::{Sender, channel},
    },
    thread,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, Header, get_current_timestamp};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::{Value, json};
use wharf::configuration::OAuthSettings;

/// `wharf host:s3cr:t` and `wharf host:n3xt`, as the form of a name and a password.
const SECRETS: [&str; 2] = ["Basic d2hhcmYraG9zdDpzM2NyJTNBdA==", "Basic d2hhcmYraG9zdDpuM3h0"];

/// Head and content of a request.
fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut text, mut length) = (String::new(), 0);
    loop {
        let begin = text.len();
        if reader.read_line(&mut text).unwrap_or_default() == 0 {
            return text;
        }
        let line = text[begin..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut content = vec![0; length];
    let _ = reader.read_exact(&mut content);
    text + &String::from_utf8_lossy(&content)
}

pub(crate) const RESOURCE: &str = "https://wharf.example/mcp";

/// A key to sign with, and its public part for verifiers.
pub(crate) struct Key {
    pair: EcdsaKeyPair,
    pub(crate) public: Value,
}

impl Key {
    pub(crate) fn new(name: &str) -> Self {
        let random = SystemRandom::new();
        let bytes = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes.as_ref(), &random).expect("a key");
        let point = pair.public_key().as_ref();
        let part = |bytes| URL_SAFE_NO_PAD.encode(bytes);
        let public = json!({
            "kty": "EC", "crv": "P-256", "x": part(&point[1..33]), "y": part(&point[33..]),
            "kid": name, "use": "sig", "alg": "ES256",
        });
        Self { pair, public }
    }

    /// What is known of it, with another word about itself.
    pub(crate) fn public_but(&self, name: &str, value: Value) -> Value {
        let mut public = self.public.clone();
        public[name] = value;
        public
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.sign_as(self.header(), claims)
    }

    /// The header of its tokens.
    pub(crate) fn header(&self) -> Header {
        let name = self.public["kid"].as_str().expect("a name").to_owned();
        Header { kid: Some(name), ..Header::new(Algorithm::ES256) }
    }

    /// Signs under a header that says anything.
    pub(crate) fn sign_as(&self, header: Header, claims: &Value) -> String {
        token(&header, claims, |message| {
            self.pair.sign(&SystemRandom::new(), message).expect("signed").as_ref().to_vec()
        })
    }
}

/// A token (RFC 7515, section 7.1) that is signed so.
pub(crate) fn token(header: &Header, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let part = |part: Vec<u8>| URL_SAFE_NO_PAD.encode(part);
    let json = |value: &Value| part(value.to_string().into_bytes());
    let message = format!("{}.{}", json(&serde_json::to_value(header).expect("JSON")), json(claims));
    let signature = part(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

/// Answers for as long as the test runs.
pub(crate) struct Issuer {
    pub(crate) address: String,
    pub(crate) keys: Arc<Mutex<Vec<Value>>>,
    /// What it says of itself.
    pub(crate) description: Arc<Mutex<Value>>,
    pub(crate) asked: Arc<AtomicUsize>,
    /// What it says of tokens that it is asked about, where they hold.
    pub(crate) active: Arc<Mutex<BTreeMap<String, Value>>>,
    /// How it was asked about tokens: head and form.
    pub(crate) introspected: Arc<Mutex<Vec<String>>>,
}

impl Issuer {
    pub(crate) fn new(keys: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let address = format!("http://{}", listener.local_addr().expect("bound"));
        let (keys, asked) = (Arc::new(Mutex::new(keys)), Arc::new(AtomicUsize::new(0)));
        let description = json!({
            "issuer": address,
            "jwks_uri": format!("{address}/keys"),
            "introspection_endpoint": format!("{address}/introspect"),
        });
        let description = Arc::new(Mutex::new(description));
        let active = Arc::<Mutex<BTreeMap<String, Value>>>::default();
        let introspected = Arc::<Mutex<Vec<String>>>::default();
        let issuer = Self {
            address,
            keys: Arc::clone(&keys),
            description: Arc::clone(&description),
            asked: Arc::clone(&asked),
            active: Arc::clone(&active),
            introspected: Arc::clone(&introspected),
        };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a client");
                let head = request(&stream);
                let (status, body) = match head.split(' ').nth(1) {
                    // The first place is not where this one says it.
                    Some("/.well-known/openid-configuration") => {
                        ("200 OK", description.lock().expect("a lock").clone())
                    }
                    Some("/keys") => {
                        asked.fetch_add(1, SeqCst);
                        ("200 OK", json!({"keys": *keys.lock().expect("a lock")}))
                    }
                    Some("/introspect") => {
                        introspected.lock().expect("a lock").push(head.clone());
                        let token = head.split("token=").nth(1).and_then(|rest| rest.split('&').next());
                        match (SECRETS.iter().any(|secret| head.contains(secret)), token) {
                            (true, Some(token)) => {
                                let known = active.lock().expect("a lock").get(token).cloned();
                                ("200 OK", known.unwrap_or_else(|| json!({"active": false})))
                            }
                            _ => ("401 Unauthorized", json!({"error": "invalid_client"})),
                        }
                    }
                    _ => ("404 Not Found", json!({})),
                };
                let body = body.to_string();
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                let _ = stream.write_all((head + &body).as_bytes());
            }
        });
        issuer
    }

    /// Leaves requests for its keys without an answer until the returned sender is dropped.
    pub(crate) fn silent(&self) -> Sender<()> {
        let keys = Arc::clone(&self.keys);
        let ((release, released), (silent, is_silent)) = (channel(), channel());
        thread::spawn(move || {
            let _held = keys.lock().expect("a lock");
            let _ = silent.send(());
            // Until nobody can send any more.
            let _: Result<(), _> = released.recv();
        });
        is_silent.recv().expect("it is silent");
        release
    }

    pub(crate) fn settings(&self) -> OAuthSettings {
        OAuthSettings::new(&self.address, RESOURCE)
    }

    /// What a token says that holds.
    pub(crate) fn claims(&self) -> Value {
        json!({"iss": self.address, "aud": RESOURCE, "sub": "ada", "exp": get_current_timestamp() + 600})
    }

    pub(crate) fn claims_but(&self, name: &str, value: Value) -> Value {
        let mut claims = self.claims();
        claims[name] = value;
        claims
    }
}
