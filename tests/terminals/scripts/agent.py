"""A command line like an agent's: thinks, calls tools, says several things, and
asks again. Says in a file when it is done. Its pauses come from a seed."""
import random, sys, time

done, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)


def pause(longest):
    time.sleep(rng.uniform(0.02, longest))


def say(text):
    for word in text.split(" "):
        sys.stdout.write(word + " ")
        sys.stdout.flush()
        pause(0.06)
    print(flush=True)


def tool(name, what):
    print(f"\x1b[36m● {name}\x1b[0m({what})", flush=True)
    for frame in range(rng.randint(2, 12)):
        sys.stdout.write(f"\r\x1b[K\x1b[2m{'⠋⠙⠹⠸'[frame % 4]} running… {frame} s\x1b[0m")
        sys.stdout.flush()
        pause(0.15)
    print(f"\r\x1b[K  ⎿ {rng.randint(1, 90)} lines", flush=True)


print("An agent. /help for help.")
while True:
    try:
        asked = input("\n> ")
    except EOFError:
        break
    print("\x1b[2mThinking…\x1b[0m", flush=True)
    pause(1.9)
    say("I will look at that first.")
    for number in range(rng.randint(1, 3)):
        tool(("Read", "Search", "Bash")[number], f"part {number}")
        pause(1.2)
        say("This says what is there: the question is whether it is enough. Is it?")
        print("> a quote of what was found", flush=True)
        pause(1.4)
    say(f"The answer to {asked!r} is 42.")
    with open(done, "w") as file:
        file.write(str(time.time_ns()))
