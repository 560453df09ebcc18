step 'The public address changes, and the certificate is renewed (OPERATING, PROXIES)'
types 'install -m 0640 -g errand /srv/notes/renewed.key /etc/errand/tls/key.pem'
types 'install -m 0644 /srv/notes/renewed.pem /etc/errand/tls/chain.pem'
renewed() { curl -sS -v https://agents.example.com:8443/healthz; }
holds 'new connections get the new certificate, without a restart' within 20 renewed
host=agents.example.com
types 'errand config set public_url https://agents.example.com:8443'
holds 'it is in effect, without a restart' within 10 eval 'errand status | grep -q "public_url.*agents"'
types 'errand publishes show Tides'
sees 'https://agents.example.com:8443/share' 'links have the new address'
page=$(sed -nE 's/.*page_url[^h]*(https[^ ]*).*/\1/p' /srv/said)
types "curl -sS -o /dev/null -w '%{http_code}\n' $page"
sees 200 'where the page is'
types "curl -sS -o /dev/null -w '%{http_code}\n' ${page/agents/errand}"
sees 200 'as under the old address, as long as its name leads here'
types 'errand doctor'
