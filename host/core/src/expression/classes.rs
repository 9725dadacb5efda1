//! The character classes of an expression, made as the compiler makes them, with each step
//! of that counted before it is taken.
//!
//! Estimates would not do: which characters a class has decides what folding their case
//! takes, and the author of the class knows the rules.

use regex_syntax::{
    ast::{
        self, Ast, ClassAscii, ClassBracketed, ClassPerl, ClassSet, ClassSetBinaryOp, ClassSetBinaryOpKind,
        ClassSetItem, ClassUnicode as NamedClass, ClassUnicodeKind, Flag,
    },
    hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind, translate::TranslatorBuilder},
};

use super::{CompileBudget, Ended};

/// Between these no character has another case: folding skips a range that lies there as a
/// whole. A test holds this and the next one against the library.
const CASELESS: [(char, char); 8] = [
    ('\u{588}', '\u{109f}'),
    ('\u{13fe}', '\u{1c7f}'),
    ('\u{2d2e}', '\u{a63f}'),
    ('\u{abc0}', '\u{fb04}'),
    ('\u{ff5b}', '\u{103ff}'),
    ('\u{118e0}', '\u{16e3f}'),
    ('\u{16e80}', '\u{1e8ff}'),
    ('\u{1e944}', '\u{10ffff}'),
];
/// The last character that has another case.
const LAST_CASED: char = '\u{1e943}';
/// Characters up to that whose case is looked up in one step...
const FOLDED_PER_STEP: u64 = 1;
/// ...and those behind it, for which there is nothing to look up.
const SKIPPED_PER_STEP: u64 = 8;
/// Ranges that are moved in one step when two classes become one.
const MERGED_PER_STEP: u64 = 3;

/// What matters of the flags.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flags {
    ignore_case: bool,
    unicode: bool,
}

impl Default for Flags {
    fn default() -> Self {
        Self { ignore_case: false, unicode: true }
    }
}

impl Flags {
    pub(super) fn set(&mut self, set: &ast::Flags) {
        self.ignore_case = set.flag_state(Flag::CaseInsensitive).unwrap_or(self.ignore_case);
        self.unicode = set.flag_state(Flag::Unicode).unwrap_or(self.unicode);
    }
}

/// Ranges of a class, and the steps of building each copy of it.
type Size = (u64, u64);

/// Makes classes.
pub(super) struct Classes<'b> {
    pub(super) budget: &'b mut CompileBudget,
}

