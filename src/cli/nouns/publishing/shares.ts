// `errand shares`: the addresses at which versions of pages are read, how long they are valid, and their withdrawal.
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { isoTime } from '../../../domain/clock.ts';
import { parseDuration } from '../../../terminal/durations.ts';
import type { ShareWire } from '../../../wire/publishing/share.ts';
import { ROW_LIMIT, ROW_OFFSET } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { confirm } from '../../frame/standard-input.ts';
import { SHARE, SHARES } from './columns.ts';
import { keyInAddress } from './page-options.ts';

const CODE = new Argument('<share>', 'its code or its address').argParser(keyInAddress);
const NEVER = 'never';

/** Adds the noun and its verbs. */
export function addShares(program: Command, io: Io): void {
  const shares = program
    .command('shares')
    .summary('addresses of published pages')
    .description('The addresses at which everybody reads a version of a page.');

  shares
    .command('list')
    .description('List shares, the newest first.')
    .option('--page <page>', 'only those of this page, by key, name or address', keyInAddress)
    .addOption(ROW_LIMIT)
    .addOption(ROW_OFFSET)
    .action(act(io, list));

  shares
    .command('show')
    .addArgument(CODE)
    .description('Show one share.')
    .action(act(io, async (context, code: string) => show(context, await context.client().shares.get(code))));

  shares
    .command('set')
    .addArgument(CODE)
    .description('Set how long a share is valid.')
    .requiredOption('--expires <when>', 'how long from now, such as 30d, or "never"', (text) => endIn(text, io))
    .action(
      act(io, async (context, code: string, { expires }: { readonly expires: string }) =>
        show(context, await context.client().shares.setEnd(code, expires === NEVER ? null : expires)),
      ),
    );

  shares
    .command('revoke')
    .addArgument(CODE)
    .description('Withdraw a share permanently, with the files that only it has. Asks first.')
    .action(act(io, revoke));
}

/** The end of a share in ISO 8601, or `never`. */
function endIn(text: string, { now }: Pick<Io, 'now'>): string {
  if (text === NEVER) return NEVER;
  const seconds = parseDuration(text);
  if (seconds === undefined) throw new InvalidArgumentError('It must be a duration such as 12h or 30d, or "never".');
  return isoTime(now() + seconds * 1_000);
}

interface ListOptions {
  readonly page?: string;
  readonly limit?: number;
  readonly offset?: number;
}

async function list({ client, out }: Context, { page, limit, offset }: ListOptions): Promise<void> {
  const { publishes, shares } = client();
  const key = page === undefined ? undefined : (await publishes.get(page)).publish_key;
  const found = await shares.list({ publish_key: key, limit, offset });
  out.page(found, SHARES, 'shares');
}

function show({ out }: Context, share: ShareWire): void {
  out.record(share, SHARE, share);
}

async function revoke(context: Context, code: string): Promise<void> {
  const { shares } = context.client();
  await confirm(context, async () => {
    const { name, version_no: no } = await shares.get(code);
    return `Withdraw version ${no} of "${name}" for good?`;
  });
  show(context, await shares.withdraw(code));
}
