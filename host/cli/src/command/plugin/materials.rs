//! What a plugin is made of and how it was built, as `wharf plugin info` tells it.

use serde_json::{Value, json};
use wharf::{
    materials::{Binding, FoundMaterials, Voucher},
    text::line,
};

/// Bytes of a line that a stranger chose.
const MAX_LINE_BYTES: usize = 512;

/// By what it is known to be about the component.
fn bound(bound: Binding) -> &'static str {
    match bound {
        Binding::Within => "part of the component",
        Binding::Digest => "names the component's digest",
        Binding::Manifest => "refers to the component's manifest",
        Binding::Place => "names no digest: it may be of another component",
        _ => "bound in a way that this version does not know",
    }
}

fn vouched(voucher: &Voucher) -> String {
    match voucher {
        Voucher::Nobody => "not signed".to_owned(),
        Voucher::Trusted(evidence) => format!("signed by {}", evidence.signer),
        Voucher::Untrusted(why) => format!("signed, and not trusted: {}", line(why, MAX_LINE_BYTES)),
        _ => "signed in a way that this version does not know".to_owned(),
    }
}

/// Prints it in the form of the other lines of `wharf plugin info`.
pub(super) fn print(materials: &FoundMaterials) {
    for bill in &materials.bills {
        println!("  SBOM     {}, {} packages, {}", bill.format, bill.packages.len(), vouched(&bill.voucher));
        println!("           {} ({})", line(&bill.from, MAX_LINE_BYTES), bound(bill.bound));
    }
    for found in &materials.provenance {
        let word = |word: &Option<String>| word.as_deref().unwrap_or("nobody says").to_owned();
        let build = &found.build;
        println!("  built    by {}, {}", word(&build.builder), vouched(&found.voucher));
        println!("           from {} at {}", word(&build.repository), word(&build.commit));
        println!("           {} ({})", line(&found.from, MAX_LINE_BYTES), bound(found.bound));
    }
    for problem in &materials.problems {
        println!("  not used {}", line(problem, 2 * MAX_LINE_BYTES));
    }
}

/// The same as JSON, with the number of packages in the place of their list.
pub(super) fn told(materials: &FoundMaterials) -> Value {
    let bills: Vec<_> = materials
        .bills
        .iter()
        .map(|bill| {
            json!({"format": bill.format, "from": bill.from, "bound": bill.bound, "voucher": bill.voucher,
                   "packages": bill.packages.len()})
        })
        .collect();
    json!({"bills": bills, "provenance": materials.provenance, "problems": materials.problems})
}
