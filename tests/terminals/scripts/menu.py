"""A menu that takes single keys, drawn in place."""
import sys, termios, time, tty

done = sys.argv[1]
before = termios.tcgetattr(0)
tty.setcbreak(0)
choice = 0
try:
    while True:
        sys.stdout.write("\x1b[H\x1b[2J Choose with j and k, Enter to take\r\n")
        for number, name in enumerate(["apples", "pears", "plums"]):
            sys.stdout.write(f" {'▶' if number == choice else ' '} {name}\r\n")
        sys.stdout.flush()
        with open(done, "w") as file:
            file.write(str(time.time_ns()))
        key = sys.stdin.read(1)
        time.sleep(float(sys.argv[2]) / 3)
        if key == "\n":
            break
        choice = (choice + {"j": 1, "k": -1}.get(key, 0)) % 3
    print(f"took {choice}")
finally:
    termios.tcsetattr(0, termios.TCSADRAIN, before)
with open(done, "w") as file:
    file.write(str(time.time_ns()))
