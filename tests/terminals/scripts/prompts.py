"""Computes, and prints a log full of what could be prompts."""
import sys, time

done = sys.argv[1]
PROMPTS = ["> ", "$ ", ">>> ", "name: ", "Continue? (y/n) ", "Password: ", "(END)", "sqlite> ", "# ", "? "]
while True:
    try:
        seconds = float(input("next> ") or 0)
    except EOFError:
        break
    for prompt in PROMPTS:
        sys.stdout.write(prompt)
        sys.stdout.flush()
        until = time.monotonic() + seconds / len(PROMPTS)
        while time.monotonic() < until:
            sum(range(1000))
        print(flush=True)
    sys.stdout.write("Password: ")
    sys.stdout.flush()
    time.sleep(seconds)
    print("was printed, not asked", flush=True)
    with open(done, "w") as file:
        file.write(str(time.time_ns()))
