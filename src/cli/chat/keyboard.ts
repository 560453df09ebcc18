// Keys of the terminal, one at a time. Pasted text is one stroke (bracketed paste).
import { emitKeypressEvents, type Key } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { safeText } from '../../terminal/text.ts';

/** A key with a name such as `C-c` or `up`, or text to insert. */
export type Stroke = { readonly key: string } | { readonly text: string };

export interface Keyboard {
  /** The next stroke; null when the terminal is gone. Throws the signal's reason. */
  read(signal: AbortSignal): Promise<Stroke | null>;
  /** Calls the listener at each Ctrl-C without a reader, until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
  /** Keeps what was typed without a reader, until the returned function is called: it was not meant for the next reader. */
  setAside(): () => void;
  /** Gives the terminal back as it was. */
  close(): void;
}

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
/** Keystrokes kept without a reader. */
const MAX_AHEAD = 10_000;

/** Other names of keys. */
const NAMES: Readonly<Record<string, string>> = {
  enter: 'C-j',
  'M-return': 'C-j',
  'M-enter': 'C-j',
  'C-a': 'home',
  'C-e': 'end',
  'C-b': 'left',
  'C-f': 'right',
  'C-p': 'up',
  'C-n': 'down',
  'M-b': 'C-left',
  'M-f': 'C-right',
  'M-left': 'C-left',
  'M-right': 'C-right',
  'M-backspace': 'C-w',
};

type Input = Readable & { setRawMode?: (raw: boolean) => unknown };

/** Takes the terminal: keys arrive one by one, Ctrl-C among them instead of as SIGINT. */
export function openKeyboard(stdin: Input, stdout: Writable): Keyboard {
  const ahead: Stroke[] = [];
  const interrupted = new Set<() => void>();
  let reader: ((stroke: Stroke | null) => void) | undefined;
  let isGone = false;

  const give = (stroke: Stroke) => {
    if (reader !== undefined) reader(stroke);
    else if ('key' in stroke && stroke.key === 'C-c' && interrupted.size > 0) {
      ahead.length = 0;
      interrupted.forEach((listener) => listener());
    } else if (ahead.length < MAX_AHEAD) ahead.push(stroke);
  };
  const onKeypress = makeDecoder(give);
  const onEnd = () => {
    isGone = true;
    reader?.(null);
  };

  emitKeypressEvents(stdin);
  stdin.setRawMode?.(true);
  stdin.on('keypress', onKeypress).on('end', onEnd).on('close', onEnd).resume();
  stdout.write(PASTE_ON);
  return {
    read: (signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const next = ahead.shift() ?? (isGone ? null : undefined);
        if (next !== undefined) return resolve(next);
        const onAbort = () => {
          reader = undefined;
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        reader = (stroke) => {
          reader = undefined;
          signal.removeEventListener('abort', onAbort);
          resolve(stroke);
        };
      }),
    onInterrupt(listener) {
      interrupted.add(listener);
      return () => void interrupted.delete(listener);
    },
    setAside() {
      const strokes = ahead.splice(0);
      return () => void ahead.unshift(...strokes);
    },
    close() {
      stdin.off('keypress', onKeypress).off('end', onEnd).off('close', onEnd).pause();
      stdin.setRawMode?.(false);
      stdout.write(PASTE_OFF);
    },
  };
}

/** Makes strokes of Node's keypress events; all between the marks of a paste are one. */
function makeDecoder(give: (stroke: Stroke) => void): (text: string | undefined, key: Key) => void {
  let pasted: string[] | undefined;
  return (text, key) => {
    if (key.name === 'paste-start') pasted = [];
    else if (key.name === 'paste-end') {
      if (pasted !== undefined) give({ text: safeText(pasted.join('').replace(/\r\n?/g, '\n')) });
      pasted = undefined;
    } else if (pasted !== undefined) pasted.push(text ?? '');
    else {
      const stroke = strokeOf(text, key);
      if (stroke !== undefined) give(stroke);
    }
  };
}

function strokeOf(text: string | undefined, { name, ctrl, meta }: Key): Stroke | undefined {
  // oxlint-disable-next-line no-control-regex
  const isText = text !== undefined && ctrl !== true && meta !== true && !/^[\u0000-\u001f\u007f]/.test(text);
  if (isText) return { text: safeText(text) };
  if (name === undefined) return undefined;
  const full = `${ctrl === true ? 'C-' : ''}${meta === true ? 'M-' : ''}${name}`;
  return { key: NAMES[full] ?? full };
}
