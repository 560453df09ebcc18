step 'Out through a proxy (OPERATING)'
edits /etc/errand/errand.yaml -a <<'END'
egress:
  proxy: http://proxy.example.com:3128    # for http and https addresses; "direct": none, whatever the variables say
END
types 'errand config check'
types 'errand models check'
types "errand chat --stream '[[text=an answer through the proxy]]'"
sees 'an answer through the proxy' 'the model answers'
holds 'the proxy was asked for it' grep -q 'CONNECT llm.corp.example:443' /srv/company/proxy.log
types 'errand doctor --egress'
