# A migration gets the time that it needs, though the unit has less.
mv /var/lib/errand/errand.db /srv/errand.db.kept
rm -f /var/lib/errand/errand.db-*
program old-database /var/lib/errand/errand.db 400
chown errand:errand /var/lib/errand/errand.db
chmod 600 /var/lib/errand/errand.db
with TimeoutStartSec=15
systemctl start errand.socket >>/srv/log 2>&1
systemctl start errand >>/srv/log 2>&1 &
start=$!
check 'the status says that the daemon migrates' within 20 status_says '^Migrating: '
# As on a slow disk.
pid=$(property MainPID)
kill -STOP "$pid"
sleep 20
kill -CONT "$pid"
check 'a migration that takes longer than the unit allows is not interrupted' wait "$start"
check 'the service is active' systemctl is-active errand
check 'in the same process' test "$(property MainPID)" = "$pid"
check 'the old database is kept' test -s /var/lib/errand/errand.db.v35.backup
with
systemctl stop errand.socket errand.service >>/srv/log 2>&1
rm -f /var/lib/errand/errand.db*
mv /srv/errand.db.kept /var/lib/errand/errand.db
