"""A command line that answers like an agent: it thinks, calls tools, and says several things before it is done.

`agent.py DONE` appends a line to the file DONE once an answer is whole, so that a test knows the truth.
"""

import sys
import time


def say(text: str, pause: float = 0.0) -> None:
    print(text, flush=True)
    time.sleep(pause)


def answer(question: str) -> None:
    say("· thinking", 0.7)
    say("I look the tide up before I answer.", 0.3)
    say("  > tool: tide_table(harbour=\"Busan\")", 1.2)
    # A question of the tool's own, and no prompt: nobody is asked.
    say("  Which day? today:", 0.6)
    say("  { \"high\": \"04:12\", \"metres\": 1.3 }", 0.4)
    say(f"You asked: {question}", 0.5)
    say("High water is at 04:12, 1.3 m above the chart.", 0.9)
    say("Sail an hour before it.")


def main() -> None:
    done = sys.argv[1]
    while True:
        try:
            question = input("you> ")
        except EOFError:
            return
        if question == "/quit":
            return
        answer(question)
        with open(done, "a", encoding="utf-8") as file:
            file.write(f"{time.time()}\n")


main()
