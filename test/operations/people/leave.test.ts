// Two requests that settle a user at two daemons: what one has listed, the other one has given to an heir meanwhile.
import { expect, test } from 'vitest';
import { makeLeaveOperations } from '../../../src/operations/people/leave.ts';
import type { SettledKind } from '../../../src/domain/people/holding.ts';
import { OPERATOR } from '../../support/http/callers.ts';
import { auditOf } from '../../support/store/audit.ts';
import { publishFixture } from '../../support/store/publishing.ts';
import { aTask } from '../../support/store/schedules.ts';

/** A user with a task and a page, two heirs, and a request that has listed what there is of a kind when all is given to the first heir. */
async function leaving(kind: SettledKind = 'scheduled_task') {
  const { store, ...fixture } = await publishFixture();
  const person = (username: string) => store.users.create({ ...fixture.user, username, passwordHash: 'x' });
  const [ada, ben, cleo] = [await person('ada'), await person('ben'), await person('cleo')];
  const { id: taskId } = await store.schedules.create(aTask(ada.seq));
  const page = await fixture.publish(await fixture.workspace());
  for (const table of ['publish_pages', 'publish_versions'])
    fixture.change(`UPDATE ${table} SET user_seq = ${ada.seq}`);
  const stopper = { stopDisabled: async () => undefined, deleteSession: async () => undefined } as never;
  const parts = { audit: auditOf({ store }), stopper, happened: () => undefined };
  const first = makeLeaveOperations({ ...parts, store });
  let isFirst = true;
  const holdings: typeof store.holdings = {
    ...store.holdings,
    list: async (...asked) => {
      const things = await store.holdings.list(...asked);
      if (asked[0] === kind && isFirst) {
        isFirst = false;
        await first.leaveUser(OPERATOR, 'ada', { heir: 'ben', deletes: false });
      }
      return things;
    },
  };
  const second = makeLeaveOperations({ ...parts, store: { ...store, holdings } });
  const owners = async () => ({
    scheduled_task: (await store.schedules.find(taskId))?.userSeq,
    page: (await fixture.page(page.key))?.userSeq,
  });
  const versions = () => fixture.rows<{ user_seq: number }>('SELECT user_seq FROM publish_versions');
  return { store, second, ben, cleo, owners, versions };
}

const REQUESTS = [
  ['delete it', { heir: null, deletes: true }],
  ['give it to somebody else', { heir: 'cleo', deletes: false }],
] as const;

test.each(
  REQUESTS.flatMap(([does, request]) =>
    (['scheduled_task', 'page'] as const).map((kind) => ({ does, request, kind, name: kind.replace('_', ' ') })),
  ),
)('a $name that an heir has got stays theirs when another request is about to $does', async ({ request, kind }) => {
  const { second, ben, owners, versions } = await leaving(kind);
  expect(await second.leaveUser(OPERATOR, 'ada', request)).toMatchObject({ isDone: true });
  expect((await owners())[kind]).toBe(ben.seq);
  expect(versions()).toEqual([{ user_seq: ben.seq }]);
});

test('versions of a page follow its owner, and nobody else', async () => {
  const { store, ben, cleo, second, versions } = await leaving();
  await second.leaveUser(OPERATOR, 'ada', { heir: 'ben', deletes: false });
  const { seq: ada } = await store.users.get('ada');
  await expect(store.pages.handOverVersions(1, { from: ada, to: cleo.seq })).rejects.toMatchObject({
    reason: 'not_found',
  });
  expect(versions()).toEqual([{ user_seq: ben.seq }]);
});
