# Installed, up to the first answer.
check 'the package installs' install_deb first
check 'the daemon is ready' ready
check 'and enabled' systemctl is-enabled errand
check 'the configuration is readable by the daemon, not by everyone' test "$(mode /etc/errand)" = 'root:errand 750'
check 'the data belongs to the daemon alone' test "$(mode /var/lib/errand)" = 'errand:errand 700'
check 'nothing that the package installed is damaged' is_whole
check 'the manual has a page for each command' eval 'man -P cat errand-doctor | grep -q "Examine the whole installation"'
check 'and one for all of them' eval 'man -P cat errand | grep -q ERRAND_DATA_DIR'
check 'bash completes' bash -c '. /usr/share/bash-completion/completions/errand && complete -p errand'
check 'so do zsh and fish' \
  test -s /usr/share/zsh/vendor-completions/_errand -a -s /usr/share/fish/vendor_completions.d/errand.fish
/usr/lib/errand/node /srv/model/model-server-main.ts --port 9797 >>/srv/log 2>&1 &
cp /srv/models.yaml /etc/errand/models.yaml
check 'the models are taken up' systemctl reload errand
ERRAND_API_KEY=$(sed -n 's/^ *API key *//p' /var/lib/errand/first-credentials)
message '[[text=the first answer]]' '' -D /srv/first-headers >/srv/first 2>>/srv/log
check 'curl gets the first answer' grep -q 'the first answer' /srv/first
session=$(header_of x-session-id /srv/first-headers)
say "        $(systemd-analyze security --no-pager errand.service | tail -n 1)"
