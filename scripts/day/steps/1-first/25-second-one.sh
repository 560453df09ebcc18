step 'Another Errand on the same machine (OPERATING)'
types 'useradd --create-home tester'
refused 'errand serve'
refused 'errand init'
holds 'no second one was made' test ! -e /root/data
types 'runuser -u tester -- errand --data-dir /home/tester/data serve --listen 127.0.0.1:8585 >/home/tester/log 2>&1 &'
types 'errand --data-dir /home/tester/data status --wait --timeout 30s'
sees '127.0.0.1:8585' 'it is the one that was named'
types 'errand status'
sees '127.0.0.1:8484' 'without a name, the service is meant'
types 'errand doctor'
types 'runuser -u tester -- errand --data-dir /home/tester/data doctor'
holds 'its advice leaves the service its place' eval '! grep -q "service install" /srv/said'
other=$(sed -n 's/^ *API key *//p' /home/tester/data/first-credentials)
types "ERRAND_API_KEY=$other errand --data-dir /home/tester/data chat --stream 'write notes.md: Hello!'"
sees notes.md 'it answers'
kill %% && wait
