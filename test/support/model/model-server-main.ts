// Runs the scripted model server as its own process, driven by directives in the requests alone. `node model-server-main.ts
// [--port N] [--delta-ms N] [--first-ms N] [--until-eof]` prints one JSON line {"url","pid"} when it is ready. With
// --until-eof it ends when its standard input does, so that it never outlives its parent.
import { parseArgs } from 'node:util';
import { replyFromDirectives } from './model-reply.ts';
import { startModelServer } from './model-server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'delta-ms': { type: 'string', default: '0' },
    'first-ms': { type: 'string', default: '0' },
    'until-eof': { type: 'boolean', default: false },
  },
});

const server = await startModelServer({ port: Number(values.port), record: false });
const pace = { deltaMs: Number(values['delta-ms']), firstMs: Number(values['first-ms']) };
server.script((question) => ({ ...pace, ...replyFromDirectives(question) }));

const end = (): void => void server.close().then(() => process.exit(0));
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
if (values['until-eof']) process.stdin.on('end', end).resume();
process.stdout.write(`${JSON.stringify({ url: server.url, pid: process.pid })}\n`);
