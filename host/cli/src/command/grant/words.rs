//! Capabilities in plain words, for the person who decides about them.

use wharf::grant::Capability;

/// What a capability means for the operator.
pub(super) struct CapabilityWords {
    /// What a plugin that has it can do.
    pub(super) can: &'static str,
    /// How much harm that may do.
    pub(super) risk: &'static str,
    /// The list that says how far it reaches, and what to ask for it.
    pub(super) list: Option<(&'static str, &'static str)>,
}

pub(super) fn of(capability: Capability) -> CapabilityWords {
    match capability {
        Capability::State => CapabilityWords {
            can: "keep entries that outlive a call, for a thread, a session, an assistant or all its calls",
            risk: "low: it remembers what it is given, up to its quota, and reaches no entries but its own",
            list: None,
        },
        Capability::Events => CapabilityWords {
            can: "tell the client how far a call has come, send it messages, and open streams that others read",
            risk: "low: its words are shown to people and models, as its answers are anyway",
            list: None,
        },
        Capability::Workspace => CapabilityWords {
            can: "read, write and remove the files of the session, which all plugins that may use them share",
            risk: "medium: it can change what other tools of the session read or run; `access = \"read\"` keeps it from that",
            list: None,
        },
        Capability::Process => CapabilityWords {
            can: "start the programs that you name, contained, in the workspace of the session",
            risk: "high: a program does all that its containment shows; a shell starts any other, and with \
                   `network = true` what it reads can be sent anywhere",
            list: Some(("programs", "Which programs (names or paths, separated by commas; * for all)?")),
        },
        Capability::Terminal => CapabilityWords {
            can: "hold conversations with the interactive programs that you name, contained, in the workspace",
            risk: "high: as for processes; many interactive programs start others when they are told to",
            list: Some(("programs", "Which programs (names or paths, separated by commas; * for all)?")),
        },
        Capability::WebView => CapabilityWords {
            can: "open web pages of the origins that you name and act in them: read, click, type, run scripts",
            risk: "high: it can send what it was told to each of these origins, and use what a page is logged in to",
            list: Some(("origins", "Which origins (as https://example.com, separated by commas; * for all)?")),
        },
        Capability::Http => CapabilityWords {
            can: "send the HTTP requests that you name, and read their answers",
            risk: "high: it can send what it was told to each of these servers; paths and methods narrow that, and secrets \
                   are added by the host and never seen by it",
            list: Some(("requests", "Which requests (as GET https://api.example.com/v1/*, separated by semicolons)?")),
        },
    }
}
