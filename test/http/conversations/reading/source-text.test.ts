// Files that come as their text.
import { expect, test } from 'vitest';
import { readPlainUpload, type SourceText } from '../../../../src/http/conversations/reading/source-text.ts';

test('a character whose halves come in two pieces is one', { tags: ['M5-blocks'] }, async () => {
  const source: SourceText = {
    head: '',
    whole: null,
    from: async function* from() {
      yield 'a\ud83d';
      yield '\ude00b';
    },
  };
  const upload = await readPlainUpload(source, { path: 'data', maxBytes: 99 });
  const bytes = Buffer.concat(await Array.fromAsync(upload.pieces()));
  expect([bytes.toString(), upload.size]).toEqual(['a😀b', 6]);
});
