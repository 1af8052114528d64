# The guest as a command finds it: cgroup version 2 and nothing of version 1, modules that the kernel
# loads by itself, and TMPDIR on a file system that overlayfs takes. In directory `$1` the host has put
# what differs from guest to guest.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=~root TMPDIR=/mnt
mount -t tmpfs run /run
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp "$TMPDIR"
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
debian=$(cat "$1/debian")
kernel=$(uname -r)
rm -rf "/lib/modules/$kernel"
mkdir -p /lib/modules
ln -s "$debian/lib/modules/$kernel" "/lib/modules/$kernel"
cat > /sbin/modprobe <<END
#!/bin/sh
LD_LIBRARY_PATH='$(cat "$1/libraries")' exec '$debian/bin/modprobe' "\$@"
END
chmod +x /sbin/modprobe
{ sh "$1/command.sh" < /dev/null; echo $? > /run/code; } 2>&1 | cat
echo "The guest ended with $(cat /run/code)."
echo o > /proc/sysrq-trigger
sleep 60
