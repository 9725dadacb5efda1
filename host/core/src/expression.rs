//! What it takes to compile a regular expression that somebody else wrote, told from its
//! syntax before it is compiled.
//!
//! The libraries bound the size of what an expression is compiled to, and not the time. An
//! expression of a kilobyte may take a second and come to nothing: `(?i)[!-\u{10fffd}]{0}`
//! goes through a million characters for each class. So an expression of a stranger is
//! parsed first, which takes time in line with its length. Then what the compiler would do
//! is counted: it makes each class once, goes through the characters of one under `(?i)`,
//! and builds the ranges of a class as often as the class is repeated. An expression is
//! compiled only where that is within a [`CompileBudget`].
//!
//! The module knows no use of expressions. The host asks it before it compiles one that is
//! not its own.

mod classes;

use regex_syntax::ast::{self, Ast, GroupKind, Repetition, RepetitionKind, RepetitionRange, Visitor, parse::Parser};

use classes::{Classes, Flags};

/// What is left for compiling expressions, in steps.
///
/// A step takes up to some 50 nanoseconds with optimised libraries, parsing the expression
/// beforehand included: `cargo run -p wharf-completion --example costly_prompts` measures
/// the slowest kinds of patterns that [`CompileBudget::REQUEST`] lets through, 16 at a time.
/// They take 2 to 5 milliseconds. Of 6,000 sets that were made at random of such parts, the
/// slowest took 8.
#[derive(Debug, Clone)]
pub struct CompileBudget {
    steps: u64,
    left: u64,
}

/// An expression that would take too long to compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "compiling it, with those before it, takes more than {steps} steps; use fewer and smaller character classes, \
     repeat them less often, and leave wide ones out of `(?i)`, as in `(?-i:[^x])`"
)]
pub struct CostlyExpression {
    /// What all of them may take.
    pub steps: u64,
}

/// Why the count ended before the expression did.
#[derive(Debug, Clone, Copy)]
enum Ended {
    /// There is nothing left.
    Costly,
    /// It is no expression, so that compiling it ends here, too.
    Malformed,
}

impl CompileBudget {
    /// For what comes with one request of a stranger, all expressions of it together.
    pub const REQUEST: u64 = 100_000;
    /// For what the operator wrote for one purpose, which is compiled once.
    pub const OPERATOR: u64 = 1_000_000;

    /// So many steps.
    #[must_use]
    pub fn new(steps: u64) -> Self {
        Self { steps, left: steps }
    }

    /// Steps that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes what compiling an expression takes. One that is malformed costs what is done
    /// before that is seen; what is wrong with it the compiler tells.
    ///
    /// # Errors
    /// Where that is more than is left.
    pub fn spend_on(&mut self, expression: &str) -> Result<(), CostlyExpression> {
        match self.count(expression) {
            Ok(()) | Err(Ended::Malformed) => Ok(()),
            Err(Ended::Costly) => Err(CostlyExpression { steps: self.steps }),
        }
    }

    fn count(&mut self, expression: &str) -> Result<(), Ended> {
        // It is parsed here and again by the compiler.
        self.spend(3 * expression.len() as u64)?;
        // As the compiler does, whose bounds are these or lower.
        let syntax = Parser::new().parse(expression).map_err(|_| Ended::Malformed)?;
        let classes = Classes { budget: self };
        let (flags, groups, copies, alternatives) = (Flags::default(), Vec::new(), Vec::new(), Vec::new());
        ast::visit(&syntax, Count { classes, flags, groups, copies, alternatives })
    }

    /// Takes steps for something else that is done with an expression.
    ///
    /// # Errors
    /// Where that is more than is left.
    pub fn spend_steps(&mut self, steps: u64) -> Result<(), CostlyExpression> {
        self.spend(steps).map_err(|_| CostlyExpression { steps: self.steps })
    }

    fn spend(&mut self, steps: u64) -> Result<(), Ended> {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or_default();
        left.map(|_| ()).ok_or(Ended::Costly)
    }
}

/// Goes through an expression.
struct Count<'b> {
    classes: Classes<'b>,
    flags: Flags,
    /// The flags around each open group.
    groups: Vec<Flags>,
    /// How often what is inside of each open repetition is built.
    copies: Vec<u64>,
    /// For each open alternation the ranges of its alternatives, which become one class
    /// where all of them are classes. `None` inside of what is certainly no class.
    alternatives: Vec<Option<u64>>,
}

