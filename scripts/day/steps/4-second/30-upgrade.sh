step 'An upgrade at night, by unattended-upgrades, with runs under way (INSTALLING)'
answers 'apt-get install unattended-upgrades'
edits /etc/apt/apt.conf.d/52errand <<'END'
Unattended-Upgrade::Origins-Pattern { "origin=Errand"; };
END
background() {
  curl -sS https://agents.example.com:8443/openapi/v1/messages -H "x-api-key: $bob" -H 'content-type: application/json' \
    -d "{\"model\":\"errand\",\"background\":true,\"idempotency_key\":\"night-$1\",
         \"messages\":[{\"role\":\"user\",\"content\":\"[[text=night $1 ended]] [[first=20000]]\"}]}"
}
types 'errand version'
# What apt-daily.timer and apt-daily-upgrade.timer start.
types 'systemctl start apt-daily.service'
types 'for number in {1..8}; do background $number; done'
running() { [ "$(errand runs list --status running -o json | grep -c '"status": *"running"')" -ge 2 ]; }
holds 'two of them are in progress, and the others wait' within 30 running
types 'systemctl start apt-daily-upgrade.service'
types 'tail -n 5 /var/log/unattended-upgrades/unattended-upgrades.log'
sees 'errand' 'it was upgraded'
types 'errand status --wait --timeout 30s'
sees "${later_version//./\\.}" 'the new version runs'
sees '[1-9][0-9]* running' 'and continues what was under way'
none() { ! errand runs list --status "$1" -o json | grep -q '"status"'; }
ended() { none queued && none running; }
holds 'which comes to its end' within 150 ended
types 'errand runs list | head -n 8'
holds 'none of them is lost' test "$(grep -c completed /srv/said)" = 8
types 'errand doctor'
