# An installation is broken in one way after the other, and mended by exactly the commands that the doctor prints.
finds() { errand doctor -o json 2>/dev/null | program doctor-finds "$@"; }
is_now() { finds state "$1" | grep -q "$2"; }
is_no_longer() { ! finds state "$1" | grep -q "$2"; }
works() { systemctl is-active errand && listens; }
mended() { # id of a check, its state
  local id=$1 wrong=${2:-failed} script
  within 15 is_now "$id" "$wrong" || { echo "the doctor finds nothing"; errand doctor; return 1; }
  script=$(finds mend)
  echo "--- mends $id: $script"
  bash -xc "$script"
  within 60 works && within 30 is_no_longer "$id" "$wrong"
}
# What is broken of a stopped daemon, and seen at a start that may fail.
breaking() {
  systemctl stop errand.socket errand.service
  # All of these faults together make more starts than StartLimitBurst allows.
  systemctl reset-failed errand.socket errand.service
  "$@"
  systemctl start errand.socket errand.service
  true
}
data=/var/lib/errand
config=/etc/errand
# What is not a fault, so that the doctor's script is about the fault alone.
rm -f "$data/first-credentials"
check 'a directory of backups is set, made, and can be written to' \
  bash -ec 'errand config set backup.directory /var/backups/errand && systemctl restart errand'
# The first one is made at once, by itself.
check 'a backup is made there' within 30 errand backup create
backs_up() { within 30 errand backup create; }

breaking chown root: $data/errand.db $data/master.key
check 'data of another user: mended' mended permissions
breaking chmod 600 $config/errand.yaml
check 'a configuration that only root can read: mended' mended permissions
chmod 644 $data/master.key
check 'a key that others can read: mended' mended permissions
chmod 777 $config
check 'a configuration that others can write: mended' mended permissions
breaking truncate -s 5 $data/master.key
check 'a master key that was cut: mended' mended master_key
breaking rm $data/master.key
check 'a master key that is gone: mended' mended master_key
take_port() {
  /srv/checkout/node -e 'require("node:net").createServer().listen(8484, "127.0.0.1")' &
  taker=$!
  within 10 listens_at_all
}
listens_at_all() { (exec 3<>/dev/tcp/127.0.0.1/8484); }
listens_elsewhere() { (exec 3<>/dev/tcp/127.0.0.1/8485); }
moved() {
  finds state listen | grep -q failed || return 1
  local script
  script=$(finds mend)
  echo "--- mends listen: $script"
  bash -xc "$script"
  within 60 listens_elsewhere && within 30 is_no_longer listen failed && systemctl is-active errand
}
breaking take_port
check 'a port that another process has: mended' moved
kill "$taker"
check 'the address is moved back, that of systemd’s socket with it' bash -ec \
  "$(errand config set listen --default 2>&1 | sed -n 's/^It takes effect when the daemon is started again: //p')"
check 'and requests arrive there' within 20 listens
systemctl stop errand.socket errand.service
rm -r /var/backups/errand
check 'a service starts without its directory of backups' systemctl start errand.socket errand.service
check 'a directory of backups that is gone: mended' mended backups
check 'backups can be made again' backs_up
systemctl reset-failed errand.socket errand.service
errand config set disk.keep_free_mb 16777216 >>/srv/log 2>&1
check 'a margin that no disk has: mended' mended disk
put_aside() { echo nonsense | tee $data/errand.sock >$data/errand.pid; }
breaking put_aside
check 'what an old daemon has left keeps none from starting' within 60 works
scramble() { dd if=/dev/urandom of=$data/errand.db bs=4096 count=40 conv=notrunc; rm -f $data/errand.db-*; }
breaking scramble
check 'a database that is damaged: mended from the newest backup' mended database
rm -rf $data.damaged
kill -STOP "$(property MainPID)"
check 'a daemon that hangs: mended' mended daemon
give_up() { # a unit that systemd has given up on
  cp $config/errand.yaml /srv/errand.yaml
  echo 'nonsense: [' >>$config/errand.yaml
}
breaking give_up
says_by_hand() { finds mend | tee -a /srv/log | grep -q "^# by hand: correct what is named in $config"; }
check 'a broken file: the doctor says that no command mends it' says_by_hand
check 'and where it is' eval 'finds mend | grep -q "errand.yaml:[0-9]"'
cat /srv/errand.yaml >$config/errand.yaml
check 'once it is corrected, its command starts what systemd has given up on' mended daemon
echo '# changed' >>/etc/systemd/system/errand.service
check 'a unit that was changed and not read: mended' mended unit warning
mv /usr/bin/bwrap /usr/bin/bwrap.away
systemctl restart errand
check 'a machine without bubblewrap: the doctor says what installs it' \
  eval 'finds mend | tee -a /srv/log | grep -q "^apt-get install -y bubblewrap && systemctl restart errand$"'
mv /usr/bin/bwrap.away /usr/bin/bwrap
# Where bubblewrap calls openat2, this hides it.
with RestrictSUIDSGID=yes
systemctl restart errand >>/srv/log 2>&1
if is_no_longer sandbox warning; then say '        bubblewrap needs no openat2 here'; else
  check 'a unit that hides what bubblewrap needs: mended' mended sandbox warning
fi
rm -f /etc/systemd/system/errand.service.d/sandbox.conf
with
echo secret >$data/first-credentials
check 'credentials that were left: mended' mended first_credentials warning
refuses() { "$@" 2>&1 | tee -a /srv/log | grep -q 'belongs to the user errand'; }
check 'root starts no daemon on the data of the service' refuses errand serve
check 'and makes nothing there' refuses errand init
check 'the doctor sees no fault of the unit' is_no_longer unit failed
check 'nothing in the data belongs to root' eval '! find $data -user root | grep .'
sed -i '/^# changed$/d' /etc/systemd/system/errand.service
systemctl daemon-reload
systemctl restart errand >>/srv/log 2>&1
