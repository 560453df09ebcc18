// `errand webhooks verify`: whether a delivery that a receiver got is what a secret signed.
import type { Command } from 'commander';
import { type Check, verify } from '../../../webhooks/verify.ts';
import { notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { type Given, option, perform, required } from '../../frame/options.ts';
import { type Column, field } from '../../../terminal/columns.ts';
import { readBytes } from '../../frame/standard-input.ts';
import { readSecretFile } from './secret.ts';

const VERIFY = {
  secretFile: required(option('--secret-file <file>', 'the secret of the webhook', notEmpty)),
  timestamp: required(option('--timestamp <text>', 'X-Service-Timestamp, or webhook-timestamp', notEmpty)),
  signature: required(
    option('--signature <text>', 'X-Service-Signature (sha256=…), or webhook-signature (v1,…)', notEmpty),
  ),
  id: option('--id <text>', 'webhook-id, which webhook-signature signs too', notEmpty),
};

/** Adds the verb. */
export function addVerify(webhooks: Command, io: Io): void {
  perform(webhooks.command('verify'), io, VERIFY, verifyBody)
    .description('Verify the signature of the body on standard input. Exits with 8 and says what does not fit.')
    .addHelpText('after', VERIFY_HELP);
}

const VERIFY_HELP = `
Examples:
  errand webhooks verify --secret-file secret.txt --timestamp "$TIMESTAMP" --signature "$SIGNATURE" < body.json
  errand deliveries show 41 --body | errand webhooks verify --secret-file secret.txt \\
    --id "$ID" --timestamp 1772366400 --signature "v1,…"`;

const CHECKS: readonly Column<Check>[] = [
  field('part', 9),
  { name: 'ok', value: ({ ok }) => ok, style: ({ ok }) => (ok ? 'green' : 'red'), worth: 9 },
  { ...field('detail', 8), wraps: true },
];

async function verifyBody(context: Context, options: Given<typeof VERIFY>): Promise<void> {
  const { out, io } = context;
  const { timestamp, signature, id = null } = options;
  const secret = await readSecretFile(options.secretFile);
  const body = await readBytes(context);
  const checks = verify({ body, timestamp, signature, id, secret }, io.now());
  const wrong = checks.filter(({ ok }) => !ok);
  out.list(checks, CHECKS, { ok: wrong.length === 0, checks });
  if (wrong.length === 0) return;
  const words = wrong.map(({ part }) => part).join(', ');
  throw new CommandError('checkFailed', out.format === 'json' ? '' : `What does not fit: ${words}.`);
}