impl Classes<'_> {
    /// One character, which under `(?i)` stands for each of its cases.
    pub(super) fn literal(&self, character: char, flags: Flags) -> Size {
        let is_class = flags.ignore_case && !is_caseless(character, character);
        if is_class { (4, 40) } else { (0, character.len_utf8() as u64) }
    }

    pub(super) fn unicode(&mut self, class: &NamedClass, flags: Flags) -> Result<Size, Ended> {
        let class = self.named(class, flags)?;
        Ok(size_of(&class))
    }

    pub(super) fn perl(&mut self, class: &ClassPerl, flags: Flags) -> Result<Size, Ended> {
        if !flags.unicode {
            return self.of_bytes(1);
        }
        let class = self.looked_up(Ast::ClassPerl(Box::new(class.clone())))?;
        Ok(size_of(&class))
    }

    pub(super) fn bracketed(&mut self, class: &ClassBracketed, flags: Flags) -> Result<Size, Ended> {
        if !flags.unicode {
            let items = class.span.end.offset - class.span.start.offset;
            return self.of_bytes(items as u64);
        }
        let class = self.within_brackets(class, flags)?;
        Ok(size_of(&class))
    }

    /// A class of bytes of so many parts.
    fn of_bytes(&mut self, parts: u64) -> Result<Size, Ended> {
        self.budget.spend(4 * parts)?;
        let ranges = (4 * parts).min(128);
        Ok((ranges, 8 * ranges))
    }

    fn within_brackets(&mut self, class: &ClassBracketed, flags: Flags) -> Result<ClassUnicode, Ended> {
        self.budget.spend(4)?;
        let mut made = self.set(&class.kind, flags)?;
        self.fold(&mut made, flags)?;
        self.negate(&mut made, class.negated)?;
        Ok(made)
    }

    fn set(&mut self, set: &ClassSet, flags: Flags) -> Result<ClassUnicode, Ended> {
        match set {
            ClassSet::Item(item) => {
                let mut made = ClassUnicode::empty();
                self.add(item, &mut made, flags)?;
                Ok(made)
            }
            ClassSet::BinaryOp(ClassSetBinaryOp { kind, lhs, rhs, .. }) => {
                let (mut one, mut other) = (self.set(lhs, flags)?, self.set(rhs, flags)?);
                self.fold(&mut other, flags)?;
                self.fold(&mut one, flags)?;
                self.budget.spend(3 * merging(&one, &other))?;
                match kind {
                    ClassSetBinaryOpKind::Intersection => one.intersect(&other),
                    ClassSetBinaryOpKind::Difference => one.difference(&other),
                    ClassSetBinaryOpKind::SymmetricDifference => one.symmetric_difference(&other),
                }
                Ok(one)
            }
        }
    }

    fn add(&mut self, item: &ClassSetItem, made: &mut ClassUnicode, flags: Flags) -> Result<(), Ended> {
        let other = match item {
            ClassSetItem::Empty(_) => return Ok(()),
            ClassSetItem::Literal(literal) => return self.push(made, literal.c, literal.c),
            ClassSetItem::Range(range) => return self.push(made, range.start.c, range.end.c),
            ClassSetItem::Union(union) => {
                return union.items.iter().try_for_each(|item| self.add(item, made, flags));
            }
            ClassSetItem::Ascii(class) => self.ascii(class, flags)?,
            ClassSetItem::Unicode(class) => self.named(class, flags)?,
            ClassSetItem::Perl(class) => self.looked_up(Ast::ClassPerl(Box::new(class.clone())))?,
            ClassSetItem::Bracketed(class) => self.within_brackets(class, flags)?,
        };
        self.budget.spend(merging(made, &other))?;
        made.union(&other);
        Ok(())
    }

    fn push(&mut self, made: &mut ClassUnicode, from: char, to: char) -> Result<(), Ended> {
        self.budget.spend(2 + made.ranges().len() as u64 / 64)?;
        made.push(ClassUnicodeRange::new(from, to));
        Ok(())
    }

    /// A class such as `[:alpha:]`.
    fn ascii(&mut self, class: &ClassAscii, flags: Flags) -> Result<ClassUnicode, Ended> {
        // In brackets of its own it is the same.
        let (span, kind) =
            (class.span, ClassSet::Item(ClassSetItem::Ascii(ClassAscii { negated: false, ..class.clone() })));
        let mut made = self.looked_up(Ast::ClassBracketed(Box::new(ClassBracketed { span, negated: false, kind })))?;
        self.fold(&mut made, flags)?;
        self.negate(&mut made, class.negated)?;
        Ok(made)
    }

    /// A class such as `\p{Greek}`.
    fn named(&mut self, class: &NamedClass, flags: Flags) -> Result<ClassUnicode, Ended> {
        if !flags.unicode {
            return Err(Ended::Malformed);
        }
        if let ClassUnicodeKind::NamedValue { name, .. } = &class.kind
            && name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase().ends_with("age")
        {
            // It is put together of those of all ages before.
            self.budget.spend(12_000)?;
        }
        let mut made = self.looked_up(Ast::ClassUnicode(Box::new(class.clone())))?;
        // Its case is folded before it is negated.
        self.negate(&mut made, class.is_negated())?;
        self.fold(&mut made, flags)?;
        self.negate(&mut made, class.is_negated())?;
        Ok(made)
    }

    /// A class of the library's tables, whatever the case.
    fn looked_up(&mut self, class: Ast) -> Result<ClassUnicode, Ended> {
        self.budget.spend(150)?;
        let translated =
            TranslatorBuilder::new().utf8(false).build().translate("", &class).map_err(|_| Ended::Malformed)?;
        match translated.into_kind() {
            HirKind::Class(Class::Unicode(class)) => Ok(class),
            // The library makes a literal of a class of one character.
            HirKind::Literal(literal) => {
                let character = std::str::from_utf8(&literal.0).ok().and_then(|text| text.chars().next());
                let character = character.ok_or(Ended::Malformed)?;
                Ok(ClassUnicode::new([ClassUnicodeRange::new(character, character)]))
            }
            _ => Ok(ClassUnicode::empty()),
        }
    }

    fn fold(&mut self, class: &mut ClassUnicode, flags: Flags) -> Result<(), Ended> {
        if !flags.ignore_case {
            return Ok(());
        }
        for range in class.ranges() {
            self.budget.spend(folding(range.start(), range.end()))?;
        }
        class.try_case_fold_simple().map_err(|_| Ended::Malformed)
    }

    fn negate(&mut self, class: &mut ClassUnicode, negated: bool) -> Result<(), Ended> {
        if negated {
            self.budget.spend(1 + class.ranges().len() as u64 / 8)?;
            class.negate();
        }
        Ok(())
    }
}

fn is_caseless(from: char, to: char) -> bool {
    CASELESS.iter().any(|(first, last)| *first <= from && to <= *last)
}

/// For the cases of all characters of a range.
fn folding(from: char, to: char) -> u64 {
    if is_caseless(from, to) {
        return 1;
    }
    let cased = u64::from((u32::from(LAST_CASED.min(to)) + 1).saturating_sub(u32::from(from)));
    let all = u64::from(u32::from(to) - u32::from(from)) + 1;
    2 + cased / FOLDED_PER_STEP + (all - cased) / SKIPPED_PER_STEP
}

fn merging(one: &ClassUnicode, other: &ClassUnicode) -> u64 {
    1 + (one.ranges().len() + other.ranges().len()) as u64 / MERGED_PER_STEP
}

/// A range of many characters becomes several sequences of bytes.
fn size_of(class: &ClassUnicode) -> Size {
    let building = class.ranges().iter().map(|range| {
        let is_wide = u32::from(range.end()) - u32::from(range.start()) >= 64;
        if is_wide { 32 } else { 8 }
    });
    (class.ranges().len() as u64, 16 + building.sum::<u64>())
}

#[cfg(test)]
mod tests;
