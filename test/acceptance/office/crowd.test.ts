// Both official SDKs converse while a thousand administrators look on: every conversation comes to its right end, and every
// watcher sees each event once and in order.
import { readFileSync } from 'node:fs';
import { type ClientRequest, get } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { makeSseParser } from '../../support/http/sse.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const WATCHERS_OF_SESSION = 200;
const WATCHERS_OF_INSTALLATION = 200;
const AT_ONCE = 100;
const OFFICE = '/api/v1/office-mode';
const WORDS = Array.from({ length: 25 }, (_, at) => `word ${at}, `);
const ANSWER = WORDS.join('');

/** A process takes connections for half of the files that it can open; Node.js raises its limit to the hard one. */
const files = Number(/^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
const hasRoom = files >= 8_000;
if (!hasRoom) console.warn(`SKIPPED: a process can open ${files} files here, too few for a thousand watchers`);

let model: ModelServer;
let daemon: DaemonProcess;
const requests: ClientRequest[] = [];

beforeAll(async () => {
  if (!hasRoom) return;
  model = await startModelServer();
  model.script({ text: WORDS, deltaMs: 10 });
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml:
      'workers: { threads: 1, runs_per_thread: 8 }\nlimits: { connections: 4000, connections_per_address: 2000 }\n',
  });
});
afterAll(async () => {
  for (const request of requests) request.destroy();
  await daemon?.close();
  await model?.close();
});

interface Item {
  readonly id: number;
  readonly type: string;
  readonly session_id: string;
  readonly run_id: string | null;
  readonly stream_seq: number | null;
}

/** Watches until a number of runs are done. `opened` resolves with the first bytes, `done` with everything received. */
function watch(path: string, runs: number) {
  const seen: Item[] = [];
  const opened = Promise.withResolvers<void>();
  const done = Promise.withResolvers<readonly Item[]>();
  const fail = (error: Error) => {
    opened.reject(error);
    done.reject(error);
  };
  // Those that fail early are awaited late.
  done.promise.catch(() => undefined);
  const request = get(`${daemon.url}${path}`, {
    agent: false,
    headers: { authorization: `Bearer ${daemon.apiKey}` },
  });
  requests.push(request);
  request.once('error', fail).once('response', (response) => {
    if (response.statusCode !== 200) fail(new Error(`The stream was refused: ${response.statusCode}`));
    const { push } = makeSseParser();
    let left = runs;
    response.once('close', () => fail(new Error(`The stream ended after ${seen.length} events.`)));
    response.on('data', (bytes: Buffer) => {
      opened.resolve();
      for (const { event, data } of push(bytes)) {
        if (data === null) continue;
        seen.push(JSON.parse(data) as Item);
        if (event === 'run.done' && (left -= 1) === 0) done.resolve([...seen]);
      }
    });
  });
  return { opened: opened.promise, done: done.promise };
}

const ask = [{ role: 'user' as const, content: 'Tell it.' }];

/** A turn of each kind, by either SDK: returns the text, and how it ended. */
const TURNS = {
  openai: async (client: OpenAI, metadata: Record<string, string>, stream: boolean) => {
    const params = { model: 'gpt-x', messages: ask, metadata };
    if (!stream) {
      const { data, response } = await client.chat.completions.create(params).withResponse();
      const [choice] = data.choices;
      return { text: choice?.message.content, end: choice?.finish_reason, headers: response.headers };
    }
    const { data, response } = await client.chat.completions.create({ ...params, stream: true }).withResponse();
    let [text, end]: (string | undefined)[] = [''];
    for await (const { choices } of data) {
      text += choices[0]?.delta.content ?? '';
      end = choices[0]?.finish_reason ?? end;
    }
    return { text, end, headers: response.headers };
  },
  anthropic: async (client: Anthropic, metadata: Record<string, string>, stream: boolean) => {
    const params = { model: 'claude-x', max_tokens: 100, messages: ask, metadata };
    if (!stream) {
      const { data, response } = await client.messages.create(params).withResponse();
      const text = data.content.map((block) => (block.type === 'text' ? block.text : '?')).join('');
      return { text, end: data.stop_reason, headers: response.headers };
    }
    const { data, response } = await client.messages.stream(params).withResponse();
    const text = await data.finalText();
    return { text, end: (await data.finalMessage()).stop_reason, headers: response.headers };
  },
};

