# Keys that only root can read reach the daemon, and nobody else.
mkdir -m 700 /root/keys
mv /var/lib/errand/master.key /root/keys/
echo model-key-1 >/root/keys/here.key
chmod 600 /root/keys/*
chown root:root /root/keys/*
sed -i 's|base_url: |api_key_file: "credential:here", base_url: |' /etc/errand/models.yaml
with LoadCredential=master-key:/root/keys/master.key LoadCredential=here:/root/keys/here.key
check 'a service with credentials starts' systemctl restart errand
check 'without a master key in the data directory' test ! -e /var/lib/errand/master.key
check 'an agent works with them' outcome_has 'echo $((40 + 2))' '"ok":true,"output":"42'
check 'agents see no credentials' outcome_has 'test ! -e /run/credentials && echo none' '"ok":true,"output":"none'
mv /root/keys/master.key /var/lib/errand/
chown errand:errand /var/lib/errand/master.key
cp /srv/models.yaml /etc/errand/models.yaml
with
systemctl restart errand >>/srv/log 2>&1
