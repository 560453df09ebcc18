// `errand tokens`: the keys that login tokens are signed with, and the end of all tokens.
import type { Command } from 'commander';
import type { SigningKeyWire } from '../../client/wire/management-wire.ts';
import { act, type Context } from '../frame/context.ts';
import type { Io } from '../frame/io.ts';
import { type Column, field } from '../terminal/output.ts';
import { confirm } from '../terminal/standard-input.ts';
import type { Style } from '../terminal/terminal-text.ts';

const STATE_STYLES: Readonly<Record<SigningKeyWire['state'], Style | undefined>> = {
  signing: 'green',
  verifying: undefined,
  revoked: 'red',
};

const COLUMNS: readonly Column<SigningKeyWire>[] = [
  field('id'),
  { name: 'state', value: ({ state }) => state, style: ({ state }) => STATE_STYLES[state] },
  field('created_at'),
  field('retired_at'),
  field('revoked_at'),
];

/** Adds the noun and its verbs. */
export function addTokens(program: Command, io: Io): void {
  const tokens = program
    .command('tokens')
    .summary('login tokens')
    .description('The login tokens that people are issued, by the keys that sign them.');

  tokens
    .command('list-keys')
    .description('List the signing keys, without their secrets. There is none before the first token.')
    .action(
      act(io, async ({ client, out }) => {
        const list = await client().tokens.listKeys();
        out.list(list.items, COLUMNS, list);
      }),
    );

  tokens
    .command('rotate')
    .description('Sign with a new key from now on. Tokens issued before stay good until they expire.')
    .action(
      act(io, async ({ client, out }) => {
        const key = await client().tokens.rotate();
        out.record(key, COLUMNS, key);
      }),
    );

  tokens
    .command('revoke-all')
    .description('Refuse every login token issued before now. Asks first. API keys are not touched.')
    .action(act(io, revokeAll));
}

async function revokeAll(context: Context): Promise<void> {
  const client = context.client();
  await confirm(context, async () => 'Refuse every login token issued before now?');
  const key = await client.tokens.revokeAll();
  context.out.record(key, COLUMNS, key);
}
