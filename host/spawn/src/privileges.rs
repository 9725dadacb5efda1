//! The capabilities that a process of the host gives up for good.

use std::io;

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};

/// Gives up all capabilities of the calling thread, and of those that it starts afterwards. Root without
/// them is a user that owns much; it does not get them back with a new program.
///
/// # Errors
/// Where the system refuses it.
pub fn give_up_capabilities() -> io::Result<()> {
    keep_capabilities(CapabilitySet::empty())
}

/// The same for all but these.
pub(crate) fn keep_capabilities(kept: CapabilitySet) -> io::Result<()> {
    set_no_new_privs(true)?;
    // Who has no right to the next three steps has nothing that they take away.
    let bits = CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED;
    let _ = set_capabilities_secure_bits(bits);
    for capability in CapabilitySet::all().difference(kept).iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    let _ = clear_ambient_capability_set();
    let inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable })?)
}
