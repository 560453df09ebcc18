// Everything that the documents show works when it is pasted: each block is run here, or is listed with the reason why not.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { jsonIn, openReader, type Reader } from '../../support/daemon/document-reader.ts';
import { type Block, blocksOf } from '../../support/files/document-blocks.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { changeRows } from '../../support/store/open-store.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** All but those with a test of their own: backups.test.ts, monitoring.test.ts, webhook-documents.test.ts, schedule-documents.test.ts, publishing-documents.test.ts. */
const OTHERS = ['BACKUPS.md', 'MONITORING.md', 'WEBHOOKS.md', 'SCHEDULES.md', 'PUBLISHING.md'];
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md') && !OTHERS.includes(name))
    .map((name) => `docs/${name}`),
];

/** Blocks that are not pasted here: how each begins, and what verifies it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'npm install && npm start': 'the tests themselves are built and run so',
  'export ERRAND_API_KEY=errand_...': 'stands for the key of the reader, which is set here',
  'export URL=http://127.0.0.1:8484': 'stands for the address of the daemon, which is set here',
  'npm install                     # brings': 'the tests themselves',
  'apt-get install': 'changes the system',
  'install -m 755 errand-': 'installs a program of the system: scripts/package/prove',
  'npm ci\nnpm run package': 'takes minutes: scripts/package/prove',
  'npm run package -- --sign': 'needs a key of the builder: scripts/package/apt.test.ts',
  'curl -fsS https://packages.example.com/': 'changes what the system trusts: scripts/package/apt.test.ts',
  'npm run package -- --oci': 'needs debootstrap: scripts/package/oci.test.ts',
  'podman run': 'needs an engine of containers',
  'npm run build && npm pack': 'installs a service of the system',
  'sudo errand status': 'needs the service of the system: installed-service.test.ts',
  'errand service install --dry-run': 'changes the system: scripts/systemd',
  'systemctl ': 'needs the service of the system: scripts/systemd, scripts/package/prove',
  'journalctl -u errand': 'needs the journal of the system: scripts/systemd',
  '[Service]\nLoadCredential=': 'is a drop-in of the unit: scripts/systemd',
  '# errand.yaml\nlisten: 0.0.0.0:8443': 'needs a certificate: daemon/tls.test.ts',
  'mkdir /etc/errand/tls': 'needs the service of the system: scripts/day',
  'cp corp-root.crt': 'changes the system',
  'tls:\n  ca_file: /etc/errand/corp-ca.pem': 'needs a file of issuers: company-network.test.ts',
  'egress:\n  proxy: http://proxy.example.com': 'needs a proxy: company-network.test.ts',
  '#!/bin/sh\n': 'needs the certificates of certbot',
  '# Errand behind ': 'is a file of config/proxies: proxies.test.ts',
  '$ errand budgets set': 'is shown with its output: budgets.test.ts',
  'bin/errand office\n': 'needs a terminal: office.test.ts',
  'runuser -u postgres -- createuser --pwprompt': 'changes the server of the system',
  'install -m 640 -g errand /dev/null /etc/errand/s3-key': 'needs a bucket: s3.test.ts',
  'blobs:\n  s3:': 'needs a bucket: s3.test.ts',
  'systemctl stop errand\nrunuser -u errand -- errand blobs copy': 'needs a bucket: s3.test.ts',
  'install -m 644 root.crt': 'needs a server with a certificate: store/engine/postgres/opening/opening-faults.test.ts',
  'errand backup restore /mnt/backup/errand --to': 'needs a server: backups/postgres.test.ts',
  'errand doctor\nerrand nodes list': 'needs a server and a bucket: acceptance/postgres/several-nodes.test.ts',
  'rsync -a root@first': 'copies from another machine',
  '[Service]\nEnvironment=ERRAND_NODE_NAME': 'is a drop-in of the unit: scripts/systemd',
  'install -d -m 700 -o errand': 'sets a second machine up: daemon/data/own-rows.test.ts',
  'errand nodes drain north --wait     # then stop': 'needs several daemons: acceptance/administration/nodes.test.ts',
  '# Several Errand daemons behind': 'is a file of config/proxies, which is tested with the real balancers',
  '{\n  "mcp": {\n    "errand"': 'is a file of opencode, with the command of handed-over.test.ts',
  'claude mcp add': 'needs Claude Code: acceptance/conversations/handed-over.test.ts has the same command and address',
  'errand nodes drain south': 'needs several daemons: acceptance/administration/nodes.test.ts',
  'curl -N -H "Authorization: Bearer $ERRAND_API_KEY" "$URL/api/v1/office-mode/stream"':
    'ends only with its reader: http/office/floor-stream.test.ts',
};

const elsewhere = ({ text }: Block) => Object.keys(ELSEWHERE).find((start) => text.startsWith(start));
const seen = new Set<Block>();
const all = DOCUMENTS.flatMap((document) => blocksOf(ROOT, document));

/** The block of a document that contains a text; there must be one. Every requested block counts as tried. */
function block(document: string, holding: string): Block {
  const [found, ...others] = all.filter((one) => one.document === document && one.text.includes(holding));
  if (found === undefined || others.length > 0) throw new Error(`${document} has not one block with "${holding}".`);
  seen.add(found);
  return found;
}

