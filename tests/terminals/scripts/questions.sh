# Asks as scripts that install something do.
done=$1
stamp() { date +%s%N > "$done"; }
echo 'This installs it.'
read -r -p 'Name: ' name
sleep "$2"; echo "Looking for $name: "; sleep "$2"; stamp
read -r -p 'Age [30]: ' age
echo "so $age"; sleep "$2"; stamp
read -r -s -p 'Secret phrase: ' secret
echo; echo 'Checking… '; sleep "$2"; stamp
read -r -p 'Proceed? [Y/n] ' yes
for part in 10 40 70 100; do printf '\rProgress: [%3d%%]' "$part"; sleep 0.3; done; echo; stamp
read -r -p 'Anything else?' more
echo 'Bye.'; stamp
