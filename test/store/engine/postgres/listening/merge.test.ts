// Events of this process and of others: in order, each once, and nothing is read that is known.
import { describe, expect, test } from 'vitest';
import type { JournalEvent } from '../../../../../src/domain/sessions/journal-event.ts';
import { makeMerge } from '../../../../../src/store/engine/postgres/listening/merge.ts';

const event = (id: number) => ({ id, type: 'session.deleted' }) as JournalEvent;

/** A table of events with a reader that answers when it is told to. */
function aTable() {
  const ids: number[] = [];
  const published: number[] = [];
  const reads: ((found: readonly number[]) => void)[] = [];
  const merge = makeMerge({
    read: async (afterId) => {
      const found = await new Promise<readonly number[]>((resolve) => reads.push(resolve));
      return found.filter((id) => id > afterId).map(event);
    },
    publish: (events) => void published.push(...events.map(({ id }) => id)),
  });
  const commit = (...own: number[]) => {
    ids.push(...own);
    merge.own(own.map(event));
  };
  const answer = async (found = ids) => {
    reads.shift()!(found.slice());
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { ids, published, reads, merge, commit, answer };
}

describe('events of several processes', () => {
  test('those of a process that is alone are published at once, and nothing is read', () => {
    const { merge, commit, published, reads } = aTable();
    merge.begin(4);
    commit(5);
    commit(6, 7);
    expect(published).toEqual([5, 6, 7]);
    expect(reads).toEqual([]);
  });

  test('numbers that are missing are looked for before what is behind them', async () => {
    const { merge, commit, published, reads, ids, answer } = aTable();
    merge.begin(4);
    ids.push(5);
    commit(6);
    expect(published).toEqual([]);
    await answer();
    expect(published).toEqual([5, 6]);
    // Of a transaction that was undone.
    commit(9);
    await answer();
    commit(10);
    expect(published).toEqual([5, 6, 9, 10]);
    expect(reads).toEqual([]);
  });

  test('a look holds up nothing that is next, and its answer may be late', async () => {
    const { merge, commit, published, reads, ids, answer } = aTable();
    merge.begin(0);
    merge.look();
    commit(1, 2);
    expect(published).toEqual([1, 2]);
    ids.push(3);
    commit(4);
    expect(published).toEqual([1, 2]);
    // It was asked for before, and has found the first two only.
    await answer([1, 2]);
    await answer();
    expect(published).toEqual([1, 2, 3, 4]);
    commit(5);
    expect(published).toEqual([1, 2, 3, 4, 5]);
    expect(reads).toEqual([]);
  });

  test('events of this process that a look finds before the commit is answered are published once', async () => {
    const { merge, published, ids, answer } = aTable();
    merge.begin(0);
    ids.push(1, 2);
    merge.look();
    await answer();
    merge.own([event(1), event(2)]);
    expect(published).toEqual([1, 2]);
  });

  test('many are read page by page, and a look that fails is done again by the next one', async () => {
    const ids = Array.from({ length: 1_200 }, (_, at) => at + 1);
    const published: number[] = [];
    let isDown = true;
    const merge = makeMerge({
      read: async (afterId) => {
        if (isDown) throw new Error('away');
        return ids
          .filter((id) => id > afterId)
          .slice(0, 500)
          .map(event);
      },
      publish: (events) => void published.push(...events.map(({ id }) => id)),
    });
    merge.begin(0);
    merge.look();
    await merge.close();
    expect(published).toEqual([]);
    isDown = false;
    merge.look();
    await merge.close();
    expect(published).toEqual(ids);
  });
});
