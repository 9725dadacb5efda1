"""A console like those of databases, with a prompt of its own for more lines."""
import readline, sys, time

done = sys.argv[1]
print("console (15.4)\nType \"help\" for help.\n")
statement = ""
while True:
    try:
        statement += input("mydb-> " if statement else "mydb=> ")
    except EOFError:
        break
    if not statement.endswith(";"):
        with open(done, "w") as file:
            file.write(str(time.time_ns()))
        continue
    rows = int("".join(filter(str.isdigit, statement)) or 3)
    time.sleep(rows % 13 / 8)
    print(" id | name: \n----+-------")
    for row in range(rows):
        print(f" {row:2} | what? {row}")
    print(f"({rows} rows)\n", flush=True)
    time.sleep(rows % 7 / 10)
    statement = ""
    with open(done, "w") as file:
        file.write(str(time.time_ns()))
