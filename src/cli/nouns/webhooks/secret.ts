// Secrets that sign deliveries: from a file, or made here. Never from the command line, which other users can read.
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '../../../domain/errors.ts';
import { WEBHOOK_LIMITS } from '../../../domain/webhooks/webhook.ts';
import { notEmpty } from '../../frame/arguments.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { flag, type Given, option } from '../../frame/options.ts';
import type { Output } from '../../frame/output.ts';

/** An existing secret, or one that is made here. */
export const SECRET = {
  secretFile: option('--secret-file <file>', 'sign with the secret in this file', notEmpty),
  generateSecret: flag('--generate-secret', 'generate the secret, and show it once'),
};

/** The secret of a webhook, to print the signatures. */
export const TO_SIGN = {
  secretFile: option('--secret-file <file>', 'the secret of the webhook, to print the signatures', notEmpty),
};

/** A secret, and whether it was made here and so must be shown. */
export interface GivenSecret {
  readonly secret: string;
  readonly isNew: boolean;
}

const KEY_BYTES = 32;

/** The secret that the options name, if they do. Throws `usage` for both, and for an unreadable file. */
export async function secretOf({ secretFile, generateSecret }: Given<typeof SECRET>): Promise<GivenSecret | undefined> {
  if (secretFile !== undefined && generateSecret === true)
    throw new CommandError('usage', 'Give either --secret-file or --generate-secret.');
  if (secretFile !== undefined) return { secret: await readSecretFile(secretFile), isNew: false };
  return generateSecret ? { secret: generateSecretText(), isNew: true } : undefined;
}

/** In the form of the Standard Webhooks specification, which its libraries take as it is. */
function generateSecretText(): string {
  return `whsec_${randomBytes(KEY_BYTES).toString('base64')}`;
}

/** The one line of a file. Throws `usage`. */
export async function readSecretFile(file: string): Promise<string> {
  const unreadable = (error: unknown) => {
    throw new CommandError('usage', `--secret-file cannot be read: ${messageOf(error)}`);
  };
  const { size } = await stat(file).catch(unreadable);
  const { from, to } = WEBHOOK_LIMITS.secretBytes;
  const text = size > 2 * to ? '' : (await readFile(file, 'utf8').catch(unreadable)).replace(/\r?\n$/, '');
  const bytes = Buffer.byteLength(text);
  if (bytes >= from && bytes <= to && !/[\r\n\0]/.test(text)) return text;
  throw new CommandError('usage', `--secret-file must contain one line of ${from} to ${to} bytes.`);
}

/** What a new secret means to its user. */
export function hintAtNewSecret(out: Output): void {
  out.hint('The secret is shown only now. Give it to the receiver, which verifies signatures with it.');
}
