// The passphrase of a master key in a backup: from a file, from stdin, or typed. Never an argument: others could read that.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { MIN_PASSPHRASE } from '../../../backups/wrapped-key.ts';
import { messageOf } from '../../../domain/errors.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { readSecret } from '../../frame/standard-input.ts';

/** Reads it; `-` is stdin. With `isNew`, a typed one is asked for twice. Throws `usage`. */
export async function readPassphrase(context: Context, file: string | undefined, isNew: boolean): Promise<string> {
  const passphrase = await readFrom(context, file, isNew);
  if (isNew && passphrase.length < MIN_PASSPHRASE)
    throw new CommandError('usage', `The passphrase must have at least ${MIN_PASSPHRASE} characters.`);
  return passphrase;
}

async function readFrom(context: Context, file: string | undefined, isNew: boolean): Promise<string> {
  if (file === '-' || (file === undefined && !context.io.terminal.stdin))
    return readSecret(context, '--passphrase-file -');
  if (file !== undefined) return readLine(file);
  const passphrase = await ask(context, 'Passphrase: ');
  if (isNew && (await ask(context, 'The same again: ')) !== passphrase)
    throw new CommandError('usage', 'The two passphrases differ.');
  return passphrase;
}

function readLine(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandError('usage', `--passphrase-file cannot be read: ${messageOf(error)}`);
  }
  if (text !== '' && !/[\r\n\0]/.test(text)) return text;
  throw new CommandError('usage', '--passphrase-file must have one line.');
}

/** Without an echo. */
async function ask({ io, signal }: Context, question: string): Promise<string> {
  io.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: silent, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new CommandError('interrupted', '')));
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  } finally {
    lines.close();
    io.stderr.write('\n');
  }
}
