#!/bin/sh
# R's checks, its tests and the trials of its Python in a Debian 13 of their own, as root: R 4.5,
# Bioconductor 3.20, SeuratObject 5 and Python 3.13.  apt and pip have their settings of this
# machine, and what those of pip name is there.
set -eu
cd "$(dirname "$0")/.."

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
{ command -v debootstrap && [ -e $keyring ]; } >/dev/null ||
	tools/apt.sh debootstrap debian-archive-keyring
debian=$(mktemp -d "${TMPDIR:-/var/tmp}/debian.XXXXXX")
trap 'rm -rf --one-file-system "$debian"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$debian"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
debootstrap --variant=minbase --keyring=$keyring --include=ca-certificates,make,python3 \
	trixie "$debian" "${mirror:-http://deb.debian.org/debian}"
apt-config dump Acquire >"$debian/etc/apt/apt.conf.d/99here"
echo force-unsafe-io >"$debian/etc/dpkg/dpkg.cfg.d/99here"
mkdir "$debian/src"
git ls-files -z | tar -c --null --files-from=- | tar -x -C "$debian/src"

# Other processes do not see what is mounted here, and it is gone when these have ended.
settings=$(.venv/bin/pip config debug | grep -o "/[^ ,']*" | sort -u)
export debian settings
env -u GLFS_BIO_DATA -u MAKEFLAGS -u PYTHONPATH -u TMPDIR LC_ALL=C.UTF-8 \
	unshare --mount --pid --fork --kill-child sh -euc '
	for system in dev sys; do mount --rbind "/$system" "$debian/$system"; done
	mount -t proc proc "$debian/proc"
	for path in $settings; do
		path=${path%/simple} # an index has its files beside it
		[ -e "$path" ] || continue
		if [ -d "$path" ]; then mkdir -p "$debian/$path"
		else mkdir -p "$(dirname "$debian/$path")"; touch "$debian/$path"; fi
		mount -o bind,ro "$path" "$debian/$path"
	done
	exec chroot "$debian" sh -euc "
		cd /src
		make r-check r-tests r-vignettes PYTHON=python3
		GLFS_BIO_REQUIRE_R=1 .venv/bin/pytest -q tests/rbridge
		R_LIBS=/src/.venv/r/library python3 -u r_bridge/trials.py
	"
'
