// docs/GROWING.md, followed literally: each of its commands on the machine it is meant for, and what an administrator looks at afterwards.
import { blocksOf, filledIn } from './documented.ts';
import type { Machine } from './machines.ts';
import { type Report, step } from './report.ts';

export interface Place {
  /** With the database and the balancer. */
  readonly services: Machine;
  readonly first: Machine;
  readonly second: Machine;
  readonly third: Machine;
  /** `http://HOST:PORT` of the S3 service. */
  readonly bucket: string;
  readonly report: Report;
}

const PASSWORD = 'not-a-real-one';
const TURN = '/srv/node /srv/turns.mjs /srv/key /srv/stop >/srv/turns';

export async function walk(place: Place): Promise<void> {
  await oneDaemon(place);
  await rowsAndFiles(place);
  await secondMachine(place);
  await balancer(place);
  await thirdMachine(place);
  await upgrade(place);
  await loss(place);
}

/** What is there before: the package, with models and a conversation. */
async function oneDaemon({ services, first, report }: Place): Promise<void> {
  await install(first, report, 'errand.deb');
  await report.console(first, 'cp /srv/models.yaml /etc/errand/models.yaml\nsystemctl reload errand');
  const { output } = await first.run(`sed -n 's/^ *API key *//p' /var/lib/errand/first-credentials | tee /srv/key`);
  await services.run('cat >/srv/key', output);
  await report.holds('one daemon, and a conversation with a file', first, [
    'errand status --wait --timeout 60s',
    'ERRAND_API_KEY=$(cat /srv/key) errand chat "Remember the tides. [[tools=1]] [[text=High at six.]]" | grep "High at six"',
  ]);
}

/** "1. Rows to PostgreSQL, files to the bucket" */
async function rowsAndFiles({ services, first, bucket, report }: Place): Promise<void> {
  const [, there, here] = blocksOf('POSTGRESQL.md', 'Setting it up', ['sh', 'sh', 'sh']) as [string, string, string];
  step(report, '1. Rows to PostgreSQL');
  await report.console(services, filledIn(there, { '192.0.2.10/32': '192.0.2.0/24' }), `${PASSWORD}\n${PASSWORD}\n`);
  // The certificate of the server is one that its administrator has made for its name.
  await report.console(services, CERTIFICATE_OF_DATABASE);
  const { output: certificate } = await services.run('cat /srv/root.crt');
  await first.run('cat >/root/root.crt', certificate);
  await report.console(first, filledIn(here, { PASSWORD }));
  step(report, '1. Files to the bucket');
  const [key, yaml] = blocksOf('S3.md', 'Setting it up', ['sh', 'yaml', 'sh']) as [string, string, string];
  const [move] = blocksOf('S3.md', 'Moving an installation', ['sh']) as [string];
  await report.console(first, filledIn(key, { 'ACCESS_KEY_ID:SECRET_ACCESS_KEY': 'S3RVER:S3RVER' }));
  const settings = filledIn(yaml, {
    'https://s3.eu-central-1.amazonaws.com': bucket,
    'eu-central-1': 'us-east-1',
    'bucket: example-errand': 'bucket: example-errand\n    path_style: true',
  });
  await report.file(first, '/etc/errand/errand.yaml', settings, '>>');
  await report.console(first, move);
  const [look] = blocksOf('GROWING.md', '1. Rows to PostgreSQL, files to the bucket', ['sh']) as [string];
  await report.console(first, look);
  await report.holds('the rows and files moved: the conversation is there, and the node leads', first, [
    'errand nodes list | grep -q online',
    'errand status | grep -q PostgreSQL',
    'errand sessions messages "$(errand sessions list -o json | grep -om 1 "[0-9a-f-]\\{36\\}")" | grep "High at six"',
  ]);
}

const CERTIFICATE_OF_DATABASE = `cd /etc/postgresql/15/main
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=db.example.com -addext subjectAltName=DNS:db.example.com -keyout db.key -out db.crt
chown postgres db.key && chmod 600 db.key
runuser -u postgres -- psql -c "ALTER SYSTEM SET ssl_cert_file = '/etc/postgresql/15/main/db.crt'" -c "ALTER SYSTEM SET ssl_key_file = '/etc/postgresql/15/main/db.key'"
systemctl restart postgresql
cp db.crt /srv/root.crt`;

/** "2. A second machine" */
async function secondMachine({ first, second, report }: Place): Promise<void> {
  step(report, '2. A second machine');
  await join(second, report, { name: 'south', address: second.address });
  await report.holds('two nodes are online', second, [
    'errand nodes list',
    'test "$(errand nodes list | grep -c online)" = 2',
  ]);
  await edit(first, report, { name: 'north', address: first.address });
  await report.console(first, 'systemctl restart errand\nerrand status --wait --timeout 60s');
  await report.holds('the doctor of each names no difference', first, [
    'errand nodes list',
    '! errand doctor | grep -i differ',
  ]);
}

