//! What the names of glyphs stand for: the Latin ones, those that spell a code
//! point, and the usual punctuation. Accents are put together from their parts.

use unicode_normalization::char::compose;

const NAMES: &str = "space   exclam ! quotedbl \" numbersign # dollar $ percent % ampersand & quotesingle ' \
parenleft ( parenright ) asterisk * plus + comma , hyphen - minus − period . slash / zero 0 one 1 two 2 three 3 \
four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @ \
bracketleft [ backslash \\ bracketright ] asciicircum ^ underscore _ grave ` braceleft { bar | braceright } \
asciitilde ~ exclamdown ¡ cent ¢ sterling £ currency ¤ yen ¥ brokenbar ¦ section § dieresis ¨ copyright © \
ordfeminine ª guillemotleft « logicalnot ¬ registered ® macron ¯ degree ° plusminus ± twosuperior ² \
threesuperior ³ acute ´ mu µ paragraph ¶ periodcentered · cedilla ¸ onesuperior ¹ ordmasculine º \
guillemotright » onequarter ¼ onehalf ½ threequarters ¾ questiondown ¿ multiply × divide ÷ AE Æ ae æ OE Œ oe œ \
Oslash Ø oslash ø Eth Ð eth ð Thorn Þ thorn þ germandbls ß dotlessi ı Lslash Ł lslash ł quoteleft ‘ quoteright ’ \
quotesinglbase ‚ quotedblleft “ quotedblright ” quotedblbase „ guilsinglleft ‹ guilsinglright › endash – \
emdash — bullet • ellipsis … dagger † daggerdbl ‡ perthousand ‰ trademark ™ Euro € florin ƒ fraction ⁄ \
circumflex ˆ tilde ˜ ring ˚ caron ˇ breve ˘ dotaccent ˙ ogonek ˛ hungarumlaut ˝ fi ﬁ fl ﬂ ff ﬀ ffi ﬃ ffl ﬄ \
Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο \
Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ \
eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ sigma σ sigma1 ς tau τ upsilon υ phi φ \
chi χ psi ψ omega ω infinity ∞ notequal ≠ lessequal ≤ greaterequal ≥ partialdiff ∂ summation ∑ product ∏ \
radical √ integral ∫ approxequal ≈ lozenge ◊ arrowleft ← arrowup ↑ arrowright → arrowdown ↓";

const ACCENTS: [(&str, char); 13] = [
    ("grave", '\u{300}'),
    ("acute", '\u{301}'),
    ("circumflex", '\u{302}'),
    ("tilde", '\u{303}'),
    ("macron", '\u{304}'),
    ("breve", '\u{306}'),
    ("dotaccent", '\u{307}'),
    ("dieresis", '\u{308}'),
    ("ring", '\u{30A}'),
    ("hungarumlaut", '\u{30B}'),
    ("caron", '\u{30C}'),
    ("cedilla", '\u{327}'),
    ("ogonek", '\u{328}'),
];

/// What a glyph of this name stands for.
pub(super) fn character(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    // `a.alt` is an `a` of another shape.
    let name = match name.split_once('.') {
        Some(("", _)) => return None,
        Some((name, _)) => name,
        None => name,
    };
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return Some(letter);
    }
    if name == "space" || name == "nbspace" {
        return Some(' ');
    }
    let mut names = NAMES.split_ascii_whitespace().skip(1);
    while let (Some(known), Some(character)) = (names.next(), names.next()) {
        if known == name {
            return character.chars().next();
        }
    }
    let accented = ACCENTS.iter().find_map(|(accent, mark)| {
        let base = name.strip_suffix(accent)?;
        compose(if base == "dotlessi" { 'i' } else { single(base)? }, *mark)
    });
    accented.or_else(|| {
        let digits = name.strip_prefix("uni").filter(|digits| digits.len() == 4);
        let digits = digits.or_else(|| name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len())))?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    })
}

fn single(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}
