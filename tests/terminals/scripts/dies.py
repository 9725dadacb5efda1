"""Dies in the middle of an answer."""
import os, sys, time

input("ready> ")
print("one\ntwo", flush=True)
time.sleep(float(sys.argv[2]))
print("thr", end="", flush=True)
with open(sys.argv[1], "w") as file:
    file.write(str(time.time_ns()))
os.kill(os.getpid(), 9)
