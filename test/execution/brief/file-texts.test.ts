// Texts of documents that agents go through line by line: each version of a file is read once.
import { expect, test } from 'vitest';
import type { DocumentText } from '../../../src/agent/port/services.ts';
import { makeHalt } from '../../../src/domain/halt.ts';
import { makeDocumentTurns } from '../../../src/execution/brief/document-turns.ts';
import { makeFileTexts } from '../../../src/execution/brief/file-texts.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

const RUN = { sessionSeq: 1, runSeq: 1, attempt: 1, runId: 'r', sessionId: 's', userSeq: 1, off: makeHalt() };

function fixture(answers: readonly (DocumentText | null)[] = []) {
  const waiting = [...answers];
  let readings = 0;
  const reader = {
    read: async () => {
      readings += 1;
      return waiting.length > 0 ? waiting.shift()! : { text: `reading ${readings}` };
    },
  };
  const texts = makeFileTexts(makeDocumentTurns(reader, fakeClock()));
  return (path: string, version = '1', root = '/w') => texts(RUN, { root, path, version });
}

test('a file is read once for each of its versions, and one of the same name elsewhere by itself', async () => {
  const read = fixture();
  expect(await read('a.pdf')).toEqual({ text: 'reading 1' });
  expect(await read('a.pdf')).toEqual({ text: 'reading 1' });
  expect(await read('a.pdf', '2')).toEqual({ text: 'reading 2' });
  expect(await read('a.pdf', '2', '/other')).toEqual({ text: 'reading 3' });
});

test('what could not be read now is requested again; that a file has no text is remembered', async () => {
  const read = fixture([null, { fault: 'contains no text' }]);
  expect(await read('a.pdf')).toBeNull();
  expect(await read('a.pdf')).toEqual({ fault: 'contains no text' });
  expect(await read('a.pdf')).toEqual({ fault: 'contains no text' });
});

test('only the texts asked for last are remembered', async () => {
  const read = fixture();
  await read('first');
  for (let other = 0; other < 15; other += 1) await read(`other ${other}`);
  expect(await read('first')).toEqual({ text: 'reading 1' });
  for (let other = 15; other < 31; other += 1) await read(`other ${other}`);
  expect(await read('first')).toEqual({ text: 'reading 33' });
});
