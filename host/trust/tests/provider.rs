//! An app that embeds this has its own cryptography for sigstore, which stays.

use sigstore_verify::{
    crypto::{CryptoProvider, Error, HashContext, Result, SigningScheme, default_provider, install_default_provider},
    types::HashAlgorithm,
};
use wharf_test_support::sigstore::SigstoreInstance;
use wharf_trust::{FoundSignature, SignedArtifact, TrustPolicy, TrustRule, Untrusted};

const IDENTITY: &str = "me@example.com";
const ISSUER: &str = "https://issuer.example";

/// Believes no signature.
#[derive(Debug)]
struct Distrustful;

impl CryptoProvider for Distrustful {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>> {
        Err(Error::UnsupportedAlgorithm(algorithm.to_string()))
    }

    fn sha256(&self, _: &[u8]) -> [u8; 32] {
        [0; 32]
    }

    fn verify_raw(&self, _: SigningScheme, _: &[u8], _: &[u8], _: &[u8]) -> Result<()> {
        Err(Error::Verification("nothing is believed".to_owned()))
    }

    fn verify_prehashed(&self, scheme: SigningScheme, key: &[u8], digest: &[u8], signature: &[u8]) -> Result<()> {
        self.verify_raw(scheme, key, digest, signature)
    }
}

#[test]
fn the_apps_provider_stays() {
    install_default_provider(&Distrustful).expect("the first");
    let instance = SigstoreInstance::new();
    let rule = TrustRule::Identity { identity: IDENTITY.parse().expect("a pattern"), issuer: ISSUER.to_owned() };
    let policy = TrustPolicy::new(vec![rule], Some(&instance.trusted_root())).expect("a policy");
    let bundle = FoundSignature::read(instance.sign(b"component", IDENTITY, ISSUER).as_bytes()).expect("a bundle");
    let artifact = SignedArtifact { component: b"component", manifest: None };
    assert!(matches!(policy.verify(artifact, &[bundle]), Err(Untrusted::Refused { .. })));
    assert_eq!(format!("{:?}", default_provider()), "Distrustful");
}