const ends: (() => void | Promise<void>)[] = [];
const makeReader = (daemon: DaemonProcess) => openReader(daemon, { onTestFinished: (end) => ends.push(end) });

const headerOf = (printed: string, name: string) =>
  new RegExp(`^${name}: (\\S+)`, 'im').exec(printed)?.[1] ?? expect.fail(`no ${name} in ${printed}`);

/** Pastes again while the requested result is pending. */
const pasteUntilReady = (reader: Reader, text: string) =>
  waitFor(async () => {
    const printed = await reader.paste(text);
    return !printed.includes('"pending"') && printed;
  });

let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
});
afterAll(async () => {
  await model.close();
  for (const end of ends) await end();
});

/** A models.yaml of the documents with the scripted model server behind all its endpoints. */
const withModels = (yaml: string) =>
  yaml.replaceAll(
    /base_url: "?([^\s",]+)"?/g,
    (_, url: string) => `base_url: "${model.url}${url.endsWith('/v1') ? '/v1' : ''}"`,
  );

describe('the first hour, on the offline engine', () => {
  let reader: Reader;
  const readme = (holding: string) => block('README.md', holding).text;
  const clients = (holding: string) => block('docs/CLIENTS.md', holding).text;
  beforeAll(async () => {
    reader = makeReader(await startDaemonProcess());
  });
  afterAll(async () => {
    await reader.daemon.close();
  });

  test('the curl line of the first conversation', async () => {
    expect(
      jsonIn(await reader.paste(readme('-d \'{"model":"errand","messages":[{"role":"user","content":"write notes'))),
    ).toMatchObject({
      type: 'message',
      stop_reason: 'end_turn',
    });
  });

  test('the command line, with the session that it names', async () => {
    const printed = await reader.paste(`${readme('chat --stream')}\necho "$SESSION_ID/$RUN_ID"`);
    expect(printed).toContain('more.md');
    const [, session = '', run = ''] = /^([\w-]{36})\/([\w-]{36})$/m.exec(printed) ?? [];
    reader.set({ SESSION_ID: session, RUN_ID: run });
  });

  test('a file of that session is published, and read without a key', async () => {
    const printed = await reader.paste(readme('publishes create'));
    const page = await fetch(/^page_url\t(.+)$/m.exec(printed)?.[1] ?? '');
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Hello!')]);
  });

  test('what the run made is fetched', async () => {
    const [list, download] = readme('files.tar.gz').split(/(?<=\n)(?=curl -o)/);
    await waitFor(async () => {
      await reader.paste(list ?? '');
      return !readFileSync(join(reader.directory, 'artifacts.json'), 'utf8').includes('"pending"');
    });
    await reader.paste(download ?? '');
    expect(await reader.paste('tar -tzf files.tar.gz')).toContain('notes.md\n');
  });

  const scripts: string[] = [];
  /** Saves a script of a document and runs it; answers what it printed. */
  async function runScript(name: string, text: string): Promise<string> {
    writeFileSync(join(reader.directory, name), text.replaceAll('http://127.0.0.1:8484', reader.daemon.url));
    scripts.push(name);
    return reader.paste(`node ${name}`);
  }

  test('the first script, for the OpenAI client, runs', async () => {
    expect(await runScript('first-OpenAI.mjs', readme("from 'openai'"))).toContain('notes.md');
  });

  test('the script in the Responses protocol runs', async () => {
    expect(await runScript('responses.mjs', clients('client.responses.create'))).toContain('notes.md');
  });

  test('keys whose sessions are found by what clients say', async () => {
    const printed = await reader.paste(clients('--continue-by').replaceAll('alice', reader.daemon.adminName));
    expect(printed.match(/errand_\w+/g)).toHaveLength(3);
  });

  test.each([
    ['OpenAI', '.withResponse();\nconsole.log(completion'],
    ['Anthropic', '.withResponse();\nfor (const block of message.content)'],
    ['AI SDK', "from 'ai'"],
  ])('the longer script for %s continues its session', async (name, holding) => {
    const printed = await runScript(`hello-${name.replace(' ', '-')}.mjs`, clients(holding));
    expect(printed).toContain('notes.md');
    expect(printed).toMatch(name === 'AI SDK' ? /^\d+$/m : /more\.md/);
    const sessions = await reader.paste('bin/errand sessions list -o json');
    const [newest] = (JSON.parse(sessions) as { items: { session_id: string }[] }).items;
    const history = await reader.paste(`bin/errand sessions messages ${newest?.session_id} -o json`);
    expect(history.match(/"UserMessage"/g)).toHaveLength(2);
  });

  test.each([
    ['OpenAI', 'zodResponseFormat'],
    ['Anthropic', 'zodOutputFormat'],
  ])("a result that fits a schema, by the %s client's parser", async (name, holding) => {
    expect(await runScript(`tide-${name}.mjs`, clients(holding))).toMatch(/^\d+$/m);
  });

  test('these scripts are right by their types', async () => {
    expect(scripts).toHaveLength(7);
    const options =
      '--noEmit --allowJs --checkJs --strict --skipLibCheck --module nodenext --target es2024 --types node';
    await reader.paste(`node node_modules/typescript/bin/tsc ${options} ${scripts.join(' ')}`);
  });

  test('a stream reports tools, and is rejoined; its session is listed, read, stopped and deleted', async () => {
    const streamed = await reader.paste(clients('X-Stream-Tool-Events'));
    expect(streamed).toContain('event: tool_use');
    const ids = Array.from(streamed.matchAll(/^id: (\d+)/gm), ([, id = '']) => id);
    reader.set({
      RUN_ID: headerOf(streamed, 'x-run-id'),
      SESSION_ID: headerOf(streamed, 'x-session-id'),
      LAST_EVENT_ID: ids.at(-2) ?? '',
    });
    const rejoined = await reader.paste(clients('Last-Event-ID'));
    expect(rejoined).toContain('event: message_stop');
    expect(rejoined).not.toContain('event: message_start');
    const forks = await reader.paste(clients('$SESSION_ID/fork'));
    expect(forks.match(/"workspace":"as_of_run"/g)).toHaveLength(2);
    const session = await reader.paste(clients('-X DELETE'));
    expect(session).toContain('"UserMessage"');
    expect(session).toContain('"not_running"');
    expect(session).toContain('"scheduled":true');
  });

  test('a reply names its run', async () => {
    const printed = await reader.paste(clients('curl -i "$URL/openapi/v1/messages" \\'));
    expect(headerOf(printed, 'x-run-id')).toMatch(/^[\w-]{36}$/);
  });

  test('an expert is written, and a key talks to the expert, as fast as a shell can say it', async () => {
    for (const name of ['writer', 'editor', 'clerk', 'poet', 'critic', 'scribe']) {
      const printed = await reader.paste(readme('data/config/experts/writer.md').replaceAll('writer', name));
      expect(printed).toContain(`expert:${name}`);
    }
  });

  test('a background run, and its end', async () => {
    const [submit, collect] = clients('"background":true').split(/(?<=\n)(?=curl "[^\n]*RUN_ID)/);
    const { background_results: begun } = jsonIn(await reader.paste(submit ?? '')) as {
      background_results: { run_id: string };
    };
    reader.set({ RUN_ID: begun.run_id });
    const ended = await waitFor(
      async () => {
        const printed = await reader.paste(collect ?? '');
        return printed.includes('"completed"') && printed;
      },
      { everyMs: 300 },
    );
    expect(ended).toContain('report.md');
  });

  test('a result that fits a schema', async () => {
    const { structured_output: result } = jsonIn(await reader.paste(clients('output_format')));
    expect(result).toEqual({ metres: expect.any(Number) as number });
  });

  test('settings', async () => {
    const printed = await reader.paste(block('docs/OPERATING.md', 'config show --origin').text);
    expect(printed).toContain('background.queue_wait_seconds');
  });

  test('files in and out', async () => {
    const of = (holding: string) => block('docs/FILES.md', holding);
    const { id } = jsonIn(await reader.paste(of('"type":"document"').text)) as { id: string };
    const dashed = id.slice(4).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const row = JSON.parse(await reader.paste(`errand runs show ${dashed} -o json`)) as { session_id: string };
    reader.set({ RUN_ID: dashed, SESSION_ID: row.session_id });
    const answer = jsonIn(await pasteUntilReady(reader, of('runs/$RUN_ID/artifacts').text));
    expect(shapeOf(answer)).toEqual(shapeOf(JSON.parse(of('"artifact_status": "ready"').text)));
    const held = jsonIn(await pasteUntilReady(reader, of('sessions/$SESSION_ID/artifacts').text));
    expect(held).toMatchObject({ workspace_export_status: 'ready', archive: { filename: /\.zip$/ } });
    await reader.paste(of('--download').text);
    const names = readdirSync(reader.directory);
    expect(names).toEqual(
      expect.arrayContaining([`run-artifacts-${dashed}.tar.gz`, `workspace-${row.session_id}.zip`]),
    );
  });
});

/** The names in a document, and the types of what they hold; of a list its first element. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

const sandbox = await probeSandbox({
  path: '/usr/local/bin:/usr/bin:/bin',
  privateFolders: [],
  timeoutMs: 120_000,
  maxOutputBytes: 65_536,
  memoryBytes: 2 ** 30,
  maxProcesses: 64,
});

describe('models, people and capabilities', () => {
  let reader: Reader;
  beforeAll(async () => {
    reader = makeReader(await startDaemonProcess());
    const key = block('README.md', 'claude.key)');
    await reader.paste(key.text);
    save(block('README.md', 'default_scenario: local'), withModels);
  });
  afterAll(async () => {
    await reader.daemon.close();
  });

  /** Saves a block as the file that its fence names. */
  function save({ file, text, document }: Block, change: (text: string) => string = (same) => same): void {
    if (file === null) throw new Error(`A block of ${document} names no file: ${text}`);
    const place = join(reader.directory, document === 'README.md' ? '' : 'data/config', file);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, change(text));
  }

  test('models.yaml is applied, and its models are checked', async () => {
    const [check, status, models] = block('README.md', 'models check').text.split(/(?<=\n)/);
    await reader.paste(check ?? '');
    await waitFor(async () => /qwen[^]*claude/.test(await reader.paste(status ?? '')));
    // The scripted model makes no tool calls by itself, so the check as a whole fails.
    const printed = await reader.paste(`${(models ?? '').split('#')[0]}--no-context || [ $? = 8 ]`);
    expect(printed).toMatch(/qwen\s+stream\s+ok/);
    expect(printed).toMatch(/claude\s+stream\s+ok/);
  });

  test('the models.yaml with all common options is applied, too', async () => {
    save(block('docs/OPERATING.md', 'default_scenario: local'), withModels);
    expect(await reader.paste('errand config check')).not.toContain('problem');
    await waitFor(async () => (await reader.paste('errand models list -o json')).includes('200000'));
  });

  test.each([
    ['that keeps to schemas', 'structured: json_schema', 'ollama'],
    ['with headers, a query and fields of its own', 'header_files:', 'azure'],
  ])('an endpoint %s', async (_, holding, endpoint) => {
    const { text } = block('docs/OPERATING.md', holding);
    const rest = `models: { m: { endpoint: ${endpoint}, model: m } }\nscenarios: { s: { model: m } }\ndefault_scenario: s\n`;
    const directory = temporaryDirectory({ 'azure.key': 'of-azure\n', 'models.yaml': `${text}${rest}` });
    expect(await reader.paste(`errand config check --config-dir ${directory}`)).not.toContain('models.yaml');
  });

  test('a question is listed and answered', async () => {
    model.script((request) =>
      JSON.stringify(request.body.messages).includes('The second one')
        ? { text: 'Thank you.' }
        : { tools: [{ name: 'ask_user', input: { question: 'Which one?' } }] },
    );
    const asking = reader.paste('errand chat "Ask me."');
    const list = 'bin/errand inputs list --status pending';
    const id = await waitFor(async () => /^[0-9a-f-]{36}/m.exec(await reader.paste(list))?.[0]);
    reader.set({ QUESTION_ID: id });
    await reader.paste(block('docs/OPERATING.md', 'inputs answer "$').text);
    expect(await asking).toContain('Thank you.');
  });

  test('people and keys, and what an operator looks at', async () => {
    const people = block('docs/OPERATING.md', '--scenario careful').text;
    const [create, revoke] = people.split(/(?<=\n)(?=bin\/errand keys revoke)/);
    await reader.paste(create ?? '');
    const { items } = JSON.parse(await reader.paste('errand keys list -o json')) as {
      items: { id: string; name: string }[];
    };
    reader.set({ KEY_ID: items.find(({ name }) => name === 'batch')?.id ?? '' });
    // On a terminal it asks for confirmation; here there is none.
    await reader.paste(`${revoke?.trimEnd()} --yes`);
    await reader.paste(block('docs/OPERATING.md', 'bin/errand queue').text);
  });

  test('what is wrong is found, and a setting is changed', async () => {
    const [examine, , ...more] = block('docs/OPERATING.md', 'errand doctor').text.split(/(?<=\n)/);
    // In between, the files are examined beside a stopped daemon: doctor.test.ts.
    expect(more).toHaveLength(3);
    expect(await reader.paste(examine ?? '')).toContain('it answers');
    for (const line of more) await reader.paste(line);
    const [set, reset] = block('docs/OPERATING.md', 'config set public_url').text.split(/(?<=\n)/);
    await reader.paste(set ?? '');
    await reader.paste(reset ?? '');
    const file = join(reader.directory, 'data/config/errand.yaml');
    expect(parse(readFileSync(file, 'utf8'))).toMatchObject({ public_url: 'https://errand.example.com' });
    await reader.paste('errand config set public_url --default');
  });

  test('nodes are listed, drained and removed', async () => {
    await reader.paste('errand config set node.name north');
    changeRows(
      join(reader.directory, 'data/errand.db'),
      `INSERT INTO worker_nodes (id, place, name, version, address, slots, labels, running, draining, noticed, beats, contests,
         last_beat_at, registered_at)
       VALUES ('0198c0de-0000-7000-8000-000000000001', 'gone', 'gone', '0.1.0', '192.0.2.7:8484', 4, '[]', 0, 0, 0, 1, 0, 0, 0)`,
    );
    const lines = block('docs/OPERATING.md', 'errand nodes drain').text.trim().split('\n');
    const [list, drain, undrain, remove] = lines.map((line) => line.replace(/ *#.*/, ''));
    // The name is in effect as soon as the file was noticed.
    await waitFor(async () => /^gone.*offline[^]*^north.*online/m.test(await reader.paste(list!)));
    expect(await reader.paste(drain!)).toMatch(/^state\tdrained$/m);
    expect(await reader.paste(undrain!)).toMatch(/^state\tonline$/m);
    // On a terminal it asks for confirmation; here there is none.
    await reader.paste(`${remove} --yes`);
    expect(await reader.paste(list!)).not.toContain('gone');
  });

  test('the audit log is listed and verified', async () => {
    const lines = block('docs/OPERATING.md', 'audit list --actor').text.split(/(?<=\n)/);
    // The reader's key acts for "admin"; a tail has no end, and nothing has the hash of the example.
    const [list = '', , verify = ''] = lines.map((line) => line.replace('--actor alice', '--actor admin'));
    expect(lines).toHaveLength(4);
    await reader.paste(list);
    expect(await reader.paste(verify)).toContain('The audit log is intact');
  });

  test('the installation, as a key for it, as a table and over HTTP', async () => {
    const [create] = block('docs/OFFICE.md', 'keys create').text.split(/(?<=\n)/);
    await reader.paste(create ?? '');
    await reader.paste(block('docs/OFFICE.md', 'office --once').text);
    expect(JSON.parse(readFileSync(join(reader.directory, 'snapshot.json'), 'utf8'))).toHaveProperty('entities');
    expect(jsonIn(await reader.paste(block('docs/OFFICE.md', 'snapshot?tz').text))).toHaveProperty('data.overview');
    // Its second line is for another machine.
    const [link] = block('docs/OFFICE.md', 'errand office --web').text.split(/(?<=\n)/);
    expect(await reader.paste(link ?? '')).toContain('/office#code=');
  });

  test('every file of the config directory that is shown, together; then keys and connections for them', async () => {
    const files = all.filter(({ document, file }) => document === 'docs/CAPABILITIES.md' && file !== null);
    const settings = files.filter(({ file }) => file === 'errand.yaml');
    expect(files.length - settings.length).toBeGreaterThan(8);
    for (const one of files) seen.add(one);
    // What the reader has according to the text: a token for the server, and one for the connection.
    writeFileSync(join(reader.directory, 'data/config/wiki.token'), 'Bearer of-the-wiki\n');
    writeFileSync(join(reader.directory, 'token.txt'), 'of-the-crm\n');
    for (const one of files) save(one);
    writeFileSync(join(reader.directory, 'data/config/errand.yaml'), settings.map(({ text }) => text).join(''));
    expect(
      Object.keys(parse(readFileSync(join(reader.directory, 'data/config/errand.yaml'), 'utf8')) as object),
    ).toEqual(['browser', 'egress']);
    expect(await reader.paste('errand config check')).not.toContain('problem');
    await waitFor(async () => (await reader.paste('errand experts list')).includes('office:secretary'));
    await waitFor(async () => (await reader.paste('errand connectors list')).includes('crm'));
    const [create, use] = block('docs/CAPABILITIES.md', 'connections create').text.split(/(?<=\n)(?=errand keys set)/);
    const printed = await reader.paste((create ?? '').replace(/ #.*/, ' -o json'));
    reader.set({ CONNECTION_ID: jsonIn(printed)['id'] as string });
    await reader.paste(use ?? '');
    const keys = await reader.paste(block('docs/CAPABILITIES.md', 'keys show').text);
    expect(keys).toContain('office:letters');
  });

  test.skipIf(!sandbox.ok)('the MCP server that is shown answers', async () => {
    expect(await reader.paste('errand mcp check dice')).toMatch(/roll\s+tool\s+ok/);
  });

  test('people come, one leaves, and new files are looked at', async () => {
    writeFileSync(join(reader.directory, 'people.csv'), 'username,full_name\nalice,\nbob,Bob Doe\n');
    await reader.paste(block('docs/OPERATING.md', 'users import').text);
    expect(readFileSync(join(reader.directory, 'credentials.csv'), 'utf8')).toContain('bob,');
    const next = block('docs/OPERATING.md', '/etc/errand.next').text.replace('/etc/errand.next', 'data/config');
    expect(await reader.paste(next)).not.toContain('problem');
    const lines = block('docs/OPERATING.md', 'users leave alice').text.trim().split('\n');
    // On a terminal they ask for confirmation; here there is none.
    for (const line of lines) await reader.paste(line.replace(/ *#.*/, ' --yes'));
    expect(await reader.paste('errand users leave alice -o json')).not.toMatch(/"count": ?[1-9]/);
  });
});

test('every block of the documents was pasted above, or is looked after elsewhere', () => {
  const isDrawing = ({ language, file }: Block) => language === '' && file === null;
  const left = all.filter((one) => !seen.has(one) && !isDrawing(one) && elsewhere(one) === undefined);
  expect(left.map(({ document, line, text }) => `${document}:${line} ${text.split('\n')[0]}`)).toEqual([]);
});
