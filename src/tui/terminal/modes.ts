// Modes of the terminal that Ink doesn't set, and how each is left again whatever happens.
import process from 'node:process';
import type { WriteStream } from 'node:tty';

/** Reports of the wheel, in the form that knows wide screens. */
const MOUSE_ON = '\u001b[?1000h\u001b[?1006h';
const MOUSE_OFF = '\u001b[?1006l\u001b[?1000l';
const ASK_BACKGROUND = '\u001b]11;?\u0007';

/** Turns the mouse's reports on; the returned function turns them off, and so does the end of the process. */
export function enableMouse(stdout: WriteStream): () => void {
  const off = () => void stdout.write(MOUSE_OFF);
  process.once('exit', off);
  stdout.write(MOUSE_ON);
  return () => {
    process.off('exit', off);
    off();
  };
}

/** Asks the terminal for its background; the reply comes as input, if at all. */
export function askBackground(stdout: WriteStream): void {
  stdout.write(ASK_BACKGROUND);
}

/** Puts text on the clipboard of the terminal's user, also over ssh (OSC 52). Within tmux it takes `set-clipboard on`. */
export function copyToClipboard(stdout: WriteStream, text: string): void {
  stdout.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
}
