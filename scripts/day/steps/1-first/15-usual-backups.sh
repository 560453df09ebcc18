step 'The doctor'"'"'s first advice, where there is no /var/backups (OPERATING)'
types 'rm -r /var/backups'
prompt 'errand doctor'
errand doctor >/srv/said 2>&1
advice=$(sed -nE 's/.*\tbackups\t.*\t([^\t]+)$/\1/p' /srv/said)
types "$advice"
types 'errand status --wait --timeout 30s'
holds 'the first backup is made at once' within 60 errand backup verify
types 'errand backup list'