/** Step 2 on a machine. */
async function join(machine: Machine, report: Report, node: { name: string; address: string }): Promise<void> {
  const title = '2. A second machine';
  const [clear, copy, , start] = blocksOf('GROWING.md', title, ['sh', 'sh', 'ini', 'sh']) as [
    string,
    string,
    string,
    string,
  ];
  await install(machine, report, 'errand.deb');
  await report.console(machine, clear);
  await report.console(machine, copy);
  await edit(machine, report, node);
  await report.console(
    machine,
    start.replace('systemctl start errand\n', 'systemctl start errand\nerrand status --wait --timeout 60s\n'),
  );
}

/** `systemctl edit errand`, with an editor that types the lines of the page. */
async function edit(
  machine: Machine,
  report: Report,
  { name, address }: { name: string; address: string },
): Promise<void> {
  const [, , lines] = blocksOf('GROWING.md', '2. A second machine', ['sh', 'sh', 'ini', 'sh']) as [
    string,
    string,
    string,
  ];
  const node = filledIn(lines, { south: name, '192.0.2.12': address });
  await report.file(machine, '/srv/lines', node, '>');
  await report.console(machine, `SYSTEMD_EDITOR='cp /srv/lines' script -qec 'systemctl edit errand' /dev/null`);
}

const BALANCER = `openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=errand.example.com -addext subjectAltName=DNS:errand.example.com -keyout /etc/ssl/errand.example.com.key -out /etc/ssl/errand.example.com.pem
rm -f /etc/nginx/sites-enabled/default
cp /srv/nginx-nodes.conf /etc/nginx/conf.d/errand.conf
systemctl restart nginx`;

const SETTINGS = `errand config set trusted_proxies '["192.0.2.10"]'
errand config set public_url https://errand.example.com`;

/** "3. The balancer" */
async function balancer({ services, first, second, report }: Place): Promise<void> {
  step(report, '3. The balancer');
  await report.console(services, BALANCER);
  for (const machine of [first, second]) await report.console(machine, SETTINGS);
  await report.during(services, TURN, 'nobody notices that a node drains', async () => {
    const [drain] = blocksOf('GROWING.md', '3. The balancer', ['sh']) as [string];
    await report.console(first, drain);
  });
}

/** "4. One more, and one less" */
async function thirdMachine({ services, first, third, report }: Place): Promise<void> {
  step(report, '4. One more, and one less');
  await report.during(services, TURN, 'nobody notices that a third one comes and goes', async () => {
    await join(third, report, { name: 'east', address: third.address });
    await report.holds('three nodes are online', first, [
      'errand nodes list',
      'test "$(errand nodes list | grep -c online)" = 3',
    ]);
    const [away] = blocksOf('GROWING.md', '4. One more, and one less', ['sh']) as [string];
    const [drain, stop, remove] = away.replaceAll('south', 'east').split('\n') as [string, string, string];
    await report.console(first, drain);
    await report.console(third, stop);
    await report.console(first, remove.replace('remove east', 'remove east --yes'));
    await report.holds('it is gone', first, ['errand nodes list', '! errand nodes list | grep east']);
  });
}

/** "Upgrading" */
async function upgrade({ services, first, second, report }: Place): Promise<void> {
  step(report, 'Upgrading');
  await report.during(services, TURN, 'nobody notices an upgrade of both nodes', async () => {
    for (const [machine, name] of [
      [second, 'south'],
      [first, 'north'],
    ] as const) {
      await report.console(machine, `errand nodes drain ${name} --wait`);
      await install(machine, report, 'newer.deb');
      await report.console(
        machine,
        `errand status --wait --timeout 60s\nerrand nodes undrain ${name}\nerrand nodes list`,
      );
    }
  });
}

/** "What happens when a part is lost": a node without power. */
async function loss({ services, first, second, report }: Place): Promise<void> {
  step(report, 'A node without power');
  await report.console(second, 'errand nodes drain north --wait');
  const begin = `curl -sk https://errand.example.com/openapi/v1/messages -H "x-api-key: $(cat /srv/key)" -H 'content-type: application/json' \\
  -d '{"model":"errand","background":true,"idempotency_key":"lost","messages":[{"role":"user","content":"[[deltas=1200 every=20]]"}]}'`;
  await report.console(services, begin);
  await report.holds('a run executes at the second node', first, [
    WITHIN,
    'within 30 "errand runs list --status running | grep -q ."',
  ]);
  await report.console(first, 'errand nodes undrain north\nerrand nodes list');
  report.say('second is cut off from power');
  await second.cut();
  await report.holds('its run goes on at the first one', first, [
    WITHIN,
    `began=$SECONDS; within 60 "errand runs list --status running -o json | grep -q '\\"resumes\\": *1'"; echo "after $((SECONDS - began)) s"`,
    'within 90 "! errand runs list --status running | grep -q ."; errand nodes list; errand runs list | head -n 5',
  ]);
}

const WITHIN = `within() { local end=$((SECONDS + $1)); until eval "$2"; do ((SECONDS < end)) || return 1; sleep 0.2; done; }`;

async function install(machine: Machine, report: Report, file: string): Promise<void> {
  await report.console(machine, `apt-get install -y --no-install-recommends /srv/${file}`);
}
