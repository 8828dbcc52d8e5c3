//! The formats as issuers document them: what is public stands as it is, what is drawn in braces (a set and a length).
//! Written apart from the table of the redactor, so that a slip in one shows in the other. Nothing here was ever valid.

use super::Random;

/// `{x20}` draws 20 characters of the set `x`, see `set`.
pub(super) const FORMATS: &[&str] = &[
    // Model providers.
    "sk-ant-api03-{u93}AA",
    "sk-ant-admin01-{u93}AA",
    "sk-ant-oat01-{u60}",
    "sk-ant-ort01-{u60}",
    "sk-ant-sid01-{u60}",
    "sk-{a20}T3BlbkFJ{a20}",
    "sk-proj-{u58}T3BlbkFJ{u58}",
    "sk-proj-{u74}T3BlbkFJ{u74}",
    "sk-svcacct-{u58}T3BlbkFJ{u58}",
    "sk-service-{u58}T3BlbkFJ{u58}",
    "sk-admin-{u58}T3BlbkFJ{u58}",
    "sk-or-v1-{h64}",
    "sk-{h32}",
    "sk-{a48}",
    "gsk_{a52}",
    "xai-{a80}",
    "AIza{u35}",
    "ya29.{u60}",
    "GOCSPX-{u28}",
    "hf_{a34}",
    "api_org_{a34}",
    "r8_{a37}",
    "pplx-{a48}",
    "nvapi-{u64}",
    "sk_{h48}",
    "pcsk_{a6}_{a63}",
    "lsv2_pt_{h32}_{h10}",
    "lsv2_sk_{h32}_{h10}",
    "sk-lf-{h8}-{h4}-{h4}-{h4}-{h12}",
    "ABSK{b120}",
    "bedrock-api-key-{b120}",
    // Code hosts, registries, CI.
    "ghp_{a36}",
    "gho_{a36}",
    "ghu_{a36}",
    "ghr_{a36}",
    "ghs_{a36}",
    "ghs_1234567_eyJ{u40}.eyJ{u300}.{u86}",
    "github_pat_{a22}_{a59}",
    "glpat-{u20}",
    "glpat-{u27}.{l9}",
    "gldt-{u20}",
    "glft-{u20}",
    "glrt-{u20}",
    "glptt-{h40}",
    "glsoat-{u20}",
    "glcbt-{l2}_{u20}",
    "glagent-{u50}",
    "glimt-{u25}",
    "gloas-{u64}",
    "glffct-{u20}",
    "GR1348941{u20}",
    "_gitlab_session={l32}",
    "ATBB{a32}",
    "ATATT3{u186}",
    "ATCTT3xFfG{u171}",
    "bkua_{h40}",
    "CCIPAT_{a22}_{h40}",
    "npm_{a36}",
    "pypi-AgEIcHlwaS5vcmc{u70}",
    "rubygems_{h48}",
    "cio{a32}",
    "oy2{l43}",
    "dckr_pat_{u27}",
    "dckr_oat_{u32}",
    "AKCp{a69}",
    "cmVmd{a59}",
    "CLOJARS_{l60}",
    "sgp_{h40}",
    "sgp_{h16}_{h40}",
    // Cloud and infrastructure.
    "AKIA{A16}",
    "ASIA{A16}",
    "ABIA{A16}",
    "ACCA{A16}",
    "A3TX{A16}",
    "{a3}7Q~{u34}",
    "AccountKey={b86}==",
    "dop_v1_{h64}",
    "doo_v1_{h64}",
    "dor_v1_{h64}",
    "cfk_{a48}",
    "cfut_{a48}",
    "cfat_{a48}",
    "v1.0-{h24}-{h146}",
    "fo1_{u43}",
    "fm1a_{b160}",
    "fm1r_{b160}",
    "fm2_{b160}",
    "HRKU-AA{u58}",
    "vcp_{a24}",
    "vci_{a24}",
    "vca_{a56}",
    "vcr_{a56}",
    "vck_{a56}",
    "nfp_{a36}",
    "sbp_{h40}",
    "pscale_tkn_{u43}",
    "pscale_oauth_{u43}",
    "pscale_pw_{u43}",
    "dapi{h32}",
    "dp.pt.{a43}",
    "dp.st.dev.{a43}",
    "dp.ct.{a43}",
    "dp.scim.{a43}",
    "hvs.{u95}",
    "hvb.{u150}",
    "hvr.{u95}",
    "{a14}.atlasv1.{u67}",
    "pul-{h40}",
    "tskey-auth-{a12}-{a32}",
    "tskey-api-{a12}-{a32}",
    "ops_eyJ{b260}",
    "A3-{A6}-{A11}-{A5}-{A5}-{A5}",
    "AGE-SECRET-KEY-1{A58}",
    "sha256~{u43}",
    "dt0c01.{A24}.{A64}",
    "glc_{b100}",
    "glsa_{a32}_{h8}",
    "sntrys_{b120}",
    "sntryu_{h64}",
    "ico-{a32}",
    // Services.
    "xoxb-{d12}-{d12}-{a24}",
    "xoxp-{d12}-{d12}-{d12}-{h32}",
    "xoxa-{d12}-{h32}",
    "xoxr-{d12}-{h32}",
    "xoxs-{d12}-{h32}",
    "xoxe-1-{a140}",
    "xoxe.xoxp-1-{a160}",
    "xapp-1-{A11}-{d13}-{h64}",
    "hooks.slack.com/services/T{A10}/B{A10}/{a24}",
    "sk_live_{a24}",
    "sk_test_{a99}",
    "rk_live_{a24}",
    "whsec_{b32}",
    "SK{h32}",
    "SG.{u22}.{u43}",
    "key-{h32}",
    "lin_api_{a40}",
    "ntn_{a46}",
    "figd_{u43}",
    "pat{a14}.{h64}",
    "PMAK-{h24}-{h34}",
    "shpat_{h32}",
    "shpca_{h32}",
    "shppa_{h32}",
    "shpss_{h32}",
    "EAAA{u60}",
    "sq0atp-{u22}",
    "{d10}:AA{u33}",
    "M{a23}.{u6}.{u27}",
    "discord.com/api/webhooks/{d19}/{u68}",
    "acme.webhook.office.com/webhookb2/{h8}-{h4}-{h4}-{h4}-{h12}@{h8}-{h4}-{h4}-{h4}-{h12}/IncomingWebhook/{h32}",
    "phx_{a43}",
    "NRAK-{A27}",
    "api-{h8}-{h4}-{h4}-{h4}-{h12}",
    "sdk-{h8}-{h4}-{h4}-{h4}-{h12}",
    "pnu_{l36}",
    "rdme_{l70}",
    // Values that only their name tells.
    "AWS_SECRET_ACCESS_KEY={b40}",
    "AWS_SESSION_TOKEN={b360}",
    "DB_PASSWORD={b40}",
    "client_secret: \"{b40}\"",
    "\"api_key\": \"{u40}\"",
    "Authorization: Bearer {u64}",
    "x-api-key: {u40}",
    "Cookie: session={u64}",
    "postgres://app:{u24}@db.example:5432/app",
    // Structures that need nothing around them, and our own.
    "-----BEGIN PRIVATE KEY-----\n{b64}\n{b64}\n{b64}\n{b30}\n-----END PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{b70}\n{b70}\n{b70}\n{b70}\n-----END OPENSSH PRIVATE KEY-----",
    "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJ{u400}.{u342}",
    "EAAA{u30}",
    "eyJhbGciOiJIUzI1NiJ9.eyJ{u60}.{u43}",
    "ZXlKaGJHY2lPaUpJVXpJMU5pSjku{a80}",
    "lh_{u43}",
];

