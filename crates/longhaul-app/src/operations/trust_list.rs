//! `trust_list`: every trusted `longhaul.toml`.
//! Only reads; without a home nothing is trusted.

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};
use crate::trust::{self, Trusted};
use crate::views::{Page, PageInput};

/// The operation `trust_list`.
pub struct TrustList;

/// The trusted files, by path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrustListing {
    /// The files.
    pub trusted: Vec<TrustedFile>,
    /// Pass it as `after` to get the next page; null at the end.
    pub next: Option<u64>,
}

/// A trusted file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrustedFile {
    /// Where it is.
    pub path: String,
    /// The SHA-256 of its content when it was trusted, in hexadecimal.
    pub sha256: String,
    /// When it was trusted.
    pub since: String,
}

impl From<Trusted> for TrustedFile {
    fn from(Trusted { path, sha256, since }: Trusted) -> TrustedFile {
        TrustedFile { path, sha256, since }
    }
}

impl View for TrustListing {
    const KIND: &'static str = "trust";
}

impl Operation for TrustList {
    const ABOUT: About = About::new(
        "trust_list",
        "List trusted configuration files",
        Action::ReadAll("list trusted files"),
        COMMAND_LINE,
    );
    type Input = PageInput;
    type Output = TrustListing;

    async fn run(call: &Call, _: Permit, input: PageInput) -> Result<Answer<TrustListing>, AppError> {
        let mut trusted = trust::list(call.home().root())?.into_iter().map(TrustedFile::from).collect();
        let mut page = Page::new(input);
        page.cut(&mut trusted);
        Ok(Answer::new(TrustListing { trusted, next: page.next() }))
    }
}
