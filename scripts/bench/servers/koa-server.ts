// What keeping a turn costs at the least: a Koa handler that writes the message to SQLite, calls the model, and writes its
// reply, each in a synced commit. Without queue, agent, accounts or journal. `node koa-server.ts MODEL_SERVER_URL FOLDER` prints one
// JSON line {"url","pid"} when it is ready.
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { PassThrough } from 'node:stream';
import Database from 'better-sqlite3';
import Koa from 'koa';
import { Pool } from 'undici';

interface ChatRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly content: string }[];
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

const database = new Database(join(process.argv[3] ?? '.', 'koa.db'));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec(`CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
  CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions (id), role TEXT NOT NULL,
    content TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
  CREATE INDEX messages_by_session ON messages (session_id, id);`);
const addSession = database.prepare('INSERT INTO sessions VALUES (?, ?, ?)');
const addMessage = database.prepare('INSERT INTO messages (session_id, role, content, created_at) VALUES (?, ?, ?, ?)');
const openTurn = database.transaction((sessionId: string, content: string) => {
  addSession.run(sessionId, content.slice(0, 80), Date.now());
  addMessage.run(sessionId, 'user', content, Date.now());
});

const models = new Pool(new URL(process.argv[2] ?? '').origin, { connections: 256 });
const app = new Koa();

app.use(async (context) => {
  const request = JSON.parse(await readAll(context.req)) as ChatRequest;
  const sessionId = randomUUID();
  openTurn(sessionId, request.messages.at(-1)?.content ?? '');
  const envelope = { id: sessionId, created: Math.floor(Date.now() / 1000), model: request.model };
  const body = JSON.stringify({ model: 'scripted', stream: true, messages: request.messages });
  const headers = { 'content-type': 'application/json' };
  const reply = await models.request({ path: '/v1/chat/completions', method: 'POST', headers, body });
  const keep = (text: string) => addMessage.run(sessionId, 'assistant', text, Date.now());
  if (request.stream !== true) {
    let content = '';
    for await (const delta of deltasOf(reply.body)) content += delta;
    keep(content);
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    context.body = { ...envelope, object: 'chat.completion', choices };
    return;
  }
  const out = new PassThrough();
  context.type = 'text/event-stream';
  context.body = out;
  const send = (delta: object, finishReason: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: finishReason }];
    out.write(`data: ${JSON.stringify({ ...envelope, object: 'chat.completion.chunk', choices })}\n\n`);
  };
  const pass = async (): Promise<void> => {
    let content = '';
    for await (const delta of deltasOf(reply.body)) {
      content += delta;
      send({ content: delta }, null);
    }
    keep(content);
    send({}, 'stop');
    out.end('data: [DONE]\n\n');
  };
  pass().catch((error: unknown) => out.destroy(error instanceof Error ? error : new Error(String(error))));
});

async function* deltasOf(reply: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of reply) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const delta = (JSON.parse(line.slice(6)) as Chunk).choices[0]?.delta.content;
      if (delta) yield delta;
    }
  }
}

const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: process.pid })}\n`);
});
server.keepAliveTimeout = 60_000;
