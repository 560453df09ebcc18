# Without a network, on a machine whose lists name what is recommended and not installed.
dpkg --purge errand >>/srv/log 2>&1
dpkg --purge bubblewrap >>/srv/log 2>&1
check 'without a network, apt does not install the package because of what is recommended' \
  fails_saying bubblewrap apt_install second
check 'nothing is half installed' eval '! dpkg --audit | grep errand'
check 'with the option of the documentation, it does' apt_install second --no-install-recommends
check 'and the daemon is ready' ready
