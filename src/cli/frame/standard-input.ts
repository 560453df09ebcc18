// Reads from standard input: a confirmation, a password, or a whole text.
import { addAbortSignal } from 'node:stream';
import { createInterface } from 'node:readline';
import { MB } from '../../domain/byte-units.ts';
import type { Context } from './context.ts';
import { CommandError } from './exit-codes.ts';
import { safeLine } from '../../terminal/text.ts';

const MAX_SECRET_BYTES = 8192;
const MAX_TEXT_BYTES = 16 * MB;

/**
 * Asks before something that cannot be undone, unless `--yes` is given. Anything except `y` or `yes` ends the command.
 * Throws `usage` without a terminal, `failure` on a no.
 */
export async function confirm(context: Context, question: () => Promise<string>): Promise<void> {
  const { io, yes, signal } = context;
  if (yes) return;
  if (!io.terminal.stdin || !io.terminal.stderr) {
    throw new CommandError('usage', 'There is no terminal for the confirmation. Add --yes to skip it.');
  }
  io.stderr.write(`${safeLine(await question())} [y/N] `);
  const lines = createInterface({ input: io.stdin, terminal: false });
  const answer = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  }).finally(() => lines.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('failure', 'Nothing was changed.');
}

/** Reads a secret: all of stdin without its last line end. Throws `usage` when it is empty, too long, or has several lines. */
export async function readSecret(context: Context, flag: string): Promise<string> {
  if (context.io.terminal.stdin) context.out.hint('Type it, then press Enter and Ctrl-D.');
  const secret = (await readAll(context, MAX_SECRET_BYTES)).replace(/\r?\n$/, '');
  if (secret === '' || /[\r\n\0]/.test(secret)) {
    throw new CommandError('usage', `${flag} requires one line on standard input.`);
  }
  return secret;
}

/** Reads all of stdin as the text of a message. Throws `usage` when it is blank. */
export async function readMessageText(context: Context): Promise<string> {
  if (context.io.terminal.stdin) context.out.hint('Type the message, then press Ctrl-D on an empty line.');
  const text = await readAll(context, MAX_TEXT_BYTES);
  if (text.trim() === '') throw new CommandError('usage', 'There is no text on standard input.');
  return text;
}

async function readAll(context: Context, maxBytes: number): Promise<string> {
  const bytes = await readBytes(context, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CommandError('usage', 'Standard input is not UTF-8 text.');
  }
}

/** Reads all of stdin, byte for byte. Throws `usage` when there is more than the limit. */
export async function readBytes({ io, signal }: Context, maxBytes: number = MAX_TEXT_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of addAbortSignal(signal, io.stdin) as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk as Buffer);
    size += bytes.length;
    if (size > maxBytes) throw new CommandError('usage', `Standard input has more than ${maxBytes} bytes.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
