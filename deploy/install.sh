#!/bin/sh
# Installs Wharf from a tarball that lies beside this script, with SHA256SUMS: the digest is checked
# first, and nothing is changed where it is another one.
#
#   ./install.sh                      into /usr/local, or into ~/.local where that cannot be written
#   ./install.sh --prefix /opt/wharf  into another folder
#   ./install.sh --signer wharf.pub   and only where this SSH key has signed SHA256SUMS
#   ./install.sh --uninstall          takes away what it installed
set -eu

prefix=
signer=
remove=
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) prefix=${2:?"--prefix needs a folder"}; shift ;;
        --signer) signer=${2:?"--signer needs the file of a public key"}; shift ;;
        --uninstall) remove=yes ;;
        -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) echo "error: there is no option $1; --help lists them" >&2; exit 2 ;;
    esac
    shift
done
if [ -z "$prefix" ]; then
    if [ -w /usr/local ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
fi
list=$prefix/share/doc/wharf/installed.txt

if [ -n "$remove" ]; then
    [ -f "$list" ] || { echo "error: nothing of Wharf is installed in $prefix" >&2; exit 1; }
    while IFS= read -r file; do rm -f -- "$prefix/$file"; done < "$list"
    rm -f -- "$list"
    rmdir "$prefix/share/doc/wharf" 2> /dev/null || true
    echo "Wharf is taken out of $prefix. What it keeps, in its data directory, stays."
    exit 0
fi

here=$(cd "$(dirname "$0")" && pwd)
case $(uname -s)-$(uname -m) in
    Linux-x86_64) system=linux-x86_64 ;;
    Linux-aarch64 | Linux-arm64) system=linux-aarch64 ;;
    *) echo "error: there is no build for $(uname -s) on $(uname -m); build it with cargo" >&2; exit 1 ;;
esac
if [ -n "$signer" ]; then
    [ -f "$signer" ] || { echo "error: there is no public key $signer" >&2; exit 1; }
    [ -f "$here/SHA256SUMS.sig" ] || { echo "error: SHA256SUMS is not signed: SHA256SUMS.sig has to lie beside it" >&2; exit 1; }
    command -v ssh-keygen > /dev/null || { echo "error: ssh-keygen checks the signature; install openssh-client" >&2; exit 1; }
    allowed=$(mktemp)
    trap 'rm -f "$allowed"' EXIT
    printf 'wharf namespaces="wharf" %s\n' "$(head -n 1 "$signer")" > "$allowed"
    ssh-keygen -q -Y verify -f "$allowed" -I wharf -n wharf -s "$here/SHA256SUMS.sig" < "$here/SHA256SUMS" > /dev/null || {
        echo "error: $signer has not signed this SHA256SUMS; nothing was installed" >&2
        exit 1
    }
elif [ -f "$here/SHA256SUMS.sig" ]; then
    echo "SHA256SUMS is signed; --signer FILE checks by whom." >&2
fi
set -- "$here"/wharf-*-"$system".tar.gz
[ $# -eq 1 ] && [ -f "$1" ] || { echo "error: one wharf-VERSION-$system.tar.gz has to lie beside this script" >&2; exit 1; }
tarball=$1
name=$(basename "$tarball")
wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$here/SHA256SUMS")
[ -n "$wanted" ] || { echo "error: SHA256SUMS has no digest of $name" >&2; exit 1; }
found=$(sha256sum "$tarball" | cut -d ' ' -f 1)
if [ "$wanted" != "$found" ]; then
    echo "error: $name is not what SHA256SUMS says: it has $found, and not $wanted; nothing was installed" >&2
    exit 1
fi

mkdir -p "$prefix/share/doc/wharf"
tar -tzf "$tarball" | grep -v '/$' | cut -d / -f 2- > "$list"
tar -xzf "$tarball" -C "$prefix" --strip-components=1 --no-same-owner
echo "Installed $("$prefix/bin/wharf" --version) in $prefix."
case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "Add $prefix/bin to PATH." ;;
esac