/// A made-up token; the drawn part begins behind the public one.
pub(super) struct Sample {
    pub(super) text: String,
    pub(super) public: usize,
    /// Where the last drawn part ends.
    pub(super) end: usize,
}

impl Sample {
    pub(super) fn secret(&self) -> &[u8] {
        &self.text.as_bytes()[self.public..self.end]
    }
}

pub(super) fn sample(format: &str, random: &mut Random) -> Sample {
    let mut text = String::new();
    let mut parts = format.split(['{', '}']);
    text += parts.next().expect("a split has a first part");
    let public = text.len();
    let mut end = public;
    while let (Some(drawn), Some(fixed)) = (parts.next(), parts.next()) {
        let (set, length) = drawn.split_at(1);
        let set = set_of(set);
        text.extend(
            (0..length.parse::<usize>().expect("a length follows the set"))
                .map(|_| char::from(set[random.below(set.len())])),
        );
        end = text.len();
        text += fixed;
    }
    Sample { text, public, end }
}

fn set_of(name: &str) -> &'static [u8] {
    match name {
        "h" => b"0123456789abcdef",
        "d" => b"123456789",
        "l" => b"abcdefghijklmnopqrstuvwxyz0123456789",
        "A" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "a" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "u" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        "b" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        other => panic!("no set {other}"),
    }
}
