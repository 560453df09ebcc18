# On Debian's PostgreSQL: set up, backed up and restored as docs/POSTGRESQL.md says.
with
as_documented() { bash -ex "/srv/postgresql-$1.sh"; }
cp /srv/models.yaml /etc/errand/models.yaml
check 'the daemon runs on SQLite' systemctl restart errand
errand chat '[[shell=mkdir tides; echo "<h1>High at six</h1>" >tides/index.html]] [[text=It is written.]]' >>/srv/log 2>&1
check 'the rows move to PostgreSQL by the commands of the documentation' as_documented setup
on_postgresql() { errand status --wait --timeout 60s && errand status | grep -q 'PostgreSQL.*errand'; }
check 'the daemon runs there' on_postgresql
session=$(errand sessions list -o json | grep -om 1 '[0-9a-f]\{8\}\(-[0-9a-f]\{4\}\)\{3\}-[0-9a-f]\{12\}')
errand chat --session "$session" '[[text=The second one.]]' >>/srv/log 2>&1
check 'a page is published' errand publishes create Tides --session "$session" --entry tides/index.html --board

install -d /mnt/backup
errand config set backup.directory /mnt/backup/errand >>/srv/log 2>&1
systemctl daemon-reload && systemctl restart errand
# The daemon makes the first one at once.
check 'a backup is made' within 60 errand backup create --to /mnt/backup/errand
key=$(openssl rand -hex 16)
runuser -u postgres -- psql -qc "ALTER ROLE errand PASSWORD '$key'"
(umask 077 && echo "postgres://errand:$key@127.0.0.1/errand_again" >/root/database)

# Its commands, and before the last one what else the documentation asks for: the key of docs/BACKUPS.md, and more.
restore_as_documented() {
  local key='install -m 600 -o errand /var/lib/errand.new/master.key /var/lib/errand/master.key'
  sed "s|^systemctl start|$key\n${2:+$2\n}&|" "/srv/postgresql-$1.sh" | tee -a /srv/log | bash -ex
}
errand chat --session "$session" '[[text=After the backup.]]' >>/srv/log 2>&1
has_session() {
  errand sessions messages "$session" >/srv/messages && cat /srv/messages
  grep -q 'It is written' /srv/messages && grep -q 'The second one' /srv/messages && ! grep -q 'After the backup' /srv/messages
}
has_file() {
  errand sessions artifacts "$session" | grep -q tides/index.html && grep -rq 'High at six' /var/lib/errand/workspaces
}
has_page() {
  local path
  path=$(errand publishes show Tides -o json | sed -n 's|.*"page_url": *"[^"]*\(/share/[^"]*\)".*|\1|p')
  exec 3<>/dev/tcp/127.0.0.1/8484 && printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$path" >&3 && cat <&3 | tee -a /srv/log | grep -q Tides
}
# Parts before this one may have left what else it finds.
is_well() { errand doctor -o json 2>/dev/null | program doctor-finds state "$1" | grep -qx ok; }
is_as_it_was() { # words
  with
  check "$1: the daemon runs on it" on_postgresql
  check 'the session is as it was, with the same key' has_session
  check 'its files are there' has_file
  check 'the page is there' has_page
  check 'and the doctor misses nothing of it' eval 'is_well database && is_well blobs && is_well master_key'
  check 'the session goes on' eval 'errand chat --session "$session" "[[shell=cat tides/index.html]] [[text=Read again.]]" | grep -q "Read again"'
}
check 'the backup is restored through the socket, as documented' restore_as_documented bySocket
is_as_it_was 'through the socket'
rm /var/lib/errand/errand.db
check 'without the file, too' eval 'systemctl restart errand && on_postgresql'
rm -rf /var/lib/errand.new /etc/errand.new
runuser -u postgres -- createdb --owner=errand --encoding=UTF8 --locale=C --template=template0 errand_again
names_it='install -m 640 -g errand /root/database /etc/errand/database; errand config set database_file database; errand config set database --default'
check 'and with a password' restore_as_documented byPassword "$names_it"
is_as_it_was 'with a password'
says_peer() {
  systemctl stop errand.socket errand.service
  mv /var/lib/errand /var/lib/errand.old && mv /etc/errand /etc/errand.old
  errand backup restore /mnt/backup/errand --to /var/lib/errand --config-dir /etc/errand --owner errand --database 'postgres://errand@/errand_again' >/srv/said 2>&1 && return 1
  cat /srv/said
  grep -q 'only as the user errand' /srv/said && test ! -e /etc/errand && test ! -e /var/lib/errand
}
check 'a database that root may not open is refused before anything is written' says_peer
mv /var/lib/errand.old /var/lib/errand && mv /etc/errand.old /etc/errand
back() {
  runuser -u errand -- errand store copy --to /var/lib/errand/errand.db && errand config set database_file --default
  systemctl start errand.service
  errand status --wait --timeout 60s && has_session && ! errand status | grep PostgreSQL
}
check 'the rows move back to a file, as documented' back
