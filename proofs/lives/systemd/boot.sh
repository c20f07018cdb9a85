#!/bin/sh
# Boots systemd as PID 1 of its own namespaces over a copy-on-write view of this host. The network and /dev are the host's.
# usage: boot.sh BASE NAME BUNDLE   BASE: folder with merged/ (the mounted overlay) and data/ (a real file system inside it, at the same path)
set -eu
base=$1
name=$2
root=$base/merged
bundle=$3
if [ "${4:-}" != inside ]; then
  # A control group of its own in every hierarchy, which the namespace then takes for the root.
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/self/mounts | while read -r hierarchy; do
    mkdir -p "$hierarchy/$name"
    # A new cpuset of the first version is empty and takes no process; it stays the host's.
    echo $$ 2>/dev/null >"$hierarchy/$name/cgroup.procs" || rmdir "$hierarchy/$name"
  done
  exec unshare --fork --kill-child --pid --mount --uts --ipc --cgroup sh "$0" "$base" "$name" "$bundle" inside
fi
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
  mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $2, $3, $4 }' /proc/self/mounts | while read -r hierarchy type options; do
    mkdir -p "$root$hierarchy"
    case $type in
      cgroup2) mount -t cgroup2 cgroup2 "$root$hierarchy" ;;
      # What is left of the options names the controller or the hierarchy.
      *) mount -t cgroup -o "$(echo "$options" | tr , '\n' | grep -vxE 'rw|ro|nosuid|nodev|noexec|relatime' | paste -sd, | sed 's/^name=/none,name=/')" cgroup "$root$hierarchy" ;;
    esac
  done
fi
mount --rbind /dev "$root/dev"
for folder in run tmp var/log/journal; do
  mkdir -p "$root/$folder"
  mount -t tmpfs tmpfs "$root/$folder"
done
chmod 1777 "$root/tmp"
for folder in "$base/data" "$bundle"; do
  mkdir -p "$root$folder"
  mount --bind "$folder" "$root$folder"
done
exec env -i container=other PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" /lib/systemd/systemd --system --unit=multi-user.target
