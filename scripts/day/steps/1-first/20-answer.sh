step 'A first answer, of the built-in engine (README)'
types "export ERRAND_API_KEY=$ERRAND_API_KEY"
types "curl -sS http://127.0.0.1:8484/openapi/v1/messages \\
  -H \"x-api-key: \$ERRAND_API_KEY\" -H 'content-type: application/json' \\
  -d '{\"model\":\"errand\",\"messages\":[{\"role\":\"user\",\"content\":\"write notes.md: Hello!\"}]}'"
sees notes.md 'it answers'
types "errand chat --stream 'write notes.md: Hello!'"
