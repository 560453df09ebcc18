// Small blobs as rows: there as soon as what lists them is, and until nothing lists them.
import { beforeEach, describe, expect, test } from 'vitest';
import { attachmentOf, contentsOf, keyOf } from '../../support/store/small-contents.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

let fixture: StoreFixture;
let made = 0;

beforeEach(async () => {
  fixture = await storeFixture();
});

const free = () => false;
const rows = () => fixture.store.smallBlobs;

async function attach(...contents: readonly (string | Buffer)[]) {
  const attachments = contents.map((content) => attachmentOf(content, `a${(made += 1)}`));
  return fixture.accept({ attachments, contents: contentsOf(...contents) });
}

async function erase({ sessionSeq }: { readonly sessionSeq: number }): Promise<void> {
  const { sessions, erasures } = fixture.store;
  await sessions.deleteSession(sessionSeq);
  for (let after: number | null = 0; after !== null; ) after = await erasures.eraseRuns(sessionSeq, after);
  while (await erasures.eraseSession(sessionSeq));
  while ((await erasures.finishCleanup(sessionSeq)) !== null);
}

test('bytes are stored with the row that lists them, once for each content, and without it they are not', async () => {
  const bytes = Buffer.from([0, 255, 10, 0, 92]);
  await attach(bytes, 'a tide table', bytes);
  await attach('a tide table');
  expect(await rows().find(keyOf(bytes))).toEqual(bytes);
  const keys = [keyOf(bytes), keyOf('a tide table')];
  expect(await rows().findSome([...keys, keyOf('no such')])).toEqual(contentsOf(bytes, 'a tide table'));
  expect(await rows().find(keyOf('no such'))).toBeUndefined();
  expect(await rows().listUses('', 9)).toEqual(
    keys.toSorted().map((key) => ({ key, size: key === keys[0] ? 5 : 12, isUsed: true })),
  );
  // A turn that is refused has listed nothing.
  const refused = { sessionId: 'none', attachments: [attachmentOf('refused', 'r')], contents: contentsOf('refused') };
  await expect(fixture.accept(refused)).rejects.toThrow('session_gone');
  expect(await rows().find(keyOf('refused'))).toBeUndefined();
});

test('an attachment that is named once more is accepted while a row lists its bytes', { tags: ['L7'] }, async () => {
  const first = await attach('wanted');
  const again = () => ({ ...attachmentOf('wanted', `a${(made += 1)}`), isReused: true as const });
  const second = await fixture.accept({ attachments: [again()] });
  await erase(first);
  await erase(second);
  await expect(fixture.accept({ attachments: [again()] })).rejects.toMatchObject({ reason: 'not_found' });
  expect(await rows().listUses('', 9)).toMatchObject([{ key: keyOf('wanted'), isUsed: false }]);
});

describe('a removal', () => {
  test('leaves what a row lists, and what someone holds', async () => {
    const key = keyOf('wanted');
    const first = await attach('wanted');
    expect(await rows().remove(key, free)).toBe(true);
    expect(await rows().find(key)).toBeDefined();
    const second = await attach('wanted');
    await erase(first);
    expect(await rows().remove(key, free)).toBe(true);
    expect(await rows().find(key)).toBeDefined();
    await erase(second);
    expect(await rows().listUses('', 9)).toEqual([{ key, size: 6, isUsed: false }]);
    expect(await rows().remove(key, () => true)).toBe(false);
    expect(await rows().find(key)).toBeDefined();
    expect(await rows().remove(key, free)).toBe(true);
    expect(await rows().find(key)).toBeUndefined();
  });

  test('beside a new reference leaves no row without its bytes, whichever comes first', async () => {
    for (let round = 0; round < 20; round += 1) {
      const content = `round ${round}`;
      await erase(await attach(content));
      const [remove, list] = [() => rows().remove(keyOf(content), free), () => attach(content)];
      await Promise.all(round % 2 === 0 ? [remove(), list(), remove()] : [list(), remove()]);
      expect((await rows().find(keyOf(content)))?.toString()).toBe(content);
    }
  });
});

test('portions follow one another by key', async () => {
  const contents = Array.from({ length: 130 }, (_, at) => `content ${at}`);
  for (let at = 0; at < contents.length; at += 13) await attach(...contents.slice(at, at + 13));
  const keys = contents.map((content) => keyOf(content)).toSorted();
  const first = await rows().listUses('', 100);
  expect(first.map(({ key }) => key)).toEqual(keys.slice(0, 100));
  expect((await rows().listUses(first.at(-1)!.key, 100)).map(({ key }) => key)).toEqual(keys.slice(100));
  expect((await rows().findSome(keys)).size).toBe(130);
});
