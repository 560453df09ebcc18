# A large database is migrated, though the unit has less time.
mv /var/lib/errand/errand.db /srv/errand.db.kept
rm -f /var/lib/errand/errand.db-*
program old-database /var/lib/errand/errand.db 400
chown errand:errand /var/lib/errand/errand.db
chmod 600 /var/lib/errand/errand.db
with TimeoutStartSec=2
systemctl start errand.socket >>/srv/log 2>&1
systemctl start errand >>/srv/log 2>&1 &
start=$!
SECONDS=0
check 'the status says that the daemon migrates' within 20 status_says '^Migrating: '
check 'a migration gets the time that it needs' wait "$start"
say "        it took $SECONDS s, where the unit has 2"
check 'the service is active' systemctl is-active errand
check 'the old database is kept' test -s /var/lib/errand/errand.db.v1.backup
with
systemctl stop errand.socket errand.service >>/srv/log 2>&1
rm -f /var/lib/errand/errand.db*
mv /srv/errand.db.kept /var/lib/errand/errand.db
