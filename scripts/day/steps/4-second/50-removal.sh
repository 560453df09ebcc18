step 'Removed, and purged (INSTALLING)'
answers 'apt-get remove errand'
holds 'its daemon is gone' eval '! systemctl is-active errand && ! pgrep -u errand'
holds 'configuration and data stay' test -e /etc/errand/models.yaml -a -e /var/lib/errand/errand.db
answers 'apt-get install errand'
types 'errand status --wait --timeout 30s'
types 'ask "$bob" "after a removal"'
sees 'after a removal' 'installed again, it is as before'
answers 'apt-get purge errand'
sees 'rm -r /var/lib/errand' 'it says what stays, and how to remove it'
types "$(sed -nE 's/.*for good: ([^\r]*).*/\1/p' /srv/said | head -n 1)"
holds 'nothing is left of the data' eval '! ls -d /var/lib/errand /var/cache/errand /run/errand && ! id errand'
holds 'nor of what was made for the unit' test ! -e /etc/systemd/system/errand.service.d
types 'find /etc/errand -type f'
types 'rm -r /etc/errand'
