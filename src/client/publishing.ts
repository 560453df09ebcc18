// The client's verbs on publish pages, their versions and their shares.
import type { ListWire, pageQuery } from '../wire/listing.ts';
import type {
  NewPageWire,
  NewVersionWire,
  ownedPageQuery,
  OwnedPageWire,
  OwnedVersionWire,
  PageChangeWire,
} from '../wire/publishing/page.ts';
import type { shareQuery, ShareWire } from '../wire/publishing/share.ts';
import { type CallManagement, LISTED_BY_NAME, onlyOne, type References } from './references.ts';
import { ClientError, refusalStatusOf } from './transport/client-error.ts';
import { type Query, queryOf } from './transport/query.ts';

/** A page is named by its key or by its name. */
export interface Publishes {
  list(query: Query<typeof ownedPageQuery>): Promise<ListWire<OwnedPageWire>>;
  get(ref: string): Promise<OwnedPageWire>;
  create(input: NewPageWire): Promise<OwnedPageWire>;
  change(ref: string, fields: PageChangeWire): Promise<OwnedPageWire>;
  /** Deletes it with all its versions. */
  remove(ref: string): Promise<{ readonly publish_key: string }>;
  listVersions(ref: string, page: Query<typeof pageQuery>): Promise<ListWire<OwnedVersionWire>>;
  /** Makes the next version. */
  release(ref: string, input: NewVersionWire): Promise<OwnedVersionWire>;
}

export interface Shares {
  list(query: Query<typeof shareQuery>): Promise<ListWire<ShareWire>>;
  get(code: string): Promise<ShareWire>;
  /** Sets when it ends, in ISO 8601; null for never. */
  setEnd(code: string, expiresAt: string | null): Promise<ShareWire>;
  /** Withdraws it for good. */
  withdraw(code: string): Promise<ShareWire>;
}

/** Copying a large workspace's rows and waiting for its last run to be collected takes longer than other calls. */
const PUBLISH_TIMEOUT_MS = 120_000;

/** The form of a publish key (F8); a name can have it, too. */
const KEY = /^[0-9A-Za-z]{16}$/;

export function makePublishes(call: CallManagement, { whole }: References): Publishes {
  const list: Publishes['list'] = (query) => call('GET', `/publishes${queryOf(query)}`);

  async function get(ref: string): Promise<OwnedPageWire> {
    if (KEY.test(ref)) {
      try {
        return await call('GET', `/publishes/${ref}`);
      } catch (error) {
        if (refusalStatusOf(error) !== 404) throw error;
      }
    }
    const named = await list({ name: ref, limit: LISTED_BY_NAME });
    const things = { noun: 'pages', key: 'key', name: ref };
    const page = onlyOne(named, things, (one) => `${one.publish_key} (${one.owner.account})`);
    if (page === undefined) throw new ClientError({ kind: 'refused', status: 404 }, `There is no page ${ref}.`);
    return page;
  }

  const at = async (ref: string) => `/publishes/${(await get(ref)).publish_key}`;
  return {
    list,
    get,
    create: async ({ session_id: session, ...input }) =>
      call(
        'POST',
        '/publishes',
        { ...input, ...(session != null && { session_id: await whole('sessions', session) }) },
        PUBLISH_TIMEOUT_MS,
      ),
    change: async (ref, fields) => call('PATCH', await at(ref), fields),
    remove: async (ref) => call('DELETE', await at(ref)),
    listVersions: async (ref, page) => call('GET', `${await at(ref)}/versions${queryOf(page)}`),
    release: async (ref, input) => call('POST', `${await at(ref)}/versions`, input, PUBLISH_TIMEOUT_MS),
  };
}

export function makeShares(call: CallManagement): Shares {
  const at = (code: string) => `/shares/${encodeURIComponent(code)}`;
  return {
    list: (query) => call('GET', `/shares${queryOf(query)}`),
    get: (code) => call('GET', at(code)),
    setEnd: (code, expiresAt) => call('PATCH', at(code), { expires_at: expiresAt }),
    withdraw: (code) => call('DELETE', at(code)),
  };
}
