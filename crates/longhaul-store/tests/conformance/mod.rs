//! What every store promises, one function per promise, written against `&dyn Store` and `&dyn WholeStore` alone.
//!
//! Each database calls every function here with a harness of its own over fresh data; a function that is not called is a
//! warning, and warnings fail the build. Nothing in here may know which database answers.

pub(crate) mod accounts;
pub(crate) mod api_keys;
pub(crate) mod bell;
pub(crate) mod families;
pub(crate) mod faulty;
pub(crate) mod feed;
pub(crate) mod history;
pub(crate) mod keeping;
pub(crate) mod keys;
pub(crate) mod leases;
pub(crate) mod moving;
pub(crate) mod notices;
pub(crate) mod refusals;
pub(crate) mod sample;
pub(crate) mod sessions;
pub(crate) mod submitting;
pub(crate) mod summaries;
pub(crate) mod tenants;

use std::sync::Arc;

use async_trait::async_trait;
use longhaul_store::WholeStore;

/// One set of data that can be opened again and again; two openings at once are two handles on the same data.
#[async_trait]
pub(crate) trait Harness: Send + Sync {
    /// Opens the data.
    async fn open(&self) -> Arc<dyn WholeStore>;
}
