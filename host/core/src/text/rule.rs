//! Which characters a text may have, decided by what Unicode says of them.
//!
//! A person and a model must read the same text. What nobody sees can carry orders to
//! a model, what reorders can show a person another text than the model reads, and what
//! breaks a line can forge one. So these go:
//!
//! - control characters, but `\n` and `\t` (general category Cc);
//! - every default-ignorable character (`Default_Ignorable_Code_Point`): marks that
//!   reorder, zero-width characters, soft hyphens, tags, variation selectors, fillers,
//!   and what Unicode keeps free for more of them;
//! - the marks of interlinear annotations (U+FFF9 to U+FFFB), and noncharacters.
//!
//! CR, CR LF, U+2028 and U+2029 become `\n`.
//!
//! Some scripts and emoji need a few of the ignorable ones. They stay where they do
//! something, one at a time, so that they cannot carry a text of their own:
//!
//! | character | stays behind | after |
//! |---|---|---|
//! | ZWNJ, ZWJ | a letter of a script whose letters join (Arabic, Syriac, Mongolian, …) or of an Indic one, and its marks | UAX #31, layout and format control |
//! | ZWJ | a pictograph, its variation selector and its skin tone | UTS #51, ED-16 |
//! | U+FE0E, U+FE0F | a character that can be an emoji; a digit, `#` or `*` only before U+20E3 | UTS #51, ED-8 to ED-14 |
//! | tags | the black flag, as England, Scotland or Wales alone | UTS #51, ED-14a |
//! | U+180B to U+180F | a Mongolian letter | Unicode 13.5 |
//! | U+115F, U+1160 | (U+115F: before) a jamo of old Hangul that has no partner | Unicode 18.6 |
//!
//! What is lost by it: marks for the direction of mixed text, hints where a line may
//! break (U+200B in Thai and Khmer, U+00AD), variants of ideographs and of mathematical
//! signs. The letters stay as they are.

use std::{iter::Peekable, str::Chars, sync::LazyLock};

use icu_properties::{
    CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed,
    props::{
        DefaultIgnorableCodePoint, Emoji, EmojiModifier, ExtendedPictographic, GeneralCategory, HangulSyllableType,
        IndicSyllabicCategory, JoiningType, NoncharacterCodePoint, Script,
    },
};

const IGNORABLE: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<DefaultIgnorableCodePoint>();
const NONCHARACTER: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<NoncharacterCodePoint>();
const EMOJI: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<Emoji>();
const PICTOGRAPH: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<ExtendedPictographic>();
const SKIN_TONE: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<EmojiModifier>();
const CATEGORY: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();
const HANGUL: CodePointMapDataBorrowed<'static, HangulSyllableType> = CodePointMapData::<HangulSyllableType>::new();
const INDIC: CodePointMapDataBorrowed<'static, IndicSyllabicCategory> =
    CodePointMapData::<IndicSyllabicCategory>::new();
const JOINING: CodePointMapDataBorrowed<'static, JoiningType> = CodePointMapData::<JoiningType>::new();
const SCRIPT: CodePointMapDataBorrowed<'static, Script> = CodePointMapData::<Script>::new();

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';
const BLACK_FLAG: char = '\u{1f3f4}';
const LEADING_FILLER: char = '\u{115f}';
const VOWEL_FILLER: char = '\u{1160}';
/// The flags that are made of tags: the only ones that Unicode recommends.
const TAGGED_FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
const END_OF_TAGS: char = '\u{e007f}';

/// Marks behind which the letter is looked for that they belong to.
const MOST_MARKS: usize = 8;
/// Bytes that are looked at together, so that the processor does it at once.
const BLOCK_BYTES: usize = 64;

/// Whether the rule has something to say of a character at all.
fn concerns(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{fff9}'..='\u{fffb}' => true,
        _ => {
            let category = CATEGORY.get(character);
            category == GeneralCategory::Control
                || category == GeneralCategory::LineSeparator
                || category == GeneralCategory::ParagraphSeparator
                || IGNORABLE.contains(character)
                || NONCHARACTER.contains(character)
        }
    }
}

/// [`concerns`] for the characters of two and three bytes, a bit each: asked for every
/// character of a text that is not ASCII.
static CONCERNED: LazyLock<Box<[u64; 1024]>> = LazyLock::new(|| {
    let mut bits = Box::new([0_u64; 1024]);
    for character in (0..=0xffff_u32).filter_map(char::from_u32).filter(|character| concerns(*character)) {
        let code = character as usize;
        bits[code / 64] |= 1 << (code % 64);
    }
    bits
});

/// Where the first character is of which the rule has something to say.
fn first_concern(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let odd = |byte: &u8| *byte >= 0x7f || (*byte < 0x20 && !matches!(byte, b'\n' | b'\t'));
    // Nearly all text is plain ASCII, and told to be so without a branch for each byte.
    let blocks = bytes.chunks(BLOCK_BYTES);
    let plain = blocks.take_while(|block| !block.iter().fold(false, |found, byte| found | odd(byte))).count();
    let start = (plain * BLOCK_BYTES).min(bytes.len());
    let start = start + bytes[start..].iter().position(odd)?;
    let table = &*CONCERNED;
    let concerned = |character: char| {
        let code = character as usize;
        table.get(code / 64).map_or_else(|| concerns(character), |bits| bits >> (code % 64) & 1 == 1)
    };
    text[start..].char_indices().find(|(_, character)| concerned(*character)).map(|(at, _)| start + at)
}

