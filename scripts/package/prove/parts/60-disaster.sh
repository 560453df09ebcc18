# The machine is gone, but for a backup: installed again, restored, continued.
purge() { dpkg --purge errand >/srv/said 2>&1; }
check 'the package is purged' purge
check 'without its configuration' test ! -e /etc/errand
check 'the data stays' test -e /var/lib/errand/errand.db
check 'and the way to remove it is said' grep -q 'rm -r /var/lib/errand' /srv/said
remove_data() { bash -ex <<<"$(sed -n 's/.*for good: //p' /srv/said)"; }
check 'that way works' remove_data
rm -rf /etc/systemd/system/errand.service.d
check 'nothing is left' eval '! ls -d /var/lib/errand /var/cache/errand /etc/errand /run/errand && ! id errand'

check 'installed again, it is ready' eval 'install_deb second && ready'
check 'without sessions' eval '! errand sessions list -o json | grep "$session"'
# The commands of docs/BACKUPS.md, as an administrator pastes them; this proof's backup has a passphrase.
restore() { bash -ex <<<"$(sed 's|/mnt/backup/errand|/var/backups/errand --passphrase-file /srv/passphrase|' /srv/restore.sh)"; }
check 'the backup is restored as documented' restore
check 'and the daemon is ready' ready
check 'the configuration is as readable as before' test "$(mode /etc/errand)" = 'root:errand 750'
message '[[text=the second answer]]' '' -H "X-Session-Id: $session" >/srv/second 2>>/srv/log
check 'the old session answers, with the same key' grep -q 'the second answer' /srv/second
has_both() { api "sessions/$session/messages" | tee -a /srv/log | grep 'the first answer' | grep -q 'the second answer'; }
check 'with its history' has_both
api "runs/$streamed/stream" -N >/srv/again 2>>/srv/log
check 'an old stream is readable' grep -q '^event: message_stop' /srv/again
check 'the doctor finds no failure' errand doctor
