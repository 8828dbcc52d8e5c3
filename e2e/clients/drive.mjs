// The official MCP client for TypeScript against `longhaul mcp`: lists the tools, starts a task and waits for its end.
// A test runs it as `node drive.mjs SDK LONGHAUL` in a project and reads the one line of JSON that it prints. The client validates
// every answer against the tool's output schema, and fails if one does not fit.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [directory, longhaul] = process.argv.slice(2);
const require = createRequire(pathToFileURL(directory + "/package.json"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const client = new Client({ name: "longhaul-test", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: longhaul, args: ["mcp"], env: process.env }));
const { tools } = await client.listTools();

// With a handler of progress, the client asks for it.
const call = (name, args) => client.callTool({ name, arguments: args }, undefined, { onprogress: () => {} });
const submitted = await call("submit", { goal: "Port the parser", checks: ["true"], key: "sdk" });
const task = submitted.structuredContent.data.name;

let end;
do {
    end = await call("wait", { task });
} while (end.structuredContent.notes?.includes("the task is still running; call `wait` again"));

let ran = await call("run", { goal: "Port the printer", checks: ["true"], key: "sdk run" });
while (!ran.structuredContent.data.is_finished) {
    ran = await call("wait", { task: ran.structuredContent.data.name });
}

for (const name of ["show", "why", "plan", "logs", "diff", "report", "list", "agents"]) {
    const answer = await call(name, name === "agents" || name === "list" ? {} : { task });
    if (answer.isError) throw new Error(`${name}: ${answer.content[0].text}`);
}
const refused = await call("edit", { task, priority: 1 });
const wrong = await call("show", { task: 7 });
await client.close();

console.log(JSON.stringify({
    server: client.getServerVersion().name,
    tools: tools.map((tool) => tool.name),
    end: end.structuredContent.data,
    ran: ran.structuredContent.data.result,
    refused: refused.structuredContent.error.code,
    wrong: wrong.structuredContent.error.code,
}));
