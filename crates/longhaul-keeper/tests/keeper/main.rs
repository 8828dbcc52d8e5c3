//! The keeper against real processes and real files: it is killed, lied to and run away from.
//!
//! `scene` builds a home with sessions in it; each other module holds one kind of trouble.

#[cfg(test)]
mod adopt;
#[cfg(test)]
mod containment;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod discard;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod files;
#[cfg(test)]
mod flood;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod lock;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod protection;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod start;
