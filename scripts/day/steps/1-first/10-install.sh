step 'The package is installed (INSTALLING)'
answers "apt-get install ./errand_${first_version}_amd64.deb"
types 'cat /var/lib/errand/first-credentials   # the administrator'"'"'s password and key: keep them elsewhere, remove the file'
ERRAND_API_KEY=$(sed -n 's/^ *API key *//p' /var/lib/errand/first-credentials)
keeps ERRAND_API_KEY
types 'rm /var/lib/errand/first-credentials'
types 'errand status --wait --timeout 30s'
types 'errand status'
holds 'every part is ok' errand status --check
types 'errand doctor'
