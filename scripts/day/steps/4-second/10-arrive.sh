step 'The service moves to another machine: the new one (BACKUPS)'
types 'systemctl stop errand.socket errand.service'
types 'mv /var/lib/errand /var/lib/errand.drill'
types 'mv /etc/errand /etc/errand.drill'
types 'tar -C / -xpf /mnt/backup/errand.tar'
types 'systemctl start errand'
types 'errand status --wait --timeout 30s'
prompt 'errand doctor'
errand doctor >/srv/said 2>&1
shown
sees 'backups' 'it names what did not come along'
remedy=$(sed -nE 's/.*\tbackups\t.*\t([^\t]+)$/\1/p' /srv/said | head -n 1)
[ -z "$remedy" ] || types "$remedy"
types 'errand doctor'
types 'errand status'
holds 'every part is ok' within 30 errand status --check
types 'errand sessions list --user bob | head -n 3'
sees 'the last answer here' 'the last session is there'
types 'rm /mnt/backup/errand.tar'
types 'rm -r /var/lib/errand.drill /etc/errand.drill'
types 'errand audit verify'
types 'ask "$bob" "here"'
sees '"here"' 'bob has an answer, with the same key'
