# Says that all before it is done.
date +%s%N > "$1"
