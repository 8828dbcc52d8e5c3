//! The table of token formats: prefix, characters of the run behind it, and how long it is.
//!
//! `literals` finds the prefixes, `token` judges the runs. Lengths are what issuers make today; a telling prefix needs far
//! less, and nothing has a greatest length. Formats that only a name or a middle part reveals have their own files.

use super::charset::{ALNUM, BASE64, Charset, DOTTED, HEX, HEX_DASH, LOWER, PATH, UPPER, UPPER_DASH, URL_SAFE, WORD};

/// One kind of token.
#[derive(Debug)]
pub(crate) struct Format {
    /// What masks are named after.
    pub(crate) name: &'static str,
    /// The literals it begins with.
    pub(crate) prefixes: &'static [&'static str],
    /// What the run behind the prefix is made of, separators included.
    pub(crate) charset: Charset,
    /// So long a run is a token even when it does not look drawn at random.
    pub(crate) least: usize,
    /// A run cut by a line break continues in the next line up to this length.
    pub(crate) usual: usize,
    pub(crate) prefix: Prefix,
    pub(crate) before: Before,
    /// Which separator must be where in the run.
    pub(crate) inner: &'static [(usize, u8)],
}

/// How much the prefix says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// Nothing else begins like this.
    Telling,
    /// Words and names begin like this too.
    Common,
    /// As `Common`, but the run has so few kinds of characters that its length alone tells.
    Exact,
}

/// What may come before the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Anything,
    /// No vowel: `task-`, `disk-` and `mask-` are words.
    NoEnglish,
    /// No capital and no digit.
    NoUpper,
    /// Not the middle of a word or of base64, where chance makes such a prefix.
    NoBlob,
}

const fn telling(
    name: &'static str,
    prefixes: &'static [&'static str],
    charset: Charset,
    least: usize,
    usual: usize,
) -> Format {
    Format { name, prefixes, charset, least, usual, prefix: Prefix::Telling, before: Before::Anything, inner: &[] }
}

const fn common(
    name: &'static str,
    prefixes: &'static [&'static str],
    charset: Charset,
    least: usize,
    before: Before,
) -> Format {
    Format { name, prefixes, charset, least, usual: least, prefix: Prefix::Common, before, inner: &[] }
}

const UUID: &[(usize, u8)] = &[(8, b'-'), (13, b'-'), (18, b'-'), (23, b'-')];

