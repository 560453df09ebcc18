// The task of a worker thread: runs of agents, each from its brief to `done`.
import { setFlagsFromString } from 'node:v8';
import { messageOf } from '../domain/errors.ts';
import { takeWays } from '../outbound/ways/ways.ts';
import { makeArgumentCheck } from './loop/argument-check.ts';
import { RETRY_POLICY } from './models/retries.ts';
import { runLoop } from './loop/loop.ts';
import { PACKS } from './packs/all-packs.ts';
import { openWorkspace } from './loop/run-workspace.ts';
import { openOutbox } from './port/outbox.ts';
import type { Brief, ThreadTask } from './port/protocol.ts';
import { type Channel, openChannel, type Stop } from './port/signals.ts';
import { serveRuns } from './port/serve-runs.ts';

// Search patterns come from the model: one that backtracks excessively falls back to a linear engine.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
// At rest, V8 would forget the shapes of objects that only requests have, and compiled code with them: of the whole process, once there is
// any. Node.js 22 doesn't know the option.
if (Number.parseInt(process.versions.v8, 10) >= 13) setFlagsFromString('--no-memory-reducer-favors-memory');
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

/** Reasons for an abort that wait until the run is at rest. A drain has no time for that. */
const STOPS: ReadonlySet<string> = new Set(['stop', 'fenced', 'unacknowledged']);

const reasonOf = (stopped: Stop | null) => (stopped?.kind === 'canceled' ? stopped.reason : '');

const argumentFaults = makeArgumentCheck();

/** Executes the runs that come on the port, until it is closed. */
export default function serve({ port, taken, budgets, windowMs }: ThreadTask): Promise<void> {
  return serveRuns(port, openOutbox(port, { taken, windowMs }), ({ brief, waiting }, share) => {
    void carryOut(brief, openChannel(share, { waiting, budgets }));
  });
}

/** Runs a turn and reports it on the channel. Never rejects: `done` is the last signal. */
async function carryOut(brief: Brief, channel: Channel): Promise<void> {
  takeWays(brief.ways);
  const workspace = openWorkspace(brief, async () => {
    await channel.commit({ t: 'changes-workspace' });
  });
  try {
    const run = { brief, channel, workspace, packs: PACKS, retryPolicy: RETRY_POLICY, argumentFaults };
    const outcome = await runLoop(run);
    // The reply to a stop promises that nothing of the run is active in its workspace.
    if (outcome.status === 'canceled' && STOPS.has(reasonOf(channel.stopped()))) await workspace.atRest();
    channel.finish(outcome, workspace.isUntouched());
  } catch (error) {
    channel.send({
      t: 'log',
      level: 'warn',
      message: 'The agent failed unexpectedly.',
      facts: { error: messageOf(error), stack: (error instanceof Error && error.stack) || '' },
    });
    const message = 'The agent failed unexpectedly.';
    channel.finish({ status: 'failed', error: { type: 'api_error', message, retryable: false } }, false);
  }
}
