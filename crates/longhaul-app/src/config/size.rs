//! Sizes in bytes as people write them in the configuration: `256MiB`, `1GiB`, `500kB`.
//! Used by `kind.rs` for every key that is a size. Pure; it reads back exactly what it writes.

/// How a size is written, for messages and the reference.
pub(super) const SPELLING: &str = "a size such as `256MiB`, `1GiB` or `500MB`";

/// Binary units, largest first, then decimal units, which are only read.
const UNITS: &[(&str, u64)] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];

const BINARY_UNITS: usize = 5;

/// Reads a size: one number and one unit. `None` if the text is not one.
pub(super) fn read(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (_, factor) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim_start()))?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Writes a size, exactly, in the largest unit that divides it.
pub(crate) fn show(bytes: u64) -> String {
    let fits = |(_, factor): &&(&str, u64)| bytes > 0 && bytes.is_multiple_of(*factor);
    match UNITS[..BINARY_UNITS].iter().find(fits) {
        Some((name, factor)) => format!("{}{name}", bytes / factor),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::{read, show};

    #[test]
    fn spellings_mean_what_they_say() {
        for (text, bytes) in
            [("1GiB", 1 << 30), ("256 MiB", 256 << 20), ("1gib", 1 << 30), ("5MB", 5_000_000), ("0B", 0), ("12B", 12)]
        {
            assert_eq!(read(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in ["", "5", "GiB", "-1GiB", "1.5GiB", "1GiB 2MiB", "1G", "99999999999TiB", "1 parsec"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for bytes in [0, 1, 1023, 1024, 1 << 20, (1 << 30) + 1, 3 << 40, u64::MAX] {
            assert_eq!(read(&show(bytes)), Some(bytes), "{}", show(bytes));
        }
    }
}