test.skipIf(!hasRoom)(
  'both SDKs converse to the right end while a thousand watchers see it all',
  { tags: ['§4.8-streams', '§4.8-refill', 'G22'] },
  async () => {
    const openai = new OpenAI({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
    const anthropic = new Anthropic({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
    type Turn = (
      metadata: Record<string, string>,
      stream: boolean,
    ) => ReturnType<(typeof TURNS)['anthropic' | 'openai']>;
    const byOpenai: Turn = (metadata, stream) => TURNS.openai(openai, metadata, stream);
    const byAnthropic: Turn = (metadata, stream) => TURNS.anthropic(anthropic, metadata, stream);
    const talks = [byOpenai, byOpenai, byAnthropic, byAnthropic];

    const sessions = await Promise.all(
      talks.map(async (turn) => (await turn({}, true)).headers.get('x-session-id') ?? 'none'),
    );
    const eventsOf = async (session: string) => {
      const page = await daemon.admin('GET', `${OFFICE}/sessions/${session}/stream-events`);
      return (page as { readonly items: readonly Item[] }).items;
    };
    const turns = 2;
    const paths = sessions.flatMap((id) => Array<string>(WATCHERS_OF_SESSION).fill(`${OFFICE}/sessions/${id}/stream`));
    const locations = [
      ...paths.map((path) => ({ path, runs: turns })),
      ...Array.from({ length: WATCHERS_OF_INSTALLATION }, () => ({
        path: `${OFFICE}/stream`,
        runs: turns * talks.length,
      })),
    ];
    const watchers: ReturnType<typeof watch>[] = [];
    for (let from = 0; from < locations.length; from += AT_ONCE) {
      const some = locations.slice(from, from + AT_ONCE).map(({ path, runs }) => watch(path, runs));
      await Promise.all(some.map(({ opened }) => opened));
      watchers.push(...some);
    }
    expect(watchers).toHaveLength(1_000);

    const said = await Promise.all(
      talks.map(async (turn, at) => {
        const metadata = { session_id: sessions[at]! };
        return [await turn(metadata, at % 2 === 0), await turn(metadata, at % 2 === 1)];
      }),
    );
    for (const [at, ended] of said.entries()) {
      const end = at < 2 ? 'stop' : 'end_turn';
      expect(ended).toMatchObject([
        { text: ANSWER, end },
        { text: ANSWER, end },
      ]);
    }
    const runIds = said.map((ended) => ended.map(({ headers }) => headers.get('x-run-id')));

    const watched = await Promise.all(watchers.map(({ done }) => done));
    const ofTurns = (items: readonly Item[], runs: readonly (string | null)[]) =>
      items.filter((item) => runs.includes(item.run_id) && item.stream_seq !== null);
    const everything: Item[] = [];
    for (const [at, session] of sessions.entries()) {
      const all = ofTurns(await eventsOf(session), runIds[at]!);
      everything.push(...all);
      for (const run of runIds[at]!) {
        const sequence = all.filter(({ run_id: id }) => id === run).map(({ stream_seq: seq }) => seq);
        expect(sequence).toEqual(sequence.map((_, index) => index + 1));
        expect(sequence.length).toBeGreaterThan(5);
      }
      for (const seen of watched.slice(at * WATCHERS_OF_SESSION, (at + 1) * WATCHERS_OF_SESSION))
        expect(ofTurns(seen, runIds[at]!)).toEqual(all);
    }
    // The feed of the installation has the same but for their words, of which it has the last ones now and then.
    const ofSystem = everything.filter(({ type }) => !type.startsWith('content_block_')).sort((a, b) => a.id - b.id);
    for (const seen of watched.slice(sessions.length * WATCHERS_OF_SESSION))
      expect(ofTurns(seen, runIds.flat()).filter(({ type }) => type !== 'run.words')).toEqual(ofSystem);
  },
);
