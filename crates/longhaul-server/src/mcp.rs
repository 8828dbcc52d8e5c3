//! The MCP server over standard input and output: it lists the tools that its caller may call, and performs operations.
//!
//! It speaks the three protocol versions that clients use, and keeps no state: a client that starts another server loses nothing.
//! Standard output carries protocol messages only.

use std::borrow::Cow;
use std::time::Duration;

use longhaul_app::api_keys::authenticate;
use longhaul_app::{AppError, Call, ErrorKind};
use longhaul_core::task::{Right, Rights};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CustomRequest, CustomResult,
    GetTaskParams, GetTaskResult, Implementation, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, RequestMetaObject,
    ServerCapabilities, ServerConfig, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::{IntoTransport, Transport};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::{task, tool};

/// A client that asked for progress hears something at least this often. Clients give up after 60 seconds of silence.
const PROGRESS: Duration = Duration::from_secs(4);
/// Longer ids of calls are not remembered.
const LONGEST_ID: usize = 200;
const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
const INSTRUCTIONS: &str = include_str!("instructions.md");
const IN_A_SESSION: &str = include_str!("session_instructions.md");

/// What a client on standard input and output may do, besides what its user adds.
pub fn rights(added: Rights) -> Rights {
    Rights::NONE.with(Right::Read).with(Right::Run).and(added)
}

/// Serves one client until it closes standard input. Calls that were not answered by then get a few seconds.
pub async fn serve_stdio(call: Call, prefix: &str) -> Result<(), AppError> {
    let failed =
        |error: &dyn std::error::Error| AppError::new(ErrorKind::Failure, "the MCP server failed").because(error);
    let served = Server::new(call, prefix).serve(Standard(rmcp::transport::stdio().into_transport())).await;
    let service = match served {
        // The client left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        service => service.map_err(|error| failed(&error))?,
    };
    service.waiting().await.map_err(|error| failed(&error))?;
    Ok(())
}

/// Standard input and output. A client that has left and does not read cannot keep the server: unread answers are not waited for any longer.
struct Standard<T>(T);

impl<T: Transport<RoleServer>> Transport<RoleServer> for Standard<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.0.send(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleServer>>> + Send {
        self.0.receive()
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        Ok(())
    }
}

pub(crate) struct Server {
    call: Call,
    prefix: String,
    /// The API key of a caller over HTTP.
    key: Option<String>,
}

/// The client's own id for a call, as far as it is known to have one: claude's, or codex's within a thread.
fn request_id(meta: &RequestMetaObject) -> Option<String> {
    let text = |name: &str| meta.get(name).and_then(Value::as_str).filter(|id| (1..=LONGEST_ID).contains(&id.len()));
    let codex = || Some(format!("codex/{}/{}", text("threadId").unwrap_or_default(), text("callId")?));
    text("claudecode/toolUseId").map(|id| format!("claude/{id}")).or_else(codex)
}

/// A result as the protocol library would write it for this client.
fn spelled(context: &RequestContext<RoleServer>, mut result: CallToolResult) -> Value {
    if !task::is_modern(context) {
        result.result_type = None;
    }
    serde_json::to_value(result).unwrap_or_default()
}

impl Server {
    /// A server for this caller, whose tools have this prefix in front of their names.
    pub(crate) fn new(call: Call, prefix: &str) -> Server {
        Server { call, prefix: prefix.to_owned(), key: None }
    }

    /// A server for the caller with this API key.
    pub(crate) fn with_key(call: Call, key: &str) -> Server {
        Server { key: Some(key.to_owned()), ..Server::new(call, "") }
    }

    /// Whether a call that takes long may still be answered: its key may have been revoked meanwhile.
    async fn is_permitted(&self) -> bool {
        match &self.key {
            Some(key) => authenticate(&self.call.app, key).await.is_ok_and(|caller| caller.is_some()),
            None => true,
        }
    }

    fn instructions(&self) -> String {
        match self.call.own_task() {
            Some(own) => IN_A_SESSION.replace("{RUN_ID}", &own.to_string()),
            None => INSTRUCTIONS.to_owned(),
        }
    }

    async fn perform(&self, name: &str, input: Value, request_id: Option<String>) -> Option<CallToolResult> {
        let entry = tool::operation(name)?;
        let call = self.call.of_request(request_id);
        let performed = (entry.perform)(&call, input).await;
        Some(performed.map_or_else(|error| tool::error(&error), tool::answer))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let names = match self.prefix.as_str() {
            "" => String::new(),
            prefix => format!("\nHere the name of every tool begins with `{prefix}`.\n"),
        };
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(Implementation::new("longhaul", env!("CARGO_PKG_VERSION")))
            .with_instructions(format!("{}{names}", self.instructions()))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tool::tools(&self.call.caller, &self.prefix)))
    }

    /// Performs the operation, with progress for a client that asked for it. A client that cancels the request loses only the answer: what
    /// the operation has begun is completed, as if the client had ended.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None);
        let name = request.name.strip_prefix(&self.prefix).ok_or_else(unknown)?;
        let mut input = Value::Object(request.arguments.unwrap_or_default());
        let wants_handle = name == task::TOOL && task::is_declared(&context);
        if wants_handle {
            input = task::without_waiting(input);
        }
        let token = context.meta.get_progress_token();
        let began = Instant::now();
        let mut ticks = interval_at(began + PROGRESS, PROGRESS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut performed = std::pin::pin!(self.perform(name, input, request_id(&context.meta)));
        loop {
            tokio::select! {
                result = &mut performed => {
                    let result = result.ok_or_else(unknown)?;
                    let handle = if wants_handle { task::handle(&result) } else { None };
                    return Ok(handle.map_or_else(|| result.into(), Into::into));
                }
                now = ticks.tick() => {
                    if !self.is_permitted().await {
                        return Err(ErrorData::invalid_request("the key was revoked or has expired", None));
                    }
                    if let Some(token) = &token {
                        let progress = ProgressNotificationParam::new(token.clone(), (now - began).as_secs_f64());
                        // A client that is gone needs no progress.
                        context.peer.notify_progress(progress).await.ok();
                    }
                }
            }
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(task::get(&self.call, &request.task_id).await?))
    }

    async fn update_task(&self, request: UpdateTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        task::update(&self.call, &request.task_id).await
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        task::cancel(&self.call, &request.task_id).await
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
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let invalid = |what: &'static str| Err(ErrorData::invalid_params(what, None));
        match request.method.as_str() {
            "tools/call" => match request.params.as_ref().and_then(|params| tool::misshapen(params, &self.prefix)) {
                Some(result) => Ok(CustomResult::new(spelled(&context, result))),
                None => invalid("a call has a `name` and, if any, `arguments` as an object"),
            },
            "tasks/get" | "tasks/cancel" => invalid("a request about a task has its `taskId`"),
            "tasks/update" => invalid("an update of a task has its `taskId` and `inputResponses` as an object"),
            method => Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None)),
        }
    }
}
