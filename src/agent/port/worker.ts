// The task of a worker thread: one run of an agent, from its brief to `done`.
import { setFlagsFromString } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../domain/errors.ts';
import { makeArgumentCheck } from '../loop/argument-check.ts';
import { RETRY_POLICY } from '../models/retries.ts';
import { runLoop } from '../loop/loop.ts';
import { PACKS } from '../packs/all-packs.ts';
import { openWorkspace } from '../loop/run-workspace.ts';
import { openMail } from './mail.ts';
import type { WorkerTask } from './protocol.ts';
import { openChannel, type Stop } from './signals.ts';

// Search patterns come from the model: one that backtracks excessively falls back to a linear engine.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

/** Reasons for an abort that wait until the run is at rest. A drain has no time for that. */
const STOPS: ReadonlySet<string> = new Set(['stop', 'fenced', 'port']);

const reasonOf = (stopped: Stop | null) => (stopped?.kind === 'canceled' ? stopped.reason : '');

const argumentFaults = makeArgumentCheck();
const mail = openMail(parentPort!);

/** Runs a turn and reports it on the port. Never rejects: `done` is the last signal, then the port closes. */
export default async function run({ brief, port, line, waiting, budgets }: WorkerTask): Promise<void> {
  const channel = openChannel(port, { waiting, budgets, mail, line });
  const workspace = openWorkspace(brief, (paths) => channel.commit({ t: 'touches-anything', paths }));
  try {
    const run = { brief, channel, workspace, packs: PACKS, retryPolicy: RETRY_POLICY, argumentFaults };
    const outcome = await runLoop(run);
    // The reply to a stop promises that nothing of the run is active in its workspace.
    if (outcome.status === 'canceled' && STOPS.has(reasonOf(channel.stopped()))) await workspace.atRest();
    channel.finish(outcome, workspace.touched());
  } catch (error) {
    channel.send({
      t: 'log',
      level: 'warn',
      message: 'The agent failed unexpectedly.',
      facts: { error: messageOf(error), stack: (error instanceof Error && error.stack) || '' },
    });
    const message = 'The agent failed unexpectedly.';
    channel.finish({ status: 'failed', error: { type: 'api_error', message, retryable: false } }, 'anything');
  }
}

/** The task of a thread that is wanted soon: it has started. */
export function started(): void {}
