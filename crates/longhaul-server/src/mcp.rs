//! The MCP server over standard input and output: it lists the tools that its caller may call, and performs operations.
//!
//! It speaks the three protocol versions that clients use, and keeps no state: a client that starts another server loses nothing.
//! Standard output carries protocol messages only.

use std::borrow::Cow;
use std::time::Duration;

use longhaul_app::{AppError, Call, ErrorKind};
use longhaul_core::task::{Right, Rights};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
    ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::tool;

/// A client that asked for progress hears something at least this often. Clients give up after 60 seconds of silence.
const PROGRESS: Duration = Duration::from_secs(4);
const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
const INSTRUCTIONS: &str = include_str!("instructions.md");
const IN_A_SESSION: &str = include_str!("session_instructions.md");

/// What a client on standard input and output may do, besides what its user adds.
pub fn rights(added: Rights) -> Rights {
    Rights::NONE.with(Right::Read).with(Right::Run).and(added)
}

/// Serves one client until it closes standard input. Calls that were not answered by then get a few seconds.
pub async fn serve_stdio(call: Call) -> Result<(), AppError> {
    let failed =
        |error: &dyn std::error::Error| AppError::new(ErrorKind::Failure, "the MCP server failed").because(error);
    let served = Server { call }.serve(rmcp::transport::stdio()).await;
    let service = match served {
        // The client left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        service => service.map_err(|error| failed(&error))?,
    };
    service.waiting().await.map_err(|error| failed(&error))?;
    Ok(())
}

struct Server {
    call: Call,
}

impl Server {
    fn instructions(&self) -> String {
        match self.call.own_task() {
            Some(own) => IN_A_SESSION.replace("{RUN_ID}", &own.to_string()),
            None => INSTRUCTIONS.to_owned(),
        }
    }

    async fn perform(&self, name: &str, input: Value) -> Option<CallToolResult> {
        let entry = tool::operation(name)?;
        let performed = (entry.perform)(&self.call, input).await;
        Some(performed.map_or_else(|error| tool::error(&error), tool::answer))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(Implementation::new("longhaul", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tool::tools(&self.call.caller)))
    }

    /// Performs the operation, with progress for a client that asked for it. A client that cancels the request loses only the answer: what
    /// the operation has begun is completed, as if the client had ended.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let input = Value::Object(request.arguments.unwrap_or_default());
        let token = context.meta.get_progress_token();
        let began = Instant::now();
        let mut ticks = interval_at(began + PROGRESS, PROGRESS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut performed = std::pin::pin!(self.perform(&request.name, input));
        loop {
            tokio::select! {
                result = &mut performed => {
                    let unknown = || ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None);
                    return result.map(Into::into).ok_or_else(unknown);
                }
                now = ticks.tick(), if token.is_some() => {
                    if let Some(token) = &token {
                        let progress = ProgressNotificationParam::new(token.clone(), (now - began).as_secs_f64());
                        // A client that is gone needs no progress.
                        context.peer.notify_progress(progress).await.ok();
                    }
                }
            }
        }
    }

    // What is not declared is not answered; the defaults would answer with empty lists.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    /// Requests that the protocol library could not read come here too.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "tools/call" => {
                Err(ErrorData::invalid_params("a call has a `name` and, if any, `arguments` as an object", None))
            }
            method => Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None)),
        }
    }
}
