//! Random bytes from the operating system: the one place that asks for chance.
//! The pure core gets them as arguments.

/// Bytes from the operating system's generator.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}
