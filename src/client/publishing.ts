// The client's verbs on publish pages, their versions and their shares.
import { PAGE_KEY } from '../wire/publishing/names.ts';
import { type OwnedPageWire, publishes } from '../wire/publishing/page.ts';
import { shares, type ShareWire } from '../wire/publishing/share.ts';
import { type CallManagement, LISTED_BY_NAME, onlyOne } from './references.ts';
import { ClientError, refusalStatusOf } from './transport/client-error.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

/** A page is named by its key or by its name. */
export type Publishes = Verbs<typeof publishes>;

export interface Shares extends Omit<Verbs<typeof shares>, 'change'> {
  /** Sets when it ends, in ISO 8601; null for never. */
  setEnd(code: string, expiresAt: string | null): Promise<ShareWire>;
}

export function makePublishes(call: CallManagement, complete: Complete): Publishes {
  const verbs = verbsOf(publishes, call, complete);

  async function get(ref: string): Promise<OwnedPageWire> {
    if (PAGE_KEY.test(ref)) {
      try {
        return await verbs.get(ref);
      } catch (error) {
        if (refusalStatusOf(error) !== 404) throw error;
      }
    }
    const named = await verbs.list({ name: ref, limit: LISTED_BY_NAME });
    const things = { noun: 'pages', key: 'key', name: ref };
    const page = onlyOne(named, things, (one) => `${one.publish_key} (${one.owner.account})`);
    if (page === undefined) throw new ClientError({ kind: 'refused', status: 404 }, `There is no page ${ref}.`);
    return page;
  }

  const keyOf = async (ref: string) => (await get(ref)).publish_key;
  return {
    ...verbs,
    get,
    change: async (ref, fields) => verbs.change(await keyOf(ref), fields),
    remove: async (ref) => verbs.remove(await keyOf(ref)),
    listVersions: async (ref, page) => verbs.listVersions(await keyOf(ref), page),
    release: async (ref, input) => verbs.release(await keyOf(ref), input),
  };
}

export function makeShares(call: CallManagement, complete: Complete): Shares {
  const verbs = verbsOf(shares, call, complete);
  return { ...verbs, setEnd: async (code, expiresAt) => verbs.change(code, { expires_at: expiresAt }) };
}
