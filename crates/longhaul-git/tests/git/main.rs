//! The git wrapper against the real git program: hostile, odd and broken repositories, kills, and many at once.
//!
//! `scene` builds repositories with plain git; each other module holds one kind of trouble.

#[cfg(test)]
mod adopting;
#[cfg(test)]
mod checkouts;
#[cfg(test)]
mod clean;
#[cfg(test)]
mod commits;
#[cfg(test)]
mod conversions;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod ignored_files;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod landing;
#[cfg(test)]
mod locks;
#[cfg(test)]
mod merging;
#[cfg(test)]
mod names;
#[cfg(test)]
mod parallel;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod traps;
#[cfg(test)]
mod trees;
#[cfg(test)]
mod worktrees;
