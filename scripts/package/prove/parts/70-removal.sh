# Removed, installed again over its data, purged.
check 'the package is removed' dpkg --remove errand
check 'its daemon is gone' eval '! systemctl is-active errand && ! pgrep -u errand'
check 'configuration and data stay' test -e /etc/errand/models.yaml -a -e /var/lib/errand/errand.db
check 'installed again, it is ready' eval 'install_deb second && ready'
check 'with its sessions' eval 'errand sessions list -o json | grep -q "$session"'