impl Count<'_> {
    /// For a part that is translated once, and built once for each copy.
    fn part(&mut self, translating: u64, building: u64) -> Result<(), Ended> {
        let copies = self.copies.last().copied().unwrap_or(1);
        self.classes.budget.spend(translating.saturating_add(building.saturating_mul(copies)))
    }

    /// For a class of so many ranges that an alternation may merge with its other ones.
    fn alternative(&mut self, ranges: u64) -> Result<(), Ended> {
        let Some(Some(all)) = self.alternatives.last_mut() else { return Ok(()) };
        *all += ranges;
        let merging = *all / 3;
        self.classes.budget.spend(merging)
    }

    fn class(&mut self, ranges: u64, building: u64) -> Result<(), Ended> {
        self.part(4, building)?;
        self.alternative(ranges)
    }
}

impl Visitor for Count<'_> {
    type Output = ();
    type Err = Ended;

    fn finish(self) -> Result<(), Ended> {
        Ok(())
    }

    fn visit_pre(&mut self, syntax: &Ast) -> Result<(), Ended> {
        match syntax {
            Ast::Group(group) => {
                self.groups.push(self.flags);
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    self.flags.set(flags);
                }
            }
            Ast::Repetition(repetition) => {
                let copies = self.copies.last().copied().unwrap_or(1);
                self.copies.push(copies.saturating_mul(copies_of(repetition)));
                if !may_vanish(repetition) {
                    self.alternatives.push(None);
                }
            }
            Ast::Alternation(_) => self.alternatives.push(Some(0)),
            Ast::Concat(concat) if concat.asts.iter().filter(|part| is_something(part)).count() > 1 => {
                self.alternatives.push(None);
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_post(&mut self, syntax: &Ast) -> Result<(), Ended> {
        match syntax {
            Ast::Empty(_) => self.part(2, 1),
            Ast::Flags(set) => {
                self.flags.set(&set.flags);
                self.part(2, 0)
            }
            Ast::Literal(literal) => {
                let (ranges, building) = self.classes.literal(literal.c, self.flags);
                self.part(4, building)?;
                self.alternative(ranges)
            }
            Ast::Dot(_) => self.class(3, 100),
            Ast::Assertion(_) => self.part(4, 2),
            Ast::ClassUnicode(class) => {
                let (ranges, building) = self.classes.unicode(class, self.flags)?;
                self.class(ranges, building)
            }
            Ast::ClassPerl(class) => {
                let (ranges, building) = self.classes.perl(class, self.flags)?;
                self.class(ranges, building)
            }
            Ast::ClassBracketed(class) => {
                let (ranges, building) = self.classes.bracketed(class, self.flags)?;
                self.class(ranges, building)
            }
            Ast::Repetition(repetition) => {
                // For the texts that each match begins or ends with a few copies are looked through.
                self.part(if may_repeat_a_text(repetition) { 500 } else { 4 }, 4)?;
                self.copies.pop();
                if !may_vanish(repetition) {
                    self.alternatives.pop();
                }
                Ok(())
            }
            Ast::Group(_) => {
                if let Some(flags) = self.groups.pop() {
                    self.flags = flags;
                }
                self.part(6, 6)
            }
            Ast::Alternation(alternation) => {
                let ranges = self.alternatives.pop().flatten().unwrap_or_default();
                self.part(4, 4 * alternation.asts.len() as u64)?;
                self.alternative(ranges)
            }
            Ast::Concat(concat) => {
                if concat.asts.iter().filter(|part| is_something(part)).count() > 1 {
                    self.alternatives.pop();
                }
                self.part(2 * concat.asts.len() as u64, 0)
            }
        }
    }
}

/// How often what is repeated is built.
fn copies_of(repetition: &Repetition) -> u64 {
    let most = match repetition.op.kind {
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => 1,
        RepetitionKind::Range(RepetitionRange::Exactly(most) | RepetitionRange::Bounded(_, most)) => most,
        RepetitionKind::Range(RepetitionRange::AtLeast(least)) => least.max(1),
    };
    u64::from(most)
}

/// Whether a match has what is repeated more than once.
fn may_repeat_a_text(repetition: &Repetition) -> bool {
    matches!(repetition.op.kind, RepetitionKind::Range(_)) && !may_vanish(repetition)
}

/// Whether nothing of a repetition is left but what it repeats, or not even that.
fn may_vanish(repetition: &Repetition) -> bool {
    match repetition.op.kind {
        RepetitionKind::Range(RepetitionRange::Exactly(most) | RepetitionRange::Bounded(_, most)) => most <= 1,
        _ => false,
    }
}

/// Whether a part is certainly something of its own beside others.
fn is_something(part: &Ast) -> bool {
    matches!(
        part,
        Ast::Literal(_)
            | Ast::Dot(_)
            | Ast::Assertion(_)
            | Ast::ClassUnicode(_)
            | Ast::ClassPerl(_)
            | Ast::ClassBracketed(_)
    )
}

#[cfg(test)]
mod tests;
