// Experts, teams and skills of a running daemon: who answers, with what, and when a change of their files applies.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let models: ModelServer;
let daemon: DaemonProcess;

const expert = (role: string, keys = '') => `---\ndescription: Knows ${role}\n${keys}---\nYou are the ${role}.\n`;
const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\nRead.\n`;

function write(name: string, text: string): void {
  const file = join(daemon.configDir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

interface KeyAnswer {
  readonly id: string;
  readonly key: string;
  readonly capability_config: { readonly skill_ids: readonly number[]; readonly mcp_server_ids: readonly number[] };
  readonly capability_names: { readonly skills: readonly string[]; readonly mcp_servers: readonly string[] };
}

async function cli<T>(...args: string[]): Promise<T> {
  const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

const makeKey = (...options: string[]) =>
  cli<KeyAnswer>('keys', 'create', '--user', 'admin', '--scope', 'admin', ...options);

async function call(key: string, method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${daemon.url}/openapi/v1${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** Runs a turn and returns the status, the session, and the text of the reply or its error. */
async function ask(key: string, text: string, session?: string) {
  const metadata = session === undefined ? {} : { metadata: { session_id: session } };
  const body = { model: 'errand', messages: [{ role: 'user', content: text }], ...metadata };
  const response = await call(key, 'POST', '/messages', body);
  return {
    status: response.status,
    session: response.headers.get('x-session-id') ?? session ?? '',
    body: (await response.json()) as { error?: { message: string } },
  };
}

async function configOf(key: string, session: string): Promise<unknown> {
  return (await call(key, 'GET', `/sessions/${session}/capability-config`)).json();
}

/** The instructions of a model call. */
function instructionsAt(index: number): string {
  const message = models.requests.at(index)?.body.messages?.[0];
  expect(message?.role).toBe('system');
  return JSON.stringify(message?.content);
}

interface Listed {
  readonly items: readonly { readonly id: number; readonly name: string; readonly description: string }[];
}

/** Waits until the daemon has applied a definition; without a description, until it is gone. */
async function taken(noun: string, name: string, description?: string): Promise<void> {
  await waitFor(async () => {
    const { items } = (await daemon.admin('GET', `/api/v1/${noun}`)) as Listed;
    return items.find((one) => one.name === name)?.description === description;
  });
}

beforeAll(async () => {
  models = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: models.url });
  write('skills/tides/SKILL.md', skill('tides'));
  write('skills/reefs/SKILL.md', skill('reefs'));
  write('mcp-servers.yaml', 'servers: { quiet: { url: "http://127.0.0.1:9/mcp", start_timeout_seconds: 1 } }\n');
  write('experts/sailor.md', expert('sailor', 'skills: [tides]\nsubagents: [cook]\n'));
  write('experts/cook.md', expert('cook'));
  write('expert-teams/crew.yaml', 'description: A ship\nlead: sailor\nmembers: [cook]\n');
  // One reading may come between two of these files, and show some of them alone.
  await taken('skills', 'reefs', 'About reefs');
  await taken('expert-teams', 'crew', 'A ship');
});

afterAll(async () => {
  await daemon.close();
  await models.close();
});

beforeEach(() => models.script({ text: 'Aye.' }));

test("a key's target decides who answers, and the session returns what its agents may use", {
  tags: ['§2.10-fields', '§4.3-rule-8', '§4.6-capability-configuration', '§5-rule-1'],
}, async () => {
  const { items } = await cli<Listed>('skills', 'list');
  const cook = await cli<{ id: number }>('experts', 'show', 'cook');
  const { key } = await makeKey('--target', 'expert:sailor');
  const asked = await ask(key, 'Who are you?');
  expect(asked.status).toBe(200);
  expect(instructionsAt(-1)).toContain('You are the sailor.');
  expect(await configOf(key, asked.session)).toEqual({
    session_id: asked.session,
    capability_config: {
      browser_enabled: false,
      browser_impl: '',
      mcp_server_ids: [],
      skill_ids: [items.find(({ name }) => name === 'tides')!.id],
      connector_connection_ids: [],
      plugin_ids: [],
      subagent_ids: [cook.id],
    },
  });
});

test('in free mode the key decides; what is changed of it counts for new sessions only', {
  tags: ['§4.6-capability-configuration'],
}, async () => {
  const made = await makeKey('--name', 'free-one', '--skills', 'tides');
  expect(made.capability_names.skills).toEqual(['tides']);
  const first = await ask(made.key, 'Hello.');
  expect(instructionsAt(-1)).toContain('About tides');
  const changed = await cli<KeyAnswer>('keys', 'set', 'free-one', '--skills', 'reefs');
  expect(changed.capability_names.skills).toEqual(['reefs']);
  await ask(made.key, 'Again.', first.session);
  expect(instructionsAt(-1)).toContain('About tides');
  expect(await configOf(made.key, first.session)).toMatchObject({
    capability_config: { skill_ids: made.capability_config.skill_ids },
  });
  await ask(made.key, 'Anew.');
  expect(instructionsAt(-1)).toContain('About reefs');
  expect(instructionsAt(-1)).not.toContain('About tides');
});

test('a file that changes while a run is in progress affects the next run, not this one', async () => {
  write('experts/watch.md', expert('night watch'));
  await taken('experts', 'watch', 'Knows night watch');
  const { key } = await makeKey('--target', 'expert:watch');
  const before = models.requests.length;
  const changed = Promise.withResolvers<void>();
  const tools = [{ name: 'write_file', input: { path: 'log.txt', content: 'All well.' } }];
  models.enqueue({ tools, hang: 'before-headers', until: changed.promise }, { text: 'Done.' });
  const asked = ask(key, 'Keep watch.');
  await models.waitForRequest(before + 1);
  write('experts/watch.md', expert('day watch'));
  await taken('experts', 'watch', 'Knows day watch');
  // Still in its first model call: the change came into force in the middle of the run.
  expect(models.requests.length).toBe(before + 1);
  changed.resolve();
  const { status, session } = await asked;
  expect(status).toBe(200);
  expect(models.requests.length).toBe(before + 2);
  expect(instructionsAt(before)).toContain('You are the night watch.');
  expect(instructionsAt(before + 1)).toBe(instructionsAt(before));
  await ask(key, 'And now?', session);
  expect(instructionsAt(-1)).toContain('You are the day watch.');
});

test('a team is kept with its session: a changed file counts for new sessions only', {
  tags: ['§4.3-rule-8'],
}, async () => {
  const { key } = await makeKey('--target', 'team:crew');
  const first = await ask(key, 'Set sail.');
  const kept = instructionsAt(-1);
  expect(kept).toContain('You are the sailor.');
  expect(kept).toContain('A ship');
  expect(kept).toContain('cook: Knows cook');
  const config = await configOf(key, first.session);

  write('experts/mate.md', expert('mate'));
  write('expert-teams/crew.yaml', 'description: A raft\nlead: sailor\nmembers: [mate]\n');
  await taken('expert-teams', 'crew', 'A raft');
  const again = await ask(key, 'Go on.', first.session);
  expect(again.status).toBe(200);
  expect(instructionsAt(-1)).toBe(kept);
  expect(await configOf(key, first.session)).toEqual(config);
  await ask(key, 'Set sail again.');
  expect(instructionsAt(-1)).toContain('A raft');
  expect(instructionsAt(-1)).toContain('mate: Knows mate');

  rmSync(join(daemon.configDir, 'expert-teams/crew.yaml'));
  await taken('expert-teams', 'crew');
  expect((await ask(key, 'And on.', first.session)).status).toBe(200);
  expect(instructionsAt(-1)).toBe(kept);
  expect(await ask(key, 'A third time.')).toMatchObject({
    body: { error: { message: 'The expert team "crew" does not exist any more.' } },
  });
});

test('a missing expert fails the run with a clear message, and answers again once it is back', async () => {
  write('experts/ghost.md', expert('ghost'));
  await taken('experts', 'ghost', 'Knows ghost');
  const { key } = await makeKey('--target', 'expert:ghost');
  const { session } = await ask(key, 'Boo.');
  rmSync(join(daemon.configDir, 'experts/ghost.md'));
  await taken('experts', 'ghost');
  expect((await ask(key, 'Boo?', session)).body.error?.message).toBe('The expert "ghost" does not exist any more.');
  write('experts/ghost.md', expert('ghost'));
  await taken('experts', 'ghost', 'Knows ghost');
  expect((await ask(key, 'Boo!', session)).status).toBe(200);
});

test('an unreachable server is reported to the agent, and the run continues', async () => {
  const { key } = await makeKey('--mcp', 'quiet');
  expect((await ask(key, 'Hello.')).status).toBe(200);
  expect(instructionsAt(-1)).toContain('quiet');
});

test('a key names only what is there', async () => {
  for (const [options, words] of [
    [['--target', 'expert:nobody'], 'target: must name an expert ('],
    [['--target', 'crew'], 'target: must be free, expert:NAME or team:NAME'],
    [['--skills', 'tidse'], 'capability_config.skill_ids[0]: must be the id or name of one that is defined'],
    [['--connections', daemon.adminUserId], "connector_connection_ids[0]: must be a connection of the key's owner"],
  ] as const) {
    await expect(makeKey(...options)).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  }
});

test('ids stay with their names through a rename, a way back and a restart', { tags: ['J4'] }, async () => {
  const idOf = async (name: string) => {
    const { items } = await cli<Listed>('skills', 'list');
    return items.find((one) => one.name === name)?.id;
  };
  const [tides, reefs] = [await idOf('tides'), await idOf('reefs')];
  renameSync(join(daemon.configDir, 'skills/reefs'), join(daemon.configDir, 'skills/banks'));
  write('skills/banks/SKILL.md', skill('banks'));
  await taken('skills', 'banks', 'About banks');
  const banks = await idOf('banks');
  expect([tides, reefs]).not.toContain(banks);
  expect(await idOf('reefs')).toBeUndefined();
  await daemon.restart();
  write('skills/reefs/SKILL.md', skill('reefs'));
  await taken('skills', 'reefs', 'About reefs');
  expect([await idOf('tides'), await idOf('reefs'), await idOf('banks')]).toEqual([tides, reefs, banks]);
});

test('a broken file is reported by check and readiness, and the last valid state stays in effect', async () => {
  write('experts/cook.md', expert('cook', 'skils: []\n'));
  const place = 'experts/cook.md:3:1 skils: is not a known key (did you mean "skills"?)';
  await waitFor(async () => {
    const { parts } = (await (await fetch(`${daemon.url}/readyz`)).json()) as { parts: { detail: string | null }[] };
    return parts.some(({ detail }) => detail === place);
  });
  await expect(runErrand(['experts', 'check', '--data-dir', daemon.dataDir])).rejects.toMatchObject({
    code: 8,
    stdout: `${place}\n`,
  });
  await runErrand(['skills', 'check', '--data-dir', daemon.dataDir]);
  expect(await cli<object>('experts', 'show', 'cook')).toMatchObject({ instructions: 'You are the cook.' });
  write('experts/cook.md', expert('cook'));
  await runErrand(['experts', 'check', '--data-dir', daemon.dataDir]);
});
