//! `longhaul keys`: creates, lists and revokes API keys. A new key is printed on stdout, once, and nowhere else.
//! Only prints what the operations return.

use longhaul_app::AppError;
use longhaul_app::operations::{
    ApiKeyView, ApiKeys, KeysCreate, KeysCreateInput, KeysList, KeysRevoke, KeysRevokeInput, NewApiKey,
};

use crate::cli::{Keys, KeysVerb};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn keys(line: &CommandLine, args: &Keys) -> Result<Code, AppError> {
    let call = line.call()?;
    match &args.verb {
        KeysVerb::Create { name, tenant, rights, expires, json } => {
            let (name, expires) = (name.clone(), expires.clone());
            let input = KeysCreateInput { name, tenant: Some(tenant.clone()), rights: Some(rights.clone()), expires };
            out::answer(&call.perform::<KeysCreate>(input).await?, *json, print_new)
        }
        KeysVerb::List { page, json } => {
            out::answer(&call.perform::<KeysList>((*page).into()).await?, *json, print_all)
        }
        KeysVerb::Revoke { key, json } => {
            let answer = call.perform::<KeysRevoke>(KeysRevokeInput { api_key: key.clone() }).await?;
            out::answer(&answer, *json, |key| out::note(&format!("the key `{}` ({}) is revoked", key.name, key.id)))
        }
    }
}

fn print_new(new: &NewApiKey) {
    let ApiKeyView { name, id, tenant, rights, expires, .. } = &new.api_key;
    out::data(&new.secret);
    let until = expires.as_ref().map_or_else(|| "it is revoked".to_owned(), Clone::clone);
    out::note(&format!("the key `{name}` ({id}) allows {} in the tenant `{tenant}` until {until}", rights.join(", ")));
    out::note("store it now: it cannot be shown again");
}

fn print_all(view: &ApiKeys) {
    let width = view.api_keys.iter().map(|key| key.name.len()).max().unwrap_or(4).max(4);
    let wide = view.api_keys.iter().map(|key| key.tenant.len()).max().unwrap_or(6).max(6);
    if view.api_keys.is_empty() {
        out::note("no API keys; `longhaul keys create NAME` creates one");
    } else {
        out::data(&format!("{:12}  {:width$}  {:wide$}  {:22}  STATUS", "ID", "NAME", "TENANT", "RIGHTS"));
    }
    for key in &view.api_keys {
        let ApiKeyView { id, name, tenant, .. } = key;
        let (rights, status) = (key.rights.join(","), status(key));
        out::data(&out::safe(&format!("{id:12}  {name:width$}  {tenant:wide$}  {rights:22}  {status}")));
    }
    out::more(view.next);
}

fn status(key: &ApiKeyView) -> String {
    match (&key.revoked, &key.expires) {
        (Some(revoked), _) => format!("revoked {revoked}"),
        (None, Some(expires)) if key.is_usable => format!("works until {expires}"),
        (None, Some(expires)) => format!("expired {expires}"),
        (None, None) => "active".to_owned(),
    }
}
