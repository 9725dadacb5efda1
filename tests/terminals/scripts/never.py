"""Takes a line and never answers: it waits for something else."""
import sys, threading

print("ask: ", end="", flush=True)
sys.stdin.readline()
threading.Event().wait()
