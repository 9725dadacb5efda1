//! The search refuses what seccompiler's comparisons refuse, and allows what they allow.

use seccompiler::{SeccompAction, SeccompFilter};

use super::{tree::step, *};

/// A call as the kernel shows it to a filter.
#[derive(Debug, Clone, Copy)]
struct Shown {
    number: u32,
    architecture: u32,
    arguments: [u64; 6],
}

impl Shown {
    fn word(&self, at: u32) -> u32 {
        match at {
            step::NUMBER => self.number,
            step::ARCHITECTURE => self.architecture,
            _ => {
                let argument = self.arguments[(at as usize - 16) / 8];
                if at.is_multiple_of(8) { argument as u32 } else { (argument >> 32) as u32 }
            }
        }
    }
}

/// What a program says of a call, as the kernel runs it, and after how many steps.
fn run(program: &[sock_filter], call: &Shown) -> (u32, usize) {
    const MASK: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
    let (mut at, mut held) = (0, 0_u32);
    for steps in 1..=program.len() {
        let filter = &program[at];
        at += 1;
        let mut jump = |holds: bool| at += usize::from(if holds { filter.jt } else { filter.jf });
        match filter.code {
            step::LOAD => held = call.word(filter.k),
            MASK => held &= filter.k,
            step::EQUAL => jump(held == filter.k),
            step::GREATER => jump(held > filter.k),
            step::AT_LEAST => jump(held >= filter.k),
            step::ALWAYS => at += filter.k as usize,
            step::RETURN => return (filter.k, steps),
            other => panic!("a step that no filter had: {other:#x}"),
        }
    }
    panic!("it goes back")
}

/// The same rules as a list of comparisons, as seccompiler makes it.
fn compared(refused: SyscallFilter) -> BpfProgram {
    let rules = rules(refused).expect("rules");
    let architecture = tree::architecture().expect("known");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, tree::refusal(), architecture).expect("a filter");
    tree::unknown_calls().into_iter().chain(BpfProgram::try_from(filter).expect("a program")).collect()
}

/// The architecture that a list wants: what it compares after it has loaded that.
fn own_architecture(list: &[sock_filter]) -> u32 {
    list.iter().skip_while(|step| step.k != step::ARCHITECTURE).nth(1).expect("it compares").k
}

const ITSELF: u32 = 4_321;
const KINDS: [SyscallFilter; 9] = [
    SyscallFilter::InSandbox,
    SyscallFilter::BesideLandlock { network: false, own_user: false },
    SyscallFilter::BesideLandlock { network: true, own_user: false },
    SyscallFilter::BesideLandlock { network: false, own_user: true },
    SyscallFilter::BesideLandlock { network: true, own_user: true },
    SyscallFilter::AroundSandboxes,
    SyscallFilter::Host { itself: ITSELF },
    SyscallFilter::LockedDown { itself: ITSELF },
    SyscallFilter::LockedDown { itself: 1 },
];

#[test]
fn every_call_has_the_verdict_that_a_list_of_comparisons_gives_it() {
    let mut random = fastrand::Rng::with_seed(18);
    // What rules compare with, and what is beside it.
    let of_rules =
        [0, 1, 2, 3, 10, 16, 17, ITSELF.into(), 0xf, 0x5412, 0x541c, 0xffff, u64::from(u32::MAX), 1 << 32, u64::MAX];
    let flags = NAMESPACES.map(|flag| u64::from(flag.cast_unsigned()));
    for kind in KINDS {
        let (search, list) = (program(kind).expect("a program"), compared(kind));
        let own = own_architecture(&list);
        for number in (0..=4_096).chain([0x4000_0000, 0x4000_003b, u32::MAX]) {
            for round in 0..64 {
                let mut argument = || match random.u8(0..4) {
                    0 => random.u64(..),
                    1 => flags[random.usize(..flags.len())] | (random.u64(0..2) * 0x10000),
                    _ => of_rules[random.usize(..of_rules.len())],
                };
                let arguments = std::array::from_fn(|_| argument());
                let architecture = if round == 0 { 0x4000_0003 } else { own };
                let call = Shown { number, architecture, arguments };
                assert_eq!(run(&search, &call).0, run(&list, &call).0, "{kind:?}: {call:?}");
            }
        }
    }
}

#[test]
fn a_number_is_found_in_a_few_steps() {
    for kind in KINDS {
        let (search, list) = (program(kind).expect("a program"), compared(kind));
        let own = own_architecture(&list);
        // Reading is what programs do most, and what no filter asks about.
        let reading = Shown { number: libc::SYS_read as u32, architecture: own, arguments: [0; 6] };
        let (few, many) = (run(&search, &reading).1, run(&list, &reading).1);
        assert!(few <= 20 && few * 4 < many, "{kind:?}: {few} steps, and {many} in a list");
        assert!(search.len() * 5 < list.len() * 4, "{kind:?}: {} steps, and {} in a list", search.len(), list.len());
    }
}
