# Asks as package managers do.
done=$1
stamp() { date +%s%N > "$done"; }
read -r -p 'package: ' name
printf 'Reading package lists... '; sleep "$2"; echo Done
printf 'Building dependency tree... '; sleep "$2"; echo Done
echo "The following NEW packages will be installed:"; echo "  $name"
echo 'After this operation, 1,234 kB of additional disk space will be used.'; stamp
printf 'Do you want to continue? [Y/n] '; read -r yes
i=0
while [ $i -le 20 ]; do printf '\r\033[K%3d%% [%d %s 12.3 kB/40 kB]' $((i * 5)) "$i" "$name"; sleep 0.08; i=$((i + 1)); done
echo; echo 'Fetched 40 kB in 2s'; sleep "$2"
echo "Setting up $name (1.0) ..."; echo 'Processing triggers ...'; sleep "$2"; stamp