/// The text by the rule, where that is another one; `state` is what came before it.
pub(super) fn cleaned(text: &str, state: Option<&mut Preceding>) -> Option<String> {
    let mut own = Preceding::default();
    let state = state.unwrap_or(&mut own);
    let first = first_concern(text);
    if first.is_none() && !state.broke {
        state.see(text);
        return None;
    }
    let start = first.unwrap_or(0);
    let mut clean = String::with_capacity(text.len());
    if start > 0 {
        clean.push_str(&text[..start]);
        if state.broke && clean.starts_with('\n') {
            clean.remove(0);
        }
        state.see(&text[..start]);
    }
    let mut rest = text[start..].chars().peekable();
    while let Some(character) = rest.next() {
        if let Some(kept) = state.kept(character, &mut rest) {
            state.after(kept);
            clean.push(kept);
        }
    }
    (clean != text).then_some(clean)
}

/// What the rule remembers of the text before a character.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Preceding {
    /// The last character that stayed.
    last: Option<char>,
    /// The last one that stayed and is no mark, joiner or selector.
    base: Option<char>,
    /// Tags of a flag that are still to come, and were looked at.
    tags: usize,
    /// The last character was a CR, whose LF is no second line break.
    broke: bool,
}

impl Preceding {
    /// Text that stays as it is.
    fn see(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.broke = false;
        self.last = text.chars().next_back();
        // A letter with more marks than that is not one that a joiner may join.
        self.base = text.chars().rev().take(MOST_MARKS).find(|character| !belongs(*character));
    }

    fn after(&mut self, character: char) {
        self.last = Some(character);
        if !belongs(character) {
            self.base = Some(character);
        }
    }

    /// What a character becomes; nothing where it goes.
    fn kept(&mut self, character: char, rest: &mut Peekable<Chars<'_>>) -> Option<char> {
        let after_break = std::mem::replace(&mut self.broke, character == '\r');
        let kept = match character {
            '\n' => return (!after_break).then_some('\n'),
            '\t' => true,
            '\r' | '\u{2028}' | '\u{2029}' => return Some('\n'),
            _ if !concerns(character) => true,
            NON_JOINER => self.is_joining(),
            JOINER => self.is_joining() || self.is_pictograph(),
            '\u{fe0e}' | '\u{fe0f}' => self.is_emoji(rest.peek().copied()),
            '\u{180b}'..='\u{180f}' => self.is_mongolian(),
            VOWEL_FILLER => self
                .last
                .is_some_and(|last| last != LEADING_FILLER && HANGUL.get(last) == HangulSyllableType::LeadingJamo),
            LEADING_FILLER => rest
                .peek()
                .is_some_and(|next| *next != VOWEL_FILLER && HANGUL.get(*next) == HangulSyllableType::VowelJamo),
            tag if is_tag(tag) => self.is_flag(tag, rest),
            _ => false,
        };
        kept.then_some(character)
    }

    /// Whether a joiner would join, or keep apart, letters here.
    fn is_joining(&self) -> bool {
        let repeated = matches!(self.last, Some(NON_JOINER | JOINER));
        !repeated && self.base.is_some_and(base_joins)
    }

    /// Whether the last thing is a pictograph to which another one may be joined.
    fn is_pictograph(&self) -> bool {
        self.last != Some(JOINER) && self.base.is_some_and(|base| PICTOGRAPH.contains(base))
    }

    fn is_emoji(&self, next: Option<char>) -> bool {
        self.last.is_some_and(|last| EMOJI.contains(last) && (!last.is_ascii() || next == Some(KEYCAP)))
    }

    fn is_mongolian(&self) -> bool {
        self.last.is_some_and(|last| last.is_alphabetic() && SCRIPT.get(last) == Script::Mongolian)
    }

    /// Whether a tag is one of a flag: its first one looks at all of them.
    fn is_flag(&mut self, tag: char, rest: &Peekable<Chars<'_>>) -> bool {
        if self.tags > 0 {
            self.tags -= 1;
            return true;
        }
        let whole = |name: &&str| {
            let tags = name.bytes().filter_map(|letter| char::from_u32(0xe0000 + u32::from(letter)));
            let given = std::iter::once(tag).chain(rest.clone());
            given.take(name.len() + 1).eq(tags.chain([END_OF_TAGS]))
        };
        let flag = self.last == Some(BLACK_FLAG) && TAGGED_FLAGS.iter().any(whole);
        if flag {
            self.tags = TAGGED_FLAGS[0].len();
        }
        flag
    }
}

fn is_tag(character: char) -> bool {
    matches!(character, '\u{e0020}'..='\u{e007f}')
}

/// Whether a character is a part of the one before it.
fn belongs(character: char) -> bool {
    matches!(character, NON_JOINER | JOINER) || is_mark(character) || SKIN_TONE.contains(character) || is_tag(character)
}

fn is_mark(character: char) -> bool {
    let category = CATEGORY.get(character);
    category == GeneralCategory::NonspacingMark
        || category == GeneralCategory::SpacingMark
        || category == GeneralCategory::EnclosingMark
}

/// Whether letters of this one's script are written joined.
fn base_joins(base: char) -> bool {
    let joining = JOINING.get(base);
    if joining == JoiningType::DualJoining
        || joining == JoiningType::RightJoining
        || joining == JoiningType::LeftJoining
    {
        return true;
    }
    let (indic, script) = (INDIC.get(base), SCRIPT.get(base));
    indic != IndicSyllabicCategory::Other
        && indic != IndicSyllabicCategory::Number
        && script != Script::Common
        && script != Script::Inherited
}
