import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readHeadersFile } from '../../../src/telemetry/traces/headers-file.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const read = (content: string, reference = 'headers') => {
  const configDir = temporaryDirectory({ headers: content });
  return readHeadersFile(reference, { configDir, credentialsDirectory: configDir });
};

test('a line for each header, by a path or the name of a credential', () => {
  expect(read('Authorization: Bearer abc\n\nX-Scope-OrgID:  tenant 1 \r\n')).toEqual({
    authorization: 'Bearer abc',
    'x-scope-orgid': 'tenant 1',
  });
  expect(read('a: b', 'credential:headers')).toEqual({ a: 'b' });
  expect(read('', '')).toEqual({});
});

test.each(['Bearer abc', 'Host: elsewhere', 'content-type: text/plain', 'a b: c', 'a: ü'])('%s is refused', (line) => {
  expect(() => read(`x: y\n${line}\n`)).toThrow('must contain lines such as');
});

test('a file that is not there is named', () => {
  expect(() => read('x: y', join('gone', 'headers'))).toThrow(
    'traces.headers_file refers to a file that does not exist',
  );
});
