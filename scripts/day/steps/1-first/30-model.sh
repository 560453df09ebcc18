step 'A model server behind the certificate of a company (OPERATING)'
edits /etc/errand/models.yaml <<'END'
endpoints:
  corp: { kind: openai, base_url: "https://llm.corp.example/v1" }
models:
  qwen: { endpoint: corp, model: scripted, context_window: 32768, price: { input_per_million_usd: 3, output_per_million_usd: 15 } }
scenarios: { local: { model: qwen } }
default_scenario: local
END
types 'errand config check'
holds 'it is in effect' within 10 eval 'errand status | grep -q qwen'
refused 'errand models check'
sees 'issued by "Corp Root CA", which is not trusted' 'the issuer that is missing is named'
cp /srv/notes/corp-root.crt corp-root.crt
types 'cp corp-root.crt /usr/local/share/ca-certificates/ && update-ca-certificates'
types 'errand models check'
types "errand chat --stream '[[text=the first answer of the model]]'"
sees 'the first answer of the model' 'the model answers, without a restart'
types 'errand status'
