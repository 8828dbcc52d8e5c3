//! Named system calls that a test can make fail, where no real disk or kernel can be brought to.
//!
//! Called just before the call it replaces. In release builds it is nothing at all.
//!
//! `LONGHAUL_FAULTS="keeper.sync=5"`: every call of that name fails with that error number.

use std::io;

/// Fails if a test wants this call to fail.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn strike(_name: &str) -> io::Result<()> {
    Ok(())
}

/// Fails if a test wants this call to fail.
#[cfg(debug_assertions)]
pub(crate) fn strike(name: &str) -> io::Result<()> {
    let faults = std::env::var("LONGHAUL_FAULTS").unwrap_or_default();
    let number = faults.split(',').find_map(|fault| fault.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
    number.map_or(Ok(()), |number| Err(io::Error::from_raw_os_error(number)))
}
