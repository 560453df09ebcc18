# The one executable, with nothing installed.
check 'the executable starts, with nothing installed' /srv/errand --version
check 'it executes the files of its processes' \
  eval '/srv/errand -e "import(process.argv[1])" -- "data:text/javascript,process.exit(7)"; test $? = 7'
useradd --no-create-home --home-dir /nonexistent nobody2
check 'without a home, in a directory of temporary files' runuser -u nobody2 -- /srv/errand --version
check 'which is for that user alone' test "$(mode /tmp/errand-"$(id -u nobody2)")" = 'nobody2:nobody2 700'
mkdir -p /srv/noexec && mount -t tmpfs -o noexec,mode=1777 none /srv/noexec
check 'not from a directory that is mounted noexec, with the reason' \
  eval 'ERRAND_CACHE_DIR=/srv/noexec/cache /srv/errand --version 2>&1 | grep -q "mounted noexec"'
mkdir -m 777 /srv/open
check 'not from one that others can write to' \
  eval 'ERRAND_CACHE_DIR=/srv/open /srv/errand --version 2>&1 | grep -q "others can write to /srv/open"'

install -d -o nobody2 /srv/alone
alone() { runuser -u nobody2 -- /srv/errand --data-dir /srv/alone/data "$@"; }
alone serve --listen 127.0.0.1:8585 >>/srv/log 2>&1 &
serve=$!
check 'its daemon is ready' alone status --wait --timeout 60s
check 'it examines itself' eval 'alone doctor | grep -q database'
check 'it makes a backup' alone backup create --to /srv/alone/backups
check 'and verifies it' alone backup verify /srv/alone/backups
check 'it collects what others need to help' alone support-bundle --to /srv/alone/support.tar.gz
check 'it says what is old enough to go' alone gc --dry-run
pkill -USR1 -u nobody2 -f 'data serve'
sleep 1
check 'no signal opens a debugger' eval '! (exec 3<>/dev/tcp/127.0.0.1/9229)'
pkill -TERM -u nobody2 -f 'data serve'
wait "$serve"
check 'its daemon stops when asked' test $? = 0
