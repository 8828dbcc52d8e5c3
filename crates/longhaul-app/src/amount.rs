//! Amounts of bytes as people like to read them: rounded, with one unit. Used by `gc` and `doctor`.
//! What is to be read back by a program is never written so: that is `config/size.rs`.

const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/// An amount of bytes, rounded to a tenth of its unit.
pub fn bytes(amount: u64) -> String {
    let (mut tenths, mut unit) = (u128::from(amount) * 10, None);
    for name in UNITS {
        // Rounded first, so that 1023.97 KiB is 1.0 MiB and not 1024.0 KiB.
        if tenths < 10_240 {
            break;
        }
        tenths = (tenths + 512) / 1024;
        unit = Some(name);
    }
    match unit {
        Some(name) => format!("{}.{} {name}", tenths / 10, tenths % 10),
        None => format!("{amount} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn amounts_are_rounded_to_a_tenth() {
        let rows = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (10 << 30, "10.0 GiB"),
            (u64::MAX, "16384.0 PiB"),
        ];
        for (amount, text) in rows {
            assert_eq!(bytes(amount), text);
        }
    }
}
