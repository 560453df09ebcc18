# What is removed, and what stays.
systemctl start errand.socket errand.service >>/srv/log 2>&1
echo '# mine' >>/etc/systemd/system/errand.service
check 'a unit that was changed is not removed' eval '! /usr/bin/errand service uninstall'
check 'with --yes it is, and kept under another name' /usr/bin/errand service uninstall --yes
check 'its old text is there' grep -q '^# mine$' /etc/systemd/system/errand.service.old
check 'no unit is left' eval '! systemctl cat errand.service errand.socket'
check 'nothing listens' eval '! listens'
check 'the data is still there' test -s /var/lib/errand/errand.db
check 'and so are the configuration and the user' eval 'test -s /etc/errand/models.yaml && id errand'
check 'the service can be installed again' /usr/bin/errand service install --no-socket
check 'and listens without a socket of systemd' listens
errand chat '[[shell=sleep 4; echo finished]] [[text=in good order]]' >/srv/answer 2>>/srv/log &
chat=$!
check 'a run is in progress' within 10 in_progress
check 'the service stops' systemctl stop errand
wait "$chat"
check 'its run had the time to end' grep -q 'in good order' /srv/answer
