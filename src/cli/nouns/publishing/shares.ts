// `errand shares`: the addresses at which versions of pages are read, how long they are valid, and their withdrawal.
import { type Command, InvalidArgumentError } from 'commander';
import { isoTime } from '../../../domain/clock.ts';
import { parseDuration } from '../../../terminal/durations.ts';
import type { ShareWire } from '../../../wire/publishing/share.ts';
import type { Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { PART } from '../../frame/list-options.ts';
import { addNoun, showing } from '../../frame/noun.ts';
import { option, required } from '../../frame/options.ts';
import { confirm } from '../../frame/standard-input.ts';
import { SHARE, SHARES } from './columns.ts';
import { keyInAddress } from './page-options.ts';

const NEVER = 'never';

const FILTERS = {
  page: option('--page <page>', 'only those of this page, by key, name or address', keyInAddress),
  ...PART,
};
const show = showing(SHARE);

/** Adds the noun and its verbs. */
export function addShares(program: Command, io: Io): void {
  const shares = addNoun<ShareWire, string>(program, io, {
    name: 'shares',
    summary: 'addresses of published pages',
    description: 'The addresses at which everybody reads a version of a page.',
    one: { name: '<share>', help: 'its code or its address', parse: keyInAddress },
    show,
    plural: 'shares',
  });

  shares.list('List shares, the newest first.', FILTERS, SHARES, async ({ publishes, shares }, { page, ...part }) => {
    const key = page === undefined ? undefined : (await publishes.get(page)).publish_key;
    return shares.list({ publish_key: key, ...part });
  });
  shares.show('Show one share.', (client, code) => client.shares.get(code));
  const when = 'how long from now, such as 30d, or "never"';
  const expires = required(option('--expires <when>', when, (text: string) => endIn(text, io)));
  shares.set('Set how long a share is valid.', { expires }, ({ shares }, code, { expires }) =>
    shares.setEnd(code, expires === NEVER ? null : expires),
  );
  shares.on('revoke', 'Withdraw a share permanently, with the files that only it has. Asks first.', {}, revoke);
}

/** The end of a share in ISO 8601, or `never`. */
function endIn(text: string, { now }: Pick<Io, 'now'>): string {
  if (text === NEVER) return NEVER;
  const seconds = parseDuration(text);
  if (seconds === undefined) throw new InvalidArgumentError('It must be a duration such as 12h or 30d, or "never".');
  return isoTime(now() + seconds * 1_000);
}

async function revoke(context: Context, code: string): Promise<void> {
  const { shares } = context.client();
  await confirm(context, async () => {
    const { name, version_no: no } = await shares.get(code);
    return `Withdraw version ${no} of "${name}" for good?`;
  });
  show(context, await shares.withdraw(code));
}
