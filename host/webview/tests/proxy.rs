//! The proxy of a page, by real sockets: what is let through, what is not, what
//! ends with it.

#![cfg(target_os = "linux")]

mod proxy {
    mod bounds;
    mod forward;
    mod refuse;
    mod support;
    mod tunnel;
}
