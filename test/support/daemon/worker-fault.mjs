// Preloaded into a daemon (`NODE_OPTIONS=--import`) so that a test can make one of its worker threads die as it likes.
//
// Every thread that carries runs looks for files in `$TEST_WORKER_FAULTS`. The first to find one takes it by removing it, and
// then does to itself what the file's name says; other threads, and the main thread, go on.
import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, MessagePort } from 'node:worker_threads';

const LOOK_EVERY_MS = 10;

/** The signals of a message on the port of a thread. */
const signalsOf = (message) => (Array.isArray(message) ? message.flatMap(({ signals }) => signals ?? []) : []);

const FAULTS = {
  /** An error that nobody catches. */
  throw: () => {
    throw new Error('A fault was asked for.');
  },
  /** The thread ends without a word. */
  exit: () => process.exit(7),
  /** The thread's heap grows until its limit ends it. */
  allocate: () => {
    const block = Array.from({ length: 1_000_000 }).fill(0.5);
    const kept = [];
    for (;;) kept.push(block.slice());
  },
  /** The next reply that a run has to record can be sent, and not be read. */
  garble: () => {
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = function (message, ...rest) {
      if (!signalsOf(message).some(({ t }) => t === 'step')) return postMessage.call(this, message, ...rest);
      MessagePort.prototype.postMessage = postMessage;
      return postMessage.call(this, JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)), ...rest);
    };
  },
  /** The thread never turns its event loop again. */
  loop: () => {
    for (;;);
  },
};

/** A run that says this ends its thread, each time. */
const POISON = 'arsenic';

function dieOfPoison() {
  const { postMessage } = MessagePort.prototype;
  MessagePort.prototype.postMessage = function (message, ...rest) {
    if (signalsOf(message).some(({ text }) => text?.includes(POISON))) process.exit(9);
    return postMessage.call(this, message, ...rest);
  };
}

function look(directory) {
  for (const name of readdirSync(directory)) {
    const fault = FAULTS[name];
    if (fault === undefined || !take(join(directory, name))) continue;
    fault();
  }
}

/** Removes a file; false when another thread was faster. */
function take(path) {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

const { TEST_WORKER_FAULTS: directory } = process.env;
/** Threads of the pool, which carry runs. Those that read files or check things have no run to lose. */
const carriesRuns = !isMainThread && /[/\\]pool-worker\.cjs$/.test(process.argv[1] ?? '');
if (carriesRuns && directory !== undefined) {
  setInterval(() => look(directory), LOOK_EVERY_MS).unref();
  dieOfPoison();
}
