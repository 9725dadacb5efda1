"""The fixed tasks: what an agent wants, in its own words, and how one sees that it got it.

They are in one order, in one session: later ones use what the answers to earlier ones told. Change none where
figures are to be compared with those of before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LOG = "\n".join(
    [
        "Log of the harbour, 12 March",
        "04:12 high water, 1.3 m above the chart",
        "06:30 the ferry Albatross leaves quay 3",
        "07:05 the freighter Bergen waits outside for a pilot",
        "10:20 low water; the dredger Cormorant works at the bar",
        "11:45 the pilot boards the Bergen",
        "16:40 high water, fog",
        "18:00 the ferry Albatross comes back, 112 passengers",
    ]
)

SCRIPT = "# A load is in tonnes.\ntonnes=12\necho load $tonnes\nexit 3\n"

# Steps as an agent has them in mind, under its own names.
STEPS = [
    {
        "to be done": "Read the log of the week",
        "action": {"tool": "workspace__read_file", "purpose": "what sailed and what did not"},
        "output": "log",
    },
    {
        "to be done": "Write a page of {{log}}",
        "action": {"tool": "workspace__write_file", "purpose": "the report for the office"},
    },
]


@dataclass(frozen=True)
class Preparation:
    """A call that has to be made before a task, and what its answer tells."""

    tool: str
    arguments: dict[str, Any]
    # What we know afterwards: its name, and the member of the structured answer that says it.
    learn: dict[str, str]


@dataclass(frozen=True)
class Task:
    """What is wanted. A fact that is a text `<name>` is what an earlier answer told under this name."""

    name: str
    tool: str
    request: str
    # The same in other words: they are ranked, too, and not carried out.
    other_words: tuple[str, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    # Regular expressions that the answer's text must have.
    text: tuple[str, ...] = ()
    # Members of the structured answer and their values; `.` leads into members and lists.
    structured: dict[str, Any] = field(default_factory=dict)
    # What the answer's text tells for later tasks, by a regular expression with one group.
    learn: dict[str, str] = field(default_factory=dict)
    preparation: Preparation | None = None


TASKS = [
    Task(
        "goal",
        "planning__create_goal",
        "All this work is for one thing: the ferry timetable has to be on the new site by Friday. Make that the goal.",
        ("Write down what we want to reach in the end.", "Set a goal for what the user asked of us."),
        {"goal": "The ferry timetable is on the new site by Friday."},
        ("ferry timetable",),
        {"goal.status": "active"},
    ),
    Task(
        "todo",
        "planning__add_todo",
        "There is one more thing to do, and it is urgent: ask the harbour office for the tide tables. Put it on the todo "
        "list.",
        ("Add a step to my list of work.", "New todo: check the links of the page."),
        {"to be done": "Ask the harbour office for the tide tables", "priority": "high"},
        ("tide tables", "high"),
        {"todo.status": "pending", "todo.priority": "high"},
        {"todo": r"\] (\d+)"},
    ),
    Task(
        "done",
        "planning__mark_todo",
        "I have asked the harbour office, so tick that todo off; they send the tables on Tuesday.",
        ("One of my todos is finished: record it as done, with its result.", "Step 1 is completed."),
        {"todo": "<todo>", "result": "They send them on Tuesday."},
        ("Tuesday",),
        {"todo.status": "done"},
    ),
    Task(
        "plan",
        "planning__get_current_state",
        "I was interrupted. What is the plan, and which todos are still open?",
        ("Show me where the work stands: goal, todos, notes.", "Remind me of the plan before I go on."),
        text=("ferry timetable", "tide tables"),
        structured={"todos.0.status": "done"},
    ),
    Task(
        "workflow",
        "playbook__create_playbook",
        "This way of making the weekly report worked well. Save the workflow as a playbook, so that it can be done the "
        "same way next week.",
        ("Remember how this is done, as steps to repeat in the future.", "Write a new playbook for the weekly report."),
        {"goal": "The weekly report of sailings is written.", "steps": STEPS},
        ("weekly report", r"\{\{log\}\}"),
        {"playbook.workflow.0.outputVariable": "log"},
        {"playbook": r"\b(pb_\w+)"},
    ),
    Task(
        "follow",
        "playbook__select_playbook",
        "Now make the report of this week by following that playbook.",
        ("Begin the workflow that was written down for the weekly report.", "Carry out the playbook from the start."),
        {"playbook": "<playbook>"},
        ("Read the log of the week",),
        {"active.nextStep.stepId": "step-1"},
    ),
    Task(
        "keep",
        "content-store__add_content",
        "This log of the harbour is too long to keep in my head. Keep the text somewhere where I can search it later.",
        ("Store a transcript for later lookups.", "Add this document to the content store."),
        {"text": LOG, "name": "harbour-log.txt"},
        ("harbour-log.txt",),
        {"lines": 8},
        {"content": r"\b(ct_\w+)"},
    ),
    Task(
        "passages",
        "content-store__search_content",
        "Which passages of the stored texts speak of low water?",
        ("Find in my stored documents where the dredger is mentioned.", "Search the contents for a phrase."),
        {"query": "low water"},
        ("dredger", "<content>"),
        {"hits.0.name": "harbour-log.txt"},
    ),
    Task(
        "lines",
        "content-store__read_content",
        "Show me lines 3 to 5 of the stored log exactly as they are.",
        ("Read the document that I stored earlier.", "Open the kept content around a hit, and read more of it."),
        {"content": "<content>", "first line": 3, "last line": 5},
        ("Albatross leaves quay 3", "Bergen waits", "Cormorant"),
        {"next_line": 6},
    ),
    Task(
        "write",
        "workspace__write_file",
        "Create the script load.sh with this text in it.",
        ("Save what I wrote into a file of the workspace.", "Overwrite a file with new content."),
        {"file": "load.sh", "content": SCRIPT},
        (r"load\.sh",),
        {"bytes_written": len(SCRIPT)},
    ),
    Task(
        "directory",
        "workspace__list_directory",
        "What files and directories are in the workspace?",
        ("Look at what is in the folder.", "List the directory of the project with sizes."),
        text=(r"load\.sh",),
        structured={"entries.0.path": "load.sh"},
    ),
    Task(
        "grep",
        "workspace__search_files",
        "Find every line with the word tonnes in the files.",
        ("Grep for the name of a function across the workspace.", "In which files does a regular expression match?"),
        {"regular expression": "tonnes="},
        (r"load\.sh:2",),
        {"matches.0.line": 2},
    ),
    Task(
        "run",
        "workspace__execute_shell",
        "Run the script with the shell and tell me its exit code.",
        ("Execute the tests from the command line.", "Run make in a shell."),
        {"command": "sh load.sh"},
        ("exit code 3", "load 12"),
        {"exit_code": 3},
    ),
    Task(
        "poll",
        "workspace__poll_process",
        "How is the process in the background doing right now?",
        (
            "Take a quick look at the running process without waiting.",
            "Is the process still alive, and what were the last lines that it printed?",
        ),
        {"process": "<quiet>"},
        ("running",),
        {"status": "running"},
        preparation=Preparation(
            "workspace__execute_shell", {"command": "sleep 600", "run_mode": "async"}, {"quiet": "process_id"}
        ),
    ),
    Task(
        "wait",
        "workspace__wait_for_process",
        "Hold on until the process of the server has printed that it is listening.",
        ("Wait till the process of the long build ends.", "Block until a process prints a line that matches."),
        {"process": "<server>", "until": {"pattern": r"listening on \d+"}},
        ("listening on 8080",),
        {"wait_ended": "pattern"},
        preparation=Preparation(
            "workspace__execute_shell",
            {"command": "sleep 1; echo listening on 8080; sleep 600", "run_mode": "async"},
            {"server": "process_id"},
        ),
    ),
    Task(
        "interpreter",
        "terminal__start_terminal",
        "Open an interactive Python interpreter to try things out.",
        ("I need a shell that stays open between commands.", "Start a debugger and talk to it."),
        {"program": "python3"},
        ("Python", ">>>"),
        {"status": "ready"},
        {"terminal": r"terminal_id (\w+)"},
    ),
    Task(
        "conversation",
        "terminal__send_message",
        "Type 6*7 into the interpreter in the terminal and give me its answer.",
        ("Enter the next line in the terminal and wait for the response.", "Ask the agent in the terminal a question."),
        {"terminal": "<terminal>", "text": "6*7"},
        (r"(?m)^42$",),
        {"still_running": False},
    ),
    Task(
        "visit",
        "browser__navigate",
        "Go to the site of the harbour office at this address.",
        ("Open a web page by its URL.", "Visit the site in the browser."),
        {"url": "<site>"},
        ("200", "sign in"),
        {"http_status": 200},
    ),
    Task(
        "page",
        "browser__get_page_content",
        "What does this web page say? Give me its text.",
        ("Read the article on the page as Markdown.", "Get the words of the page that is open in the browser."),
        text=("# Sign in",),
        structured={"status": "ready"},
    ),
    Task(
        "form",
        "browser__fill",
        "Enter the name and the password into the fields of the form for signing in.",
        ("Fill in the registration form.", "Put values into several fields of a form at once."),
        {"fields": [{"element": "text=Name", "value": "ada"}, {"element": "text=Password", "value": "lovelace"}]},
        ("ada",),
        {"fields.0.value": "ada"},
    ),
]
