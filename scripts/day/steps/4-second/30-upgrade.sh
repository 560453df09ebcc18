step 'An upgrade at night, by unattended-upgrades, with runs under way (INSTALLING)'
answers 'apt-get install unattended-upgrades'
edits /etc/apt/apt.conf.d/52errand <<'END'
Unattended-Upgrade::Origins-Pattern { "origin=Errand"; };
END
background() {
  curl -sS https://agents.example.com:8443/openapi/v1/messages -H "x-api-key: $bob" -H 'content-type: application/json' \
    -d "{\"model\":\"errand\",\"background\":true,\"idempotency_key\":\"night-$1\",
         \"messages\":[{\"role\":\"user\",\"content\":\"[[text=night $1 ended]] [[first=60000]]\"}]}"
}
types 'for number in 1 2 3 4; do background $number; done'
running() { [ "$(errand runs list --status running -o json | grep -c '"status": *"running"')" -ge 4 ]; }
holds 'four runs are in progress' within 30 running
types 'errand version'
# What apt-daily.timer and apt-daily-upgrade.timer start.
types 'systemctl start apt-daily.service'
types 'systemctl start apt-daily-upgrade.service'
types 'tail -n 5 /var/log/unattended-upgrades/unattended-upgrades.log'
sees 'errand' 'it was upgraded'
types 'errand status --wait --timeout 30s'
sees '0\.1\.1' 'the new version runs'
ended() { for number in 1 2 3 4; do errand sessions list --user bob -o json | grep -q "night $number" || return 1; done; running_none; }
running_none() { ! errand runs list --status running -o json | grep -q '"status"' && ! errand runs list --status queued -o json | grep -q '"status"'; }
holds 'and ended' within 150 ended
types 'errand runs list | head -n 4'
sees 'completed' 'none of them is lost'
types 'errand doctor'
