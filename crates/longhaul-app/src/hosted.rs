//! Where a project is hosted, read from the URL of its remote: the program that opens a pull request there, and how that names the project.
//! Used by `land --pr`, before anything is pushed and afterwards. Pure.

/// A project on a host for git repositories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosted {
    host: String,
    path: String,
}

impl Hosted {
    /// Reads `https://host/owner/name.git`, `ssh://git@host:22/owner/name` and `git@host:owner/name`; or why it is none of them.
    pub fn of(url: &str) -> Result<Hosted, String> {
        let none = || format!("`{url}` is not the address of a project that a pull request could be opened for");
        let (host, path) = match url.split_once("://") {
            Some((scheme, rest)) if ["https", "http", "ssh", "git"].contains(&scheme) => {
                rest.split_once('/').ok_or_else(none)?
            }
            Some(_) => return Err(none()),
            None => url.split_once(':').filter(|(host, _)| !host.contains('/')).ok_or_else(none)?,
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        let path = path.trim_matches('/').trim_end_matches(".git");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        let is_name = |text: &str| !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain);
        let is_project = is_name(host) && is_name(path) && path.contains('/') && !host.contains('/');
        if is_project { Ok(Hosted { host: host.to_owned(), path: path.to_owned() }) } else { Err(none()) }
    }

    /// The program that talks to the host.
    pub fn program(&self) -> &'static str {
        if self.is_gitlab() { "glab" } else { "gh" }
    }

    /// Whether it is an instance of GitLab, by its name.
    pub fn is_gitlab(&self) -> bool {
        self.host.contains("gitlab")
    }

    /// The project as that program wants it.
    pub fn project(&self) -> String {
        let scheme = if self.is_gitlab() { "https://" } else { "" };
        format!("{scheme}{}/{}", self.host, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::Hosted;

    #[test]
    fn every_usual_form_of_an_address_is_read() {
        for url in [
            "https://github.com/ann/project.git",
            "https://github.com/ann/project/",
            "ssh://git@github.com:22/ann/project.git",
            "git@github.com:ann/project.git",
        ] {
            let hosted = Hosted::of(url).unwrap();
            assert_eq!((hosted.program(), hosted.project().as_str()), ("gh", "github.com/ann/project"), "{url}");
        }
        let gitlab = Hosted::of("git@gitlab.example.org:group/sub/project.git").unwrap();
        assert_eq!(
            (gitlab.program(), gitlab.project().as_str()),
            ("glab", "https://gitlab.example.org/group/sub/project")
        );
        for url in [
            "/srv/git/project.git",
            "file:///srv/project",
            "ext::sh -c x",
            "https://host/only",
            "--upload-pack=x",
            "h:-x/y",
        ] {
            assert!(Hosted::of(url).is_err(), "{url}");
        }
    }
}
