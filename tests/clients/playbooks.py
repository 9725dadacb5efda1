"""The playbook plugin, as an agent app uses it."""

from __future__ import annotations

from typing import Any

from harness import Host, Report, call, context, refused

REPORT = {
    "goal": "A weekly report",
    "workflow": [
        {
            "description": "Find the figures",
            "action": {"toolName": "search", "purpose": "find figures"},
            "outputVariable": "figures",
        },
        {"description": "Write about {{figures}}", "action": {"toolName": "write", "purpose": "a page"}},
    ],
}


async def carried_out(report: Report, host: Host, era: str) -> None:
    writer = context(f"{era}-writing", "clerk", "one")
    worker = context(f"{era}-working", "clerk", "two")
    async with host.client(era) as client:
        made = (await call(client, "playbook__create_playbook", REPORT, writer)).structured_content["playbook"]
        steps = [step["stepId"] for step in made["workflow"]]
        report.check(len(set(steps)) == 2 and all(steps), f"{era}: a playbook is kept, and its steps get ids", made)
        await call(client, "playbook__select_playbook", {"id": made["id"]}, worker)
        done = {"stepId": steps[0], "output": "42 ships"}
        await call(client, "playbook__complete_step", done, worker)
    # Another connection, as after a restart of the app.
    async with host.client(era) as client:
        active = (await call(client, "playbook__get_active_playbook", {}, worker)).structured_content
        shown = str(active)
        holds = "Write about 42 ships" in shown and "{{figures}}" not in str(active.get("active", {}).get("nextStep", ""))
        report.check(holds, f"{era}: in another session of the assistant it goes on with the step's output", active)
        idle = (await call(client, "playbook__get_active_playbook", {}, writer)).structured_content
        report.check(idle.get("active") is None, f"{era}: the other thread has none in force", idle)


async def permissions(report: Report, host: Host, era: str) -> None:
    mine, stranger = context(f"{era}-mine", "owner"), context(f"{era}-mine", "stranger")
    async with host.client(era) as client:
        made = (await call(client, "playbook__create_playbook", REPORT, mine)).structured_content["playbook"]
        attempts: dict[str, dict[str, Any]] = {
            "playbook__get_playbook": {"id": made["id"]},
            "playbook__select_playbook": {"id": made["id"]},
            "playbook__update_playbook": {"id": made["id"], "playbook": {"goal": "stolen"}},
            "playbook__delete_playbook": {"id": made["id"]},
        }
        for tool, arguments in attempts.items():
            _, text = await refused(client, tool, arguments, stranger)
            report.check("Permission denied" in text, f"{era}: {tool} is denied to another assistant", text)
        listed = (await call(client, "playbook__list_playbooks", {}, stranger)).structured_content
        report.check(listed["total"] == 0, f"{era}: another assistant lists none of them", listed)
        kept = (await call(client, "playbook__get_playbook", {"id": made["id"]}, mine)).structured_content["playbook"]
        report.check(kept == made, f"{era}: the playbook is as it was", kept)
