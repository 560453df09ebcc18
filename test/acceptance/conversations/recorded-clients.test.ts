// Requests that coding CLIs really sent for three turns of a conversation, sent again. `recorded/` has them as they were but for the words of
// instructions, reminders and tools.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const RECORDED = join(import.meta.dirname, '../../support/http/recorded');

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon?.close();
  await model?.close();
});

/** One request, as its client sent it. */
interface Recorded {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it is a turn of the conversation; else it is one beside it, such as for its title. */
  readonly isTurn: boolean;
  readonly body: object;
}

const TURNS = ['first-words', 'second-words', 'third-words'];

/** Sends all that a client sent, one after another, with a key whose sessions are found so. */
async function resend(client: string, continueBy: string) {
  const { key } = (await daemon.admin('POST', '/api/v1/keys', {
    user: daemon.adminName,
    scope: 'conversation',
    continue_by: continueBy,
  })) as { key: string };
  const recorded = readFileSync(join(RECORDED, `${client}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  const replies: { readonly isTurn: boolean; readonly session: string }[] = [];
  for (const line of recorded) {
    const request = JSON.parse(line) as Recorded;
    const reply = await fetch(daemon.url + request.path, {
      method: 'POST',
      headers: { ...request.headers, 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(request.body),
    });
    await reply.text();
    replies.push({ isTurn: request.isTurn, session: reply.headers.get('x-session-id')! });
  }
  return replies;
}

test.each([
  ['claude-code', 'header:x-claude-code-session-id', 6],
  ['claude-code', 'history', 6],
  ['claude-code-print', 'history', 0],
  ['cline', 'history', 0],
  ['codex', 'header:session-id', 0],
  ['codex', 'history', 0],
  ['continue', 'history', 0],
  ['opencode', 'header:x-session-affinity', 1],
  ['opencode', 'history', 1],
  ['qwen-code', 'history', 3],
])(
  'three turns of %s are one session with --continue-by %s, and what it asks beside them is none of it',
  {
    tags: ['M1-history', 'M1-name', 'M1-aside'],
  },
  async (client, continueBy, besides) => {
    const replies = await resend(client, continueBy);
    const turns = replies.filter((reply) => reply.isTurn).map(({ session }) => session);
    expect(turns).toHaveLength(3);
    expect(new Set(turns).size).toBe(1);
    // codex says each time that nothing is to be stored.
    expect(rowsOf(daemon, `SELECT throw_away FROM sessions WHERE id = '${turns[0]}'`)).toEqual([{ throw_away: 0 }]);
    const others = replies.filter((reply) => !reply.isTurn).map(({ session }) => session);
    expect(others).toHaveLength(besides);
    for (const session of others) {
      expect(session).not.toBe(turns[0]);
      expect(rowsOf(daemon, `SELECT throw_away FROM sessions WHERE id = '${session}'`)).toEqual([{ throw_away: 1 }]);
    }
    const asked = model.requests.map(({ body }) => JSON.stringify(body.messages));
    const last = asked.findLast((messages) => TURNS.every((words) => messages.includes(words)))!;
    // Once each: of what the client resends, nothing is read again.
    for (const words of TURNS) expect(last.split(words)).toHaveLength(2);
  },
);
