# What an administrator does between.
check 'the daemon is ready' ready
check 'the doctor finds no failure; it warns of the sandbox, which this Debian does not have' errand doctor
check 'budgets are listed' errand budgets list
check 'what is old enough to go is said' errand gc --dry-run
check 'a self-test starts daemons of this program' as_root selftest --minutes 0.1
check 'an image gets units of this program' as_root service install --prefix /srv/image
check 'which start it' grep -qxE '(ExecStart=| *)/usr/bin/errand serve' /srv/image/etc/systemd/system/errand.service
check 'a bundle for support is written' eval 'errand support-bundle --to - | gzip -t'

install -d -m 700 -o errand -g errand /var/backups/errand
install -m 600 -o errand /dev/stdin /srv/passphrase <<<'a passphrase of some length'
mkdir -p /etc/systemd/system/errand.service.d
printf '[Service]\nReadWritePaths=/var/backups/errand\n' >/etc/systemd/system/errand.service.d/backups.conf
systemctl daemon-reload
systemctl restart errand.service
check 'a backup is made' errand backup create --to /var/backups/errand --with-master-key --passphrase-file /srv/passphrase
check 'and verified' errand backup verify /var/backups/errand
