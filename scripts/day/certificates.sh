#!/bin/sh
# Makes the company's own issuer, and certificates of it, in the directory given.
set -e
cd "$1"
quiet() { openssl "$@" 2>/dev/null; }
quiet req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj '/O=Corp/CN=Corp Root CA' \
  -keyout root.key -out corp-root.crt
issue() { # name of the files, days, names
  quiet req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/O=Corp/CN=${3%%,*}" -keyout "$1.key" -out "$1.csr"
  printf 'subjectAltName=DNS:%s\n' "$(echo "$3" | sed 's/,/,DNS:/g')" >"$1.ext"
  quiet x509 -req -in "$1.csr" -CA corp-root.crt -CAkey root.key -CAcreateserial -days "$2" -extfile "$1.ext" -out "$1.pem"
}
issue company 365 llm.corp.example,packages.example.com
issue old 60 errand.example.com
issue renewed 365 errand.example.com,agents.example.com
