// Follows docs/GROWING.md from one machine to three and back, on Debians booted with systemd in a network of their own: `npm run
// test:growing [-- --root DIR] [--packages DIR] [--transcript FILE]`. Prints SKIPPED, and ends with 0, where that is impossible.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeVariant } from '../package/prove/variants.ts';
import { runTool } from '../package/run-tool.ts';
import { layDebian, MODELS, requireMachine, say, Skipped } from '../systemd/container.ts';
import { layMachine, type Machine, makeNetwork, type Network } from './machines.ts';
import { makeReport, type Report } from './report.ts';
import { walk } from './walk.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGES =
  'systemd,systemd-sysv,dbus,procps,iproute2,curl,openssl,ca-certificates,bubblewrap,openssh-server,openssh-client,rsync,postgresql,nginx-light';
const MINUTE = 60_000;
const ADDRESSES = { services: '192.0.2.10', first: '192.0.2.11', second: '192.0.2.12', third: '192.0.2.13' } as const;
const HOSTS = `${Object.entries(ADDRESSES)
  .map(([name, address]) => `${address} ${name}\n`)
  .join('')}192.0.2.10 db.example.com errand.example.com\n`;
const BUCKET = { port: 9_000, name: 'example-errand' } as const;

/** The package of the next version. */
const NEWER = {
  version: '9.9.0',
  file: 'usr/lib/errand/package.json',
  from: /"version":"[^"]*"/,
  to: '"version":"9.9.0"',
} as const;

/** What each runs beside Errand: its models, and no server that only another one has. */
const MODEL_UNIT = `[Service]
ExecStart=/srv/node /srv/model/model-server-main.ts --port 9797
[Install]
WantedBy=multi-user.target
`;
const SERVERS = ['postgresql', 'nginx', 'ssh'] as const;
const OWN: Readonly<Record<string, readonly string[]>> = { services: ['postgresql', 'nginx'], first: ['ssh'] };

interface Given {
  readonly work: string;
  readonly base: string;
  /** The Debian package. */
  readonly deb: string;
}

async function layFiles(root: string, { work, deb }: Given): Promise<void> {
  const srv = (name: string) => path.join(root, 'srv', name);
  await mkdir(srv('model'), { recursive: true });
  const models = path.join(CHECKOUT, 'test/support/model');
  for (const name of readdirSync(models).filter((file) => /^model-.*(?<!test)\.ts$/.test(file))) {
    await copyFile(path.join(models, name), srv(`model/${name}`));
  }
  await writeFile(srv('package.json'), '{ "type": "module" }\n');
  await writeFile(srv('models.yaml'), MODELS);
  await copyFile(process.execPath, srv('node'));
  await copyFile(fileURLToPath(new URL('programs/turns.mjs', import.meta.url)), srv('turns.mjs'));
  await copyFile(path.join(CHECKOUT, 'config/proxies/nginx-nodes.conf'), srv('nginx-nodes.conf'));
  await copyFile(deb, srv('errand.deb'));
  await makeVariant(deb, NEWER, { work, to: srv('newer.deb') });
  await writeFile(path.join(root, 'etc/systemd/system/models.service'), MODEL_UNIT);
}

/** The administrator can log in from machine to machine. */
const LOG_IN = `set -e
ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
echo 'StrictHostKeyChecking accept-new' >/etc/ssh/ssh_config.d/first.conf
systemctl --quiet enable models`;

async function layBase(given: Given): Promise<void> {
  await layFiles(given.base, given);
  await mkdir(path.join(given.base, 'root/.ssh'), { mode: 0o700, recursive: true });
  await runTool('chroot', [given.base, 'sh', '-c', LOG_IN]);
}

async function bootAll(network: Network, { work, base }: Given): Promise<Record<keyof typeof ADDRESSES, Machine>> {
  const machines: Partial<Record<keyof typeof ADDRESSES, Machine>> = {};
  for (const name of Object.keys(ADDRESSES) as (keyof typeof ADDRESSES)[]) {
    const root = path.join(work, name);
    await runTool('cp', ['-a', '--reflink=auto', base, root]);
    await layMachine({ name, address: ADDRESSES[name], root }, HOSTS);
    const others = SERVERS.filter((server) => OWN[name]?.includes(server) !== true);
    await runTool('chroot', [root, 'systemctl', '--quiet', 'disable', ...others]);
    machines[name] = await network.boot({ name, address: ADDRESSES[name], root });
  }
  return machines as Record<keyof typeof ADDRESSES, Machine>;
}

async function growOn(given: Given, report: Report): Promise<void> {
  const network = await makeNetwork('192.0.2.1/24');
  try {
    const program = fileURLToPath(new URL('programs/bucket.ts', import.meta.url));
    const bytes = path.join(given.work, 'bucket');
    await mkdir(bytes);
    network.start(process.execPath, [program, network.address, String(BUCKET.port), bytes, BUCKET.name]);
    say('systemd …');
    const machines = await bootAll(network, given);
    await walk({ ...machines, bucket: `http://${network.address}:${BUCKET.port}`, report });
  } finally {
    await network.close();
  }
}

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { root: text, packages: text, transcript: text } });
const work = mkdtempSync(path.join(tmpdir(), 'errand-growing-'));
const transcript = values.transcript ?? path.join(tmpdir(), 'errand-growing.txt');
writeFileSync(transcript, '');
const report = makeReport(transcript);
try {
  await requireMachine(['dpkg-deb', 'ip', 'nsenter']);
  const packages = values.packages ?? path.join(work, 'packages');
  if (values.packages === undefined) {
    say('package …');
    await runTool(process.execPath, [path.join(CHECKOUT, 'scripts/package/main.ts'), '--out', packages, 'x64']);
  }
  const [deb = ''] = readdirSync(packages).filter((name) => name.endsWith('_amd64.deb'));
  const given = { work, base: path.join(work, 'base'), deb: path.join(packages, deb) };
  say('Debian 12 …');
  await layDebian(given.base, { suite: 'bookworm', packages: PACKAGES, copyOf: values.root, limitMs: 9 * MINUTE });
  await layBase(given);
  await growOn(given, report);
  if (report.failures.length > 0) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof Skipped)) throw error;
  say(`SKIPPED: ${error.message}`);
} finally {
  say(`What was typed, and what came: ${transcript}`);
  rmSync(work, { recursive: true, force: true });
}
