//! Which attack this component was patched to be.

/// Replaced in the bytes of the component.
static ATTACK: &[u8; 32] = b"wharf-attack:none               ";

/// The word behind the mark.
pub(crate) fn attack() -> String {
    // What is written here is not what is read.
    let bytes = std::hint::black_box(ATTACK);
    String::from_utf8_lossy(&bytes[13..]).trim().to_owned()
}
