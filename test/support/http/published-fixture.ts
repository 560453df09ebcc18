// The HTTP room over pages that are really published: a store, blobs, and all verbs on both.
import type { Settings } from '../../../src/domain/settings.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeAuditedAccess } from '../../../src/operations/audited-access.ts';
import { makePublicPages } from '../../../src/operations/publishing/public-pages.ts';
import { makePublishingOperations } from '../../../src/operations/publishing/publishing.ts';
import type { NewPage } from '../../../src/store/publishing/versions.ts';
import { auditOf } from '../store/audit.ts';
import { publishFixture } from '../store/publishing.ts';
import { type Fixture, loggedLines, openFixture, type Sent, send } from './http-fixture.ts';

type Files = Readonly<Record<string, string | Buffer>>;

/** Starts it. Times are those of the store's clock. */
export async function publishedFixture(settings: Partial<Settings> = {}) {
  const published = await publishFixture();
  const { store, blobs, clock } = published;
  const logged = loggedLines();
  const publicPages = makePublicPages({ store, blobs, clock, log: logged.log });
  const [access, audit] = [makeAccess(store), auditOf({ store, log: logged.log })];
  const management = makePublishingOperations({
    store,
    access,
    auditedAccess: makeAuditedAccess({ access, audit }),
    audit,
    publishing: { versions: published.versions },
    clock,
    happened: () => undefined,
  });
  const fixture: Fixture = await openFixture({
    operations: { publicPages, ...management },
    settings,
    logged,
    parts: { clock },
  });

  async function put(files: Files) {
    const hold = blobs.hold();
    const rows = [];
    for (const [path, content] of Object.entries(files)) {
      const bytes = Buffer.from(content);
      rows.push({ path, size: bytes.length, sha256: await hold.put(bytes) });
    }
    return rows;
  }

  return {
    ...published,
    fixture,
    lines: logged.lines,
    /** A session whose last run has left these files. */
    session: async (files: Files) => (await published.workspace(await put(files))).sessionId,
    /** Publishes a page of these files. */
    site: async (files: Files, over: Partial<NewPage> = {}) => {
      const run = await published.workspace(await put(files));
      const [entryPath = '/index.html'] = Object.keys(files);
      const made = await published.publish(run, { entryPath, ...over });
      return { ...made, run, base: `/api/v1/public/shares/${made.shareCode}` };
    },
    send: async (path: string, request: Omit<Sent, 'path'> = {}) => send(fixture, { path, ...request }),
    /** The data of an envelope. */
    data: async (path: string) => (await send(fixture, { path })).json as { code: number; data: never },
  };
}
