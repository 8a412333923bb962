#!/bin/sh
# Install Debian's packages that are named, as root or by sudo.  Where another program holds apt's
# locks, as unattended upgrades do on a fresh machine, say so and wait.  apt itself can wait for
# dpkg's lock, and not for those of the lists and of the archives.
set -eu

as_root=sudo
[ "$(id -u)" = 0 ] && as_root=

apt_get() {
	tries=60
	until output=$($as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" 2>&1); do
		tries=$((tries - 1))
		case $output in
			*"get lock"* | *"frontend lock"* | *"Unable to lock"*) ;;
			*) tries=0 ;;
		esac
		if [ $tries = 0 ]; then
			echo "$output" >&2
			return 1
		fi
		[ $tries = 59 ] && echo "Waiting for the program that holds apt's lock"
		sleep 10
	done
}

echo "Installing $* from Debian"
apt_get update
apt_get install --no-install-recommends "$@"
