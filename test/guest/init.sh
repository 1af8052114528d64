#!/bin/busybox sh
# The first program of the guest: the other machine's files, read-only, below memory for what is
# written, and then inside.sh of these.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in $(cat /modules/order); do insmod "/modules/$module"; done
mount -t virtiofs machine /below -o ro
mount -t tmpfs memory /above
mkdir /above/files /above/work
mount -t overlay files /whole -o lowerdir=/below,upperdir=/above/files,workdir=/above/work
for dir in dev proc sys; do mount --move "/$dir" "/whole/$dir"; done
for word in $(cat /whole/proc/cmdline); do case $word in guest=*) guest=${word#guest=} ;; esac; done
exec switch_root /whole /bin/sh "$guest/inside.sh" "$guest"
