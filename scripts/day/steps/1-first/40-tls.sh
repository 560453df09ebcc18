step 'TLS of its own (PROXIES)'
types 'mkdir /etc/errand/tls'
types 'install -m 0640 -g errand /srv/notes/old.key /etc/errand/tls/key.pem'
types 'install -m 0644 /srv/notes/old.pem /etc/errand/tls/chain.pem'
edits /etc/errand/errand.yaml <<'END'
listen: 0.0.0.0:8443
public_url: https://errand.example.com:8443
tls:
  cert_file: /etc/errand/tls/chain.pem # the certificate of the daemon, then each that issued the one before
  key_file: /etc/errand/tls/key.pem    # without a passphrase
END
types 'errand config check'
types 'systemctl restart errand'
types 'curl -sS https://errand.example.com:8443/readyz'
sees '"ready":true' 'a client that trusts the company reaches it'
types 'errand status'
types 'errand doctor'
