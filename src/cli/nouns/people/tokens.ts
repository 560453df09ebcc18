// `errand tokens`: the keys that sign login tokens, and the revocation of all tokens.
import type { Command } from 'commander';
import type { SigningKeyWire } from '../../../wire/people/token.ts';
import { act, type Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, field, state } from '../../../terminal/columns.ts';
import { confirm } from '../../frame/standard-input.ts';

const COLUMNS: readonly Column<SigningKeyWire>[] = [
  field('id', 9),
  state('state', (key) => key.state, 8),
  field('created_at', 7),
  field('retired_at', 4),
  field('revoked_at', 6),
];

/** Adds the noun and its verbs. */
export function addTokens(program: Command, io: Io): void {
  const tokens = program
    .command('tokens')
    .summary('login tokens')
    .description('Login tokens, and the keys that sign them.');

  tokens
    .command('list-keys')
    .description('List the signing keys, without their secrets. The first token creates the first key.')
    .action(
      act(io, async ({ client, out }) => {
        const list = await client().tokens.listKeys();
        out.list(list.items, COLUMNS, list);
      }),
    );

  tokens
    .command('rotate')
    .description('Sign with a new key from now on. Existing tokens stay valid until they expire.')
    .action(
      act(io, async ({ client, out }) => {
        const key = await client().tokens.rotate();
        out.record(key, COLUMNS, key);
      }),
    );

  tokens
    .command('revoke-all')
    .description('Invalidate every existing login token. Asks first. API keys stay valid.')
    .action(act(io, revokeAll));
}

async function revokeAll(context: Context): Promise<void> {
  const client = context.client();
  await confirm(context, async () => 'Invalidate every existing login token?');
  const key = await client.tokens.revokeAll();
  context.out.record(key, COLUMNS, key);
}
