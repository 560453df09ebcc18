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
check 'and the version before runs again' ready
check 'the way back works' install_deb second
check 'and the daemon is ready' ready

echo 'nonsense: true' >>/etc/errand/errand.yaml
before=$(pid)
check 'a configuration with a mistake fails the upgrade, in words' fails_saying 'nonsense: is not a' install_deb third
check 'and the daemon goes on' test "$(pid)" = "$before"
check 'with all its files' eval 'message "[[text=still here]]" | grep -q "still here"'
sed -i '/^nonsense/d' /etc/errand/errand.yaml
check 'mended, the upgrade is completed' dpkg --configure errand
check 'by another daemon' test "$(pid)" != "$before"
install_deb second

check 'a power failure after the files were replaced' dpkg --unpack /srv/first.deb
check 'the service starts' systemctl restart errand
check 'and is ready' ready
check 'in the version before' test "$(version)" = 9.9.1
rm -rf /usr/lib/errand.running-half && mkdir /usr/lib/errand.running-half
check 'the upgrade is completed' dpkg --configure -a
check 'by the other version' test "$(version)" != 9.9.1
check 'and again, as after a failure at its end' /var/lib/dpkg/info/errand.postinst configure 9.9.1
check 'and it is ready' ready
check 'the files of one version are left' test "$(ls -d /usr/lib/errand.running-* | wc -l)" = 1
check 'which take no room of their own' test "$(stat -c %h /usr/lib/errand/node)" = 2
install_deb second

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
