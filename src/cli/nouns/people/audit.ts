// `errand audit`: what administrators read of others and changed, followed and verified.
import { type Command, InvalidArgumentError } from 'commander';
import type { AuditQuery, NotedHash } from '../../../client/audit.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../../domain/people/audit.ts';
import { safeLine } from '../../../terminal/text.ts';
import type { AuditEntryWire } from '../../../wire/people/audit.ts';
import { notEmpty, pastTime } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { LIMIT } from '../../frame/list-options.ts';
import type { OptionsFor } from '../../frame/noun.ts';
import { choice, type Given, option, perform } from '../../frame/options.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';

const COLUMNS: readonly Column<AuditEntryWire>[] = [
  column('entry', ({ id }) => id, 8),
  field('at', 7),
  column('username', ({ actor }) => actor.username, 9),
  column('via', ({ actor }) => actor.via, 3),
  field('action', 9),
  field('target_type', 2),
  field('target_id', 6),
  field('session_id', 5),
  field('address', 4),
  column('key_id', ({ actor }) => actor.key_id, 1),
  column('user_id', ({ actor }) => actor.user_id, 0),
  field('request_id', 0),
  field('hash', 0),
];

/** Entries that `tail` begins with. */
const BEGINS_WITH = 10;

/** Which entries; times are relative to the clock of this machine. */
const filtersOf = (io: Io) =>
  ({
    actor: option(
      '--actor <user>',
      'only those of this user, by name or id; "operator" for the control socket',
      notEmpty,
    ),
    action: choice('--action <action>', 'only those of this action', Object.keys(AUDIT_ACTIONS) as AuditAction[]),
    target: option('--target <id>', 'only those about this id', notEmpty),
    session: option('--session <id>', 'only those about this session, by its id or the start of it', notEmpty),
    from: option('--from <time>', 'only those since this time: a date, a time, or how long ago, such as 24h', (text) =>
      pastTime(text, io),
    ),
  }) satisfies OptionsFor<'audit', 'list'>;
type Filters = Given<ReturnType<typeof filtersOf>>;

/** Adds the noun and its verbs. */
export function addAudit(program: Command, io: Io): void {
  const audit = program
    .command('audit')
    .summary('what administrators did')
    .description("What administrators read of others' conversations, and what they changed. Never any content.");

  const filters = filtersOf(io);
  const to = option('--to <time>', 'only those before this time', (text) => pastTime(text, io));
  perform(audit.command('list'), io, { ...filters, to, ...LIMIT }, list).description('List entries, the newest first.');
  perform(audit.command('tail'), io, filters, tail)
    .description('Show the last entries, and follow new ones until Ctrl-C.')
    .addHelpText('after', '\nWith "-o json", every entry is a JSON document on a line of its own.');
  perform(audit.command('verify'), io, EXPECT, verify)
    .description('Verify the chain of hashes, entry by entry, and its anchor. Exits with 8 and says what is broken.')
    .addHelpText('after', VERIFY_HELP);
}

const VERIFY_HELP = `
The log is also compared with its anchor, the file audit-anchor.json beside the database, so that an
emptied log or an older copy of the database is noticed. Whoever has the master key, or puts back an
older copy of the whole data directory, can get around that. To notice it, keep the last hash that
this prints on another machine, and pass it to --expect the next time.`;

function notedHash(text: string): NotedHash {
  const [, id, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (id === undefined || hash === undefined)
    throw new InvalidArgumentError('It must be the number of an entry, a colon, and its hash.');
  return { id: Number(id), hash };
}

const EXPECT = {
  expect: option('--expect <entry:hash>', 'also compare one entry with a hash that you noted', notedHash),
};

async function list({ client, out }: Context, query: AuditQuery): Promise<void> {
  const found = await client().audit.list(query);
  out.page(found, COLUMNS, 'entries');
}

async function tail({ client, out, signal }: Context, filters: Filters): Promise<void> {
  const { audit } = client();
  const print = (entry: AuditEntryWire) =>
    out.text(out.format === 'json' ? `${JSON.stringify(entry)}\n` : `${lineOf(entry)}\n`);
  const { items } = await audit.list({ ...filters, limit: BEGINS_WITH });
  for (const entry of items.toReversed()) print(entry);
  const options = { signal, onLost: () => out.hint('The daemon does not answer; trying again.') };
  for await (const entry of audit.follow(filters, items[0]?.id ?? 0, options)) print(entry);
}

function lineOf({ id, at, actor, action, target_id: target, session_id: session, address }: AuditEntryWire): string {
  const from = actor.via === 'socket' ? 'socket' : `${actor.via}, ${address}`;
  const inSession = session === null || session === target ? '' : ` in session ${session}`;
  return safeLine(`${at} ${id} ${actor.username} (${from}) ${action} ${target}${inSession}`);
}

async function verify({ client, out }: Context, { expect }: Given<typeof EXPECT>): Promise<void> {
  const { entries, lastId, lastHash, removedUntil, broken } = await client().audit.verify(expect);
  const facts = { entries, last_hash: lastHash, removed_until: removedUntil };
  const document = { ok: broken === null, ...facts, broken_id: broken?.id ?? null };
  if (out.format === 'json') out.json({ ...document, reason: broken?.reason ?? null });
  if (broken !== null) throw new CommandError('checkFailed', out.format === 'json' ? '' : broken.reason);
  if (out.format === 'json') return;
  const end = lastHash === null ? '' : ` The last is ${lastId}:${lastHash}`;
  const removed = removedUntil === 0 ? '' : ` Entries up to ${removedUntil} were removed by age.`;
  out.text(`The audit log is intact, with ${entries} ${entries === 1 ? 'entry' : 'entries'}.${removed}${end}\n`);
}