/// All formats; `docs/concepts/redaction.md` lists what they are.
pub(crate) static FORMATS: &[Format] = &[
    // Model providers.
    telling("anthropic-key", &["sk-ant-api03-", "sk-ant-admin01-"], URL_SAFE, 20, 95),
    telling("anthropic-oauth", &["sk-ant-oat01-", "sk-ant-ort01-", "sk-ant-sid01-"], URL_SAFE, 20, 95),
    common("anthropic-key", &["sk-ant-"], URL_SAFE, 24, Before::NoEnglish),
    telling("openai-key", &["sk-proj-"], URL_SAFE, 40, 156),
    telling("openai-key", &["sk-svcacct-", "sk-service-"], URL_SAFE, 40, 156),
    telling("openai-key", &["sk-admin-"], URL_SAFE, 40, 124),
    telling("openrouter-key", &["sk-or-v1-"], HEX, 32, 64),
    telling("langfuse-key", &["sk-lf-"], HEX_DASH, 32, 36),
    Format { usual: 48, ..common("sk-key", &["sk-"], URL_SAFE, 20, Before::NoEnglish) },
    telling("groq-key", &["gsk_"], ALNUM, 20, 52),
    telling("xai-key", &["xai-"], ALNUM, 24, 80),
    telling("google-api-key", &["AIza"], URL_SAFE, 30, 35),
    telling("google-oauth", &["ya29."], DOTTED, 10, 200),
    telling("google-client-secret", &["GOCSPX-"], URL_SAFE, 20, 28),
    common("huggingface-token", &["hf_"], ALNUM, 30, Before::Anything),
    common("huggingface-org-token", &["api_org_"], ALNUM, 30, Before::Anything),
    telling("replicate-token", &["r8_"], ALNUM, 30, 37),
    telling("perplexity-key", &["pplx-"], ALNUM, 32, 48),
    telling("nvidia-key", &["nvapi-"], URL_SAFE, 32, 64),
    common("elevenlabs-key", &["sk_"], HEX, 40, Before::NoEnglish),
    telling("pinecone-key", &["pcsk_"], WORD, 40, 70),
    telling("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], WORD, 24, 43),
    telling("bedrock-key", &["ABSK"], BASE64, 80, 109),
    telling("bedrock-short-key", &["bedrock-api-key-"], BASE64, 24, 200),
    // Code hosts, registries, CI.
    telling("github-token", &["ghp_", "gho_", "ghu_", "ghr_"], WORD, 30, 36),
    telling("github-app-token", &["ghs_"], DOTTED, 30, 36),
    telling("github-pat", &["github_pat_"], WORD, 40, 82),
    telling("gitlab-token", &["glpat-"], DOTTED, 18, 20),
    telling("gitlab-token", &["gldt-", "glft-", "glrt-", "glrtr-", "glsoat-", "glffct-"], DOTTED, 18, 20),
    telling("gitlab-trigger", &["glptt-"], HEX, 20, 40),
    telling("gitlab-job-token", &["glcbt-"], DOTTED, 18, 22),
    telling("gitlab-agent-token", &["glagent-"], URL_SAFE, 24, 50),
    telling("gitlab-mail-token", &["glimt-"], URL_SAFE, 20, 25),
    telling("gitlab-oauth-secret", &["gloas-"], URL_SAFE, 32, 64),
    telling("gitlab-runner", &["GR1348941"], URL_SAFE, 18, 20),
    telling("gitlab-session", &["_gitlab_session="], ALNUM, 24, 32),
    telling("bitbucket-password", &["ATBB"], ALNUM, 24, 32),
    telling("atlassian-token", &["ATATT3", "ATCTT3xFfG"], BASE64, 40, 186),
    telling("buildkite-token", &["bkua_"], ALNUM, 24, 40),
    telling("circleci-token", &["CCIPAT_", "CCIPRJ_"], WORD, 40, 63),
    common("npm-token", &["npm_"], ALNUM, 30, Before::Anything),
    telling("pypi-token", &["pypi-Ag"], URL_SAFE, 40, 150),
    telling("rubygems-token", &["rubygems_"], HEX, 32, 48),
    common("cargo-token", &["cio"], ALNUM, 32, Before::NoBlob),
    common("nuget-key", &["oy2"], LOWER, 43, Before::Anything),
    telling("docker-token", &["dckr_pat_", "dckr_oat_"], URL_SAFE, 20, 32),
    telling("artifactory-key", &["AKCp"], ALNUM, 60, 69),
    common("artifactory-reference", &["cmVmd"], ALNUM, 59, Before::NoBlob),
    telling("clojars-token", &["CLOJARS_"], ALNUM, 40, 60),
    telling("sourcegraph-token", &["sgp_"], WORD, 30, 40),
    // Cloud and infrastructure.
    Format { prefix: Prefix::Exact, ..telling("aws-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], UPPER, 16, 16) },
    Format { prefix: Prefix::Exact, ..telling("aws-key-id", &["A3T"], UPPER, 17, 17) },
    telling("azure-storage-key", &["AccountKey=", "SharedAccessKey="], BASE64, 40, 88),
    telling("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], HEX, 32, 64),
    telling("cloudflare-token", &["cfk_", "cfut_", "cfat_"], ALNUM, 32, 48),
    common("cloudflare-origin-key", &["v1.0-"], HEX_DASH, 100, Before::Anything),
    telling("fly-token", &["fo1_"], URL_SAFE, 30, 43),
    telling("fly-token", &["fm1a_", "fm1r_", "fm2_"], BASE64, 40, 400),
    telling("heroku-key", &["HRKU-"], URL_SAFE, 30, 60),
    common("vercel-token", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], ALNUM, 20, Before::Anything),
    telling("netlify-token", &["nfp_"], ALNUM, 30, 36),
    telling("supabase-token", &["sbp_"], ALNUM, 30, 40),
    telling("supabase-secret", &["sb_secret_"], WORD, 20, 31),
    telling("planetscale-token", &["pscale_tkn_", "pscale_oauth_", "pscale_pw_"], DOTTED, 32, 43),
    common("databricks-token", &["dapi"], HEX, 32, Before::Anything),
    telling("doppler-token", &["dp.pt.", "dp.ct.", "dp.st.", "dp.sa.", "dp.scim.", "dp.audit."], DOTTED, 40, 43),
    telling("vault-token", &["hvs.", "hvb.", "hvr."], URL_SAFE, 24, 90),
    telling("pulumi-token", &["pul-"], HEX, 32, 40),
    telling("tailscale-key", &["tskey-"], URL_SAFE, 16, 40),
    telling("1password-token", &["ops_eyJ"], BASE64, 60, 250),
    Format { prefix: Prefix::Exact, ..telling("1password-key", &["A3-"], UPPER_DASH, 30, 36) },
    telling("age-key", &["AGE-SECRET-KEY-1"], UPPER, 40, 58),
    telling("openshift-token", &["sha256~"], URL_SAFE, 40, 43),
    telling("dynatrace-token", &["dt0c01.", "dt0s01.", "dt0s16."], DOTTED, 60, 89),
    common("grafana-cloud-token", &["glc_"], BASE64, 32, Before::Anything),
    telling("grafana-token", &["glsa_"], WORD, 32, 41),
    telling("sentry-token", &["sntrys_"], BASE64, 40, 200),
    telling("sentry-token", &["sntryu_"], HEX, 40, 64),
    common("infracost-key", &["ico-"], ALNUM, 32, Before::Anything),
    // Services.
    telling(
        "slack-token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxo-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-"],
        BASE64,
        20,
        50,
    ),
    telling("slack-token", &["xoxe.xoxb-", "xoxe.xoxp-"], BASE64, 20, 160),
    telling("slack-app-token", &["xapp-"], URL_SAFE, 20, 90),
    telling("slack-webhook", &["hooks.slack.com/services/", "hooks.slack.com/workflows/"], PATH, 40, 43),
    telling("discord-webhook", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], PATH, 60, 87),
    telling("teams-webhook", &[".webhook.office.com/webhookb2/"], PATH, 40, 100),
    telling("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"], ALNUM, 10, 24),
    telling("webhook-secret", &["whsec_"], BASE64, 20, 32),
    common("twilio-key", &["SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7"], HEX, 31, Before::NoUpper),
    common("twilio-key", &["SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"], HEX, 31, Before::NoUpper),
    // `en_SG.ISO8859-1` is a locale.
    Format { inner: &[(22, b'.')], ..telling("sendgrid-key", &["SG."], DOTTED, 60, 66) },
    common("mailgun-key", &["key-"], ALNUM, 32, Before::Anything),
    telling("linear-key", &["lin_api_", "lin_oauth_"], ALNUM, 30, 40),
    common("notion-token", &["ntn_"], ALNUM, 40, Before::Anything),
    telling("figma-token", &["figd_"], URL_SAFE, 30, 40),
    Format { inner: &[(14, b'.')], ..common("airtable-token", &["pat"], DOTTED, 60, Before::Anything) },
    telling("postman-key", &["PMAK-"], HEX_DASH, 40, 59),
    telling("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], HEX, 24, 32),
    Format { usual: 60, ..common("square-token", &["EAAA"], URL_SAFE, 26, Before::NoBlob) },
    telling("square-token", &["sq0atp-", "sq0csp-"], URL_SAFE, 20, 43),
    telling("posthog-key", &["phx_", "phc_"], ALNUM, 32, 43),
    telling("newrelic-key", &["NRAK-"], ALNUM, 20, 27),
    Format { inner: UUID, ..common("launchdarkly-key", &["api-", "sdk-", "mob-"], HEX_DASH, 36, Before::Anything) },
    telling("prefect-key", &["pnu_", "pnb_"], ALNUM, 30, 36),
    telling("readme-key", &["rdme_"], ALNUM, 40, 70),
    // A JSON web token in base64 once more.
    common("wrapped-jwt", &["ZXlK"], BASE64, 40, Before::NoBlob),
    // Our own.
    common("longhaul-key", &["lh_"], URL_SAFE, 24, Before::Anything),
];
