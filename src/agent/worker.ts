// The task of a worker thread: one run of an agent, from its brief to `done`.
import { setFlagsFromString } from 'node:v8';
import { messageOf } from '../domain/errors.ts';
import { RETRY_POLICY } from './ask-model.ts';
import { runLoop } from './loop.ts';
import type { WorkerTask } from './protocol.ts';
import { openChannel } from './signals.ts';
import { TOOLS } from './tools/all-tools.ts';

// Patterns of schemas come from outside: one that backtracks for ever falls back to a linear engine.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

/** Runs a turn and reports it on the port. Never rejects: `done` is the last signal, and then the port closes. */
export default async function run({ brief, port }: WorkerTask): Promise<void> {
  const channel = openChannel(port);
  try {
    channel.finish(await runLoop({ brief, channel, tools: TOOLS, retryPolicy: RETRY_POLICY }));
  } catch (error) {
    channel.send({
      t: 'log',
      level: 'warn',
      message: 'The agent failed unexpectedly.',
      facts: { error: messageOf(error), stack: (error instanceof Error && error.stack) || '' },
    });
    const message = 'The agent failed unexpectedly.';
    channel.finish({ status: 'failed', error: { type: 'api_error', message, retryable: false } });
  }
}
