"""A program that crawls four pages and keeps its run in Longhaul, with the official Python SDK.

    python3 crawl.py LONGHAUL MODE STOP_AFTER

It continues the run that it finds, else starts one. After page STOP_AFTER it stops working, until somebody kills it. Each line that it prints
is JSON. The SDK checks each answer against the tool's output schema, and fails if one does not fit.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters

PAGES = ["page 1", "page 2", "page 3", "page 4"]


def say(**facts):
    print(json.dumps(facts), flush=True)


async def crawl(client, stop_after):
    async def call(tool, **arguments):
        answer = await client.call_tool(tool, arguments)
        if answer.is_error:
            raise RuntimeError(answer.content[0].text)
        return answer.structured_content["data"]

    runs = (await call("task_run_list", status="RUNNING"))["task_runs"]
    run = runs[0] if runs else (await call("task_run_start", goal="Crawl the site", key="crawl"))["task_run"]
    run_id = run["run_id"]
    found = await call("task_run_get", run_id=run_id, include_checkpoint=True)
    checkpoint = found.get("checkpoint", {}).get("summary")
    done = found["task_run"].get("completed_items", [])
    say(protocol=client.protocol_version, run_id=run_id, checkpoint=checkpoint, done=done)
    for page in PAGES[len(done) :]:
        await call("task_run_update", run_id=run_id, completed_items=[page])
        await call("task_run_checkpoint", run_id=run_id, summary=f"{page} is done", key=page)
        say(crawled=page)
        if page == stop_after:
            await asyncio.Event().wait()
    ended = await call("task_run_complete", run_id=run_id)
    late = await client.call_tool("task_run_update", {"run_id": run_id, "progress_summary": "more"})
    say(status=ended["task_run"]["status"], late=late.structured_content["error"]["code"])


async def main(longhaul, mode, stop_after):
    server = StdioServerParameters(command=longhaul, args=["mcp"], env=dict(os.environ))
    async with Client(server, mode=mode) as client:
        await crawl(client, stop_after)


asyncio.run(main(*sys.argv[1:]))
