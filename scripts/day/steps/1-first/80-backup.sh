step 'A backup each day, on another disk (BACKUPS)'
types 'findmnt /mnt/backup'
types 'errand config set backup.directory /mnt/backup/errand'
types 'systemctl restart errand'
types 'errand status --wait --timeout 30s'
has_backup() { errand backup list /mnt/backup/errand -o json | grep -q '"id"'; }
holds 'the first one is made at once' within 60 has_backup
types 'errand backup list /mnt/backup/errand'
types 'errand backup verify /mnt/backup/errand'
types 'errand status'
holds 'every part is ok' errand status --check
cp -p /var/lib/errand/master.key /srv/notes/master.key
SESSION=$(errand sessions list --user bob -o json | grep -oE '"(session_)?id": *"[^"]*"' | head -n 1 | cut -d '"' -f 4)
keeps SESSION
