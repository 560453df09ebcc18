// What comes from the terminal: its keys go on to Ink; reports of the mouse and replies to questions are taken out.
import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';

export interface MouseWheel {
  /** Calls the listener at each turn until the returned function is called. */
  readonly listen: (listener: (direction: 'up' | 'down') => void) => () => void;
}

export interface TerminalInput {
  /** What Ink reads. */
  readonly keys: ReadStream;
  readonly wheel: MouseWheel;
  /** The next reply to an OSC question; undefined when none comes in time. */
  readonly reply: (timeoutMs: number) => Promise<string | undefined>;
  readonly close: () => void;
}

/** A report of the mouse, a reply to an OSC question, or the beginning of one at the end of what has come. */
// oxlint-disable-next-line no-control-regex
const REPORT = /\u001b\[<(\d+);\d+;\d+[Mm]|\u001b(\][^\u0007\u001b]*)(?:\u0007|\u001b\\)/g;
// oxlint-disable-next-line no-control-regex
const CUT_OFF = /\u001b(?:\[<[\d;]*|\][^\u0007\u001b]*\u001b?)$/;
/** A beginning that is never completed. */
const MAX_HELD = 256;

const WHEEL = new Map<number, 'up' | 'down'>([
  [64, 'up'],
  [65, 'down'],
]);

/** Reads the terminal from now on. */
export function openInput(stdin: ReadStream): TerminalInput {
  const turns = new Set<(direction: 'up' | 'down') => void>();
  const replies = new Set<(reply: string) => void>();
  const keys = keyStream(stdin);
  let held = '';

  const onData = (chunk: Buffer | string) => {
    const all = held + chunk.toString();
    const rest = all.replace(REPORT, (_report, button: string | undefined, reply: string | undefined) => {
      // Modifiers are bits above the button.
      const direction = button === undefined ? undefined : WHEEL.get(Number(button) & ~28);
      if (direction !== undefined) turns.forEach((listener) => listener(direction));
      if (reply !== undefined) replies.forEach((listener) => listener(reply));
      return '';
    });
    const cut = CUT_OFF.exec(rest)?.index ?? rest.length;
    held = rest.length - cut > MAX_HELD ? '' : rest.slice(cut);
    if (cut > 0) keys.write(rest.slice(0, cut));
  };
  stdin.setEncoding('utf8');
  stdin.on('data', onData);
  // It may have been closed before.
  stdin.resume();

  return {
    keys,
    wheel: {
      listen(listener) {
        turns.add(listener);
        return () => void turns.delete(listener);
      },
    },
    reply: (timeoutMs) =>
      new Promise((resolve) => {
        const done = (reply: string | undefined) => {
          clearTimeout(timer);
          replies.delete(done);
          resolve(reply);
        };
        const timer = setTimeout(done, timeoutMs, undefined);
        replies.add(done);
      }),
    close() {
      stdin.off('data', onData);
      stdin.pause();
    },
  };
}

/** A stream that passes for a terminal: modes are set on the real one. */
function keyStream(stdin: ReadStream): ReadStream {
  const keys = new PassThrough();
  const terminal = {
    isTTY: true,
    setRawMode: (mode: boolean) => {
      stdin.setRawMode(mode);
      return keys;
    },
    ref: () => {
      stdin.ref();
      return keys;
    },
    unref: () => {
      stdin.unref();
      return keys;
    },
  };
  return Object.assign(keys, terminal) as unknown as ReadStream;
}
