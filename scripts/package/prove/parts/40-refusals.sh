# Versions that don't fit, and an upgrade that fails.
check 'an older version that reads the database is installed' install_deb first
check 'and runs' ready
check 'one that does not is refused, in words' fails_saying 'reads up to 1\.' install_deb old
check 'and the daemon runs on' test "$(version)" != ''
check 'with its process' systemctl is-active errand

systemctl stop errand.socket errand.service
check 'an upgrade of a stopped daemon' install_deb second
check 'leaves it stopped' eval '! systemctl is-active errand'
systemctl start errand.socket errand.service

check 'a version that does not become ready fails the upgrade, in words' \
  fails_saying 'does not become ready' install_deb broken
check 'the way back works' install_deb second
systemctl reset-failed errand.socket errand.service
systemctl start errand.socket errand.service
check 'and the daemon is ready again' ready

mkdir /srv/small && mount -t tmpfs -o size=260m,mode=755 none /srv/small && cp -a /usr/lib/errand/. /srv/small/ &&
  mount --bind /srv/small /usr/lib/errand
before=$(version)
check 'a full disk fails the upgrade' fails_saying 'No space left' install_deb third
check 'and the daemon runs on as it was' ready
check 'in its version' test "$(version)" = "$before"
check 'the package is whole' is_whole
systemctl stop errand.socket errand.service
umount /usr/lib/errand
install_deb second
systemctl start errand.socket errand.service
