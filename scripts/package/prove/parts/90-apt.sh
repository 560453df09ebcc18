# From a repository that a web server of this machine serves.
dpkg --purge errand >>/srv/log 2>&1
rm -rf /var/lib/errand
files='const fs = require("node:fs");
require("node:http").createServer((asked, reply) => {
  fs.createReadStream("/srv/repository" + asked.url).on("error", () => reply.writeHead(404).end()).pipe(reply);
}).listen(8780, "127.0.0.1");'
/srv/errand -e "$files" >>/srv/log 2>&1 &
server=$!
within 20 curl -fsS http://127.0.0.1:8780/dists/stable/Release
list='deb [signed-by=/srv/repository/errand-archive-keyring.asc] http://127.0.0.1:8780 stable main'
echo "$list" >/srv/errand.list
from_repository() { # arguments of apt-get
  DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends -o Dir::Etc::SourceList=/srv/errand.list \
    -o Dir::Etc::SourceParts=/dev/null "$@" </dev/null
}
installed() { dpkg-query -W -f '${Version}' errand; }
check 'apt takes the lists of the repository' from_repository update
check 'the newest version is installed' eval 'from_repository install errand && test "$(installed)" = 9.9.1'
check 'and its daemon is ready' ready
check 'the one before can be had' eval 'from_repository --allow-downgrades install errand=9.9.0 && test "$(installed)" = 9.9.0'
check 'and is upgraded' eval 'from_repository upgrade && test "$(installed)" = 9.9.1'
sed -i 's/^Origin: .*/Origin: others/' /srv/repository/dists/stable/InRelease
refuses_lists() { from_repository update 2>&1 | grep -Ei 'signature|BADSIG'; }
check 'lists that someone has changed are refused' refuses_lists
kill "$server"
