step 'Another machine: the package from a repository (INSTALLING)'
# So that the user of the service has another id here.
useradd --system somebody
cp /srv/notes/corp-root.crt corp-root.crt
types 'cp corp-root.crt /usr/local/share/ca-certificates/ && update-ca-certificates'
types 'curl -fsS https://packages.example.com/errand/errand-archive-keyring.asc -o /etc/apt/keyrings/errand.asc'
types 'echo "deb [signed-by=/etc/apt/keyrings/errand.asc] https://packages.example.com/errand stable main" \
  >/etc/apt/sources.list.d/errand.list'
answers 'apt-get update && apt-get install errand'
types 'errand status --wait --timeout 30s'
