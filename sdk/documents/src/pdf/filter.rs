//! What streams are packed with, unpacked to a limit. Pictures stay packed.

use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};

/// Columns of a predictor, in bytes.
const MOST_COLUMNS: usize = 1 << 20;

/// Unpacks to at most one byte more than the limit. Nothing where the filter is
/// none of those that text has; what is damaged unpacks as far as it goes.
pub(super) fn apply(
    name: &[u8],
    data: &[u8],
    parameter: &dyn Fn(&str) -> Option<usize>,
    limit: usize,
) -> Option<Vec<u8>> {
    Some(match name {
        b"FlateDecode" | b"Fl" => predict(flate(data, limit), parameter),
        b"LZWDecode" | b"LZW" => predict(lzw(data, parameter("EarlyChange") != Some(0), limit), parameter),
        b"ASCIIHexDecode" | b"AHx" => hexadecimal(data),
        b"ASCII85Decode" | b"A85" => base85(data, limit),
        b"RunLengthDecode" | b"RL" => run_length(data, limit),
        b"Crypt" => data.to_vec(),
        _ => return None,
    })
}

fn flate(data: &[u8], limit: usize) -> Vec<u8> {
    let mut unpacked = Vec::new();
    // An error ends what could be read.
    let _ = ZlibDecoder::new(data).take(limit as u64 + 1).read_to_end(&mut unpacked);
    if unpacked.is_empty() && data.len() > 2 {
        let _ = DeflateDecoder::new(&data[2..]).take(limit as u64 + 1).read_to_end(&mut unpacked);
    }
    unpacked
}

fn lzw(data: &[u8], early: bool, limit: usize) -> Vec<u8> {
    use weezl::{BitOrder, LzwStatus, decode::Decoder};
    let mut decoder = match early {
        true => Decoder::with_tiff_size_switch(BitOrder::Msb, 8),
        false => Decoder::new(BitOrder::Msb, 8),
    };
    let (mut unpacked, mut piece, mut rest) = (Vec::new(), vec![0; 8 << 10], data);
    while unpacked.len() <= limit {
        let step = decoder.decode_bytes(rest, &mut piece);
        rest = &rest[step.consumed_in..];
        unpacked.extend_from_slice(&piece[..step.consumed_out]);
        let stuck = step.consumed_in == 0 && step.consumed_out == 0;
        if stuck || !matches!(step.status, Ok(LzwStatus::Ok)) {
            break;
        }
    }
    unpacked.truncate(limit + 1);
    unpacked
}

fn hexadecimal(data: &[u8]) -> Vec<u8> {
    let end = memchr::memchr(b'>', data).unwrap_or(data.len());
    let digits: Vec<u8> = data[..end]
        .iter()
        .filter_map(|byte| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

fn base85(data: &[u8], limit: usize) -> Vec<u8> {
    let mut unpacked = Vec::new();
    let mut group = [0_u32; 5];
    let mut filled = 0;
    let mut flush = |group: &[u32; 5], filled: usize| {
        let value = group.iter().fold(0_u32, |value, digit| value.wrapping_mul(85).wrapping_add(*digit));
        unpacked.extend_from_slice(&value.to_be_bytes()[..filled - 1]);
        unpacked.len() > limit
    };
    for byte in data.strip_prefix(b"<~").unwrap_or(data) {
        match byte {
            b'~' => break,
            b'z' if filled == 0 && flush(&[0; 5], 5) => break,
            b'z' => {}
            b'!'..=b'u' => {
                group[filled] = u32::from(byte - b'!');
                filled += 1;
                if filled == 5 {
                    filled = 0;
                    if flush(&group, 5) {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    if filled > 1 {
        group[filled..].fill(84);
        flush(&group, filled);
    }
    unpacked
}

fn run_length(data: &[u8], limit: usize) -> Vec<u8> {
    let mut unpacked = Vec::new();
    let mut rest = data;
    while let [length, tail @ ..] = rest {
        match *length {
            128 => break,
            length @ ..128 => {
                let literal = &tail[..tail.len().min(usize::from(length) + 1)];
                unpacked.extend_from_slice(literal);
                rest = &tail[literal.len()..];
            }
            length => {
                let Some(byte) = tail.first() else { break };
                unpacked.extend(std::iter::repeat_n(*byte, 257 - usize::from(length)));
                rest = &tail[1..];
            }
        }
        if unpacked.len() > limit {
            break;
        }
    }
    unpacked
}

/// Takes back what made rows easier to pack. Object streams and text have it
/// rarely, and then that of PNG.
fn predict(data: Vec<u8>, parameter: &dyn Fn(&str) -> Option<usize>) -> Vec<u8> {
    if parameter("Predictor").unwrap_or(1) < 10 {
        return data;
    }
    let bits = parameter("Colors").unwrap_or(1).clamp(1, 32) * parameter("BitsPerComponent").unwrap_or(8).clamp(1, 16);
    let columns = parameter("Columns").unwrap_or(1).clamp(1, MOST_COLUMNS);
    let (back, width) = (bits.div_ceil(8), (columns * bits).div_ceil(8));
    let mut plain: Vec<u8> = Vec::with_capacity(data.len());
    let mut above = vec![0_u8; width];
    for line in data.chunks(width + 1) {
        let mut row = line[1..].to_vec();
        for at in 0..row.len() {
            let left = if at >= back { row[at - back] } else { 0 };
            let corner = if at >= back { above[at - back] } else { 0 };
            let guess = match line[0] {
                1 => left,
                2 => above[at],
                3 => u16::midpoint(u16::from(left), u16::from(above[at])).to_le_bytes()[0],
                4 => paeth(left, above[at], corner),
                _ => 0,
            };
            row[at] = row[at].wrapping_add(guess);
        }
        plain.extend_from_slice(&row);
        row.resize(width, 0);
        above = row;
    }
    plain
}

fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(above) - i16::from(corner);
    let far = |value: u8| (guess - i16::from(value)).abs();
    match () {
        () if far(left) <= far(above) && far(left) <= far(corner) => left,
        () if far(above) <= far(corner) => above,
        () => corner,
    }
}
